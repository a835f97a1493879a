//! `/proc/meminfo`: what the host's memory is used for.

use std::path::Path;

use crate::KernelError;
use crate::text::fill;

/// Gauges of memory; `None` where the kernel did not print the line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the kernel's own words, explained in tables::SYSTEM")]
pub struct Memory {
    pub total_bytes: Option<u64>,
    pub free_bytes: Option<u64>,
    pub available_bytes: Option<u64>,
    pub buffers_bytes: Option<u64>,
    pub cached_bytes: Option<u64>,
    pub dirty_bytes: Option<u64>,
    pub writeback_bytes: Option<u64>,
    pub anon_bytes: Option<u64>,
    pub mapped_bytes: Option<u64>,
    pub shmem_bytes: Option<u64>,
    pub slab_bytes: Option<u64>,
    pub slab_reclaimable_bytes: Option<u64>,
    pub page_tables_bytes: Option<u64>,
    pub committed_bytes: Option<u64>,
    pub hugetlb_bytes: Option<u64>,
    pub swap_total_bytes: Option<u64>,
    pub swap_free_bytes: Option<u64>,
    pub swap_cached_bytes: Option<u64>,
}

impl Memory {
    /// Reads the text of `/proc/meminfo`.
    pub fn parse(path: &Path, text: &[u8]) -> Result<Self, KernelError> {
        fill(path, text, Self::slot)
    }

    fn slot<'a>(&'a mut self, key: &[u8]) -> Option<&'a mut Option<u64>> {
        Some(match key {
            b"MemTotal" => &mut self.total_bytes,
            b"MemFree" => &mut self.free_bytes,
            b"MemAvailable" => &mut self.available_bytes,
            b"Buffers" => &mut self.buffers_bytes,
            b"Cached" => &mut self.cached_bytes,
            b"Dirty" => &mut self.dirty_bytes,
            b"Writeback" => &mut self.writeback_bytes,
            b"AnonPages" => &mut self.anon_bytes,
            b"Mapped" => &mut self.mapped_bytes,
            b"Shmem" => &mut self.shmem_bytes,
            b"Slab" => &mut self.slab_bytes,
            b"SReclaimable" => &mut self.slab_reclaimable_bytes,
            b"PageTables" => &mut self.page_tables_bytes,
            b"Committed_AS" => &mut self.committed_bytes,
            b"Hugetlb" => &mut self.hugetlb_bytes,
            b"SwapTotal" => &mut self.swap_total_bytes,
            b"SwapFree" => &mut self.swap_free_bytes,
            b"SwapCached" => &mut self.swap_cached_bytes,
            _ => return None,
        })
    }
}
