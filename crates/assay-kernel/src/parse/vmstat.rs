//! `/proc/vmstat`: paging, reclaim and page faults of the whole host.

use std::path::Path;

use crate::KernelError;
use crate::text::{Line, fill};

/// The kernel prints `pgpgin` and `pgpgout` in KiB, although their names say pages.
const PAGING_UNIT_BYTES: u64 = 1024;

/// Counters since boot, except the gauges `nr_dirty_pages` and `nr_writeback_pages`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the kernel's own words, explained in tables::SYSTEM")]
pub struct VmStat {
    pub pgpgin_bytes: Option<u64>,
    pub pgpgout_bytes: Option<u64>,
    pub pswpin_pages: Option<u64>,
    pub pswpout_pages: Option<u64>,
    pub pgfault: Option<u64>,
    pub pgmajfault: Option<u64>,
    pub workingset_refault_file_pages: Option<u64>,
    pub workingset_refault_anon_pages: Option<u64>,
    pub nr_dirty_pages: Option<u64>,
    pub nr_writeback_pages: Option<u64>,
    pub nr_dirtied_pages: Option<u64>,
    pub nr_written_pages: Option<u64>,
    pub pgscan_kswapd_pages: Option<u64>,
    pub pgscan_direct_pages: Option<u64>,
    pub pgsteal_kswapd_pages: Option<u64>,
    pub pgsteal_direct_pages: Option<u64>,
    pub oom_kill: Option<u64>,
}

impl VmStat {
    /// Reads the text of `/proc/vmstat`.
    pub fn parse(path: &Path, text: &[u8]) -> Result<Self, KernelError> {
        let mut stat: Self = fill(path, text, Self::slot)?;
        for (field, value) in
            [("pgpgin", &mut stat.pgpgin_bytes), ("pgpgout", &mut stat.pgpgout_bytes)]
        {
            if let Some(count) = *value {
                let bytes = count.checked_mul(PAGING_UNIT_BYTES);
                let line = format!("{field} {count}");
                let line = Line { path, text: line.as_bytes() };
                *value = Some(bytes.ok_or_else(|| line.bad(field))?);
            }
        }
        Ok(stat)
    }

    fn slot<'a>(&'a mut self, key: &[u8]) -> Option<&'a mut Option<u64>> {
        Some(match key {
            b"pgpgin" => &mut self.pgpgin_bytes,
            b"pgpgout" => &mut self.pgpgout_bytes,
            b"pswpin" => &mut self.pswpin_pages,
            b"pswpout" => &mut self.pswpout_pages,
            b"pgfault" => &mut self.pgfault,
            b"pgmajfault" => &mut self.pgmajfault,
            b"workingset_refault_file" => &mut self.workingset_refault_file_pages,
            b"workingset_refault_anon" => &mut self.workingset_refault_anon_pages,
            b"nr_dirty" => &mut self.nr_dirty_pages,
            b"nr_writeback" => &mut self.nr_writeback_pages,
            b"nr_dirtied" => &mut self.nr_dirtied_pages,
            b"nr_written" => &mut self.nr_written_pages,
            b"pgscan_kswapd" => &mut self.pgscan_kswapd_pages,
            b"pgscan_direct" => &mut self.pgscan_direct_pages,
            b"pgsteal_kswapd" => &mut self.pgsteal_kswapd_pages,
            b"pgsteal_direct" => &mut self.pgsteal_direct_pages,
            b"oom_kill" => &mut self.oom_kill,
            _ => return None,
        })
    }
}
