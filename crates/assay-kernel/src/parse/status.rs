//! The `key: value` files of a process: `io`, `status`, `smaps_rollup`.

use std::path::Path;

use crate::KernelError;
use crate::text::fill;

/// `/proc/<pid>/io`: all tasks of the process, ended ones included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Io {
    /// Bytes asked for by `read` and its siblings, wherever they came from.
    pub rchar_bytes: Option<u64>,
    /// Bytes handed to `write` and its siblings, wherever they went.
    pub wchar_bytes: Option<u64>,
    /// Calls of `read` and its siblings.
    pub syscr: Option<u64>,
    /// Calls of `write` and its siblings.
    pub syscw: Option<u64>,
    /// Bytes fetched from storage.
    pub read_bytes: Option<u64>,
    /// Bytes caused to be written to storage, counted when the page cache is dirtied.
    pub write_bytes: Option<u64>,
    /// Bytes counted as written whose pages were thrown away before.
    pub cancelled_write_bytes: Option<u64>,
}

/// `/proc/<pid>/status`. Switches are of one task: the first, or the task whose file it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Resident memory (`VmRSS`).
    pub rss_bytes: Option<u64>,
    /// Highest resident memory since the start or the last reset (`VmHWM`).
    pub rss_peak_bytes: Option<u64>,
    /// Times the task gave the CPU up.
    pub voluntary_switches: Option<u64>,
    /// Times the task was taken off the CPU.
    pub involuntary_switches: Option<u64>,
}

/// `/proc/<pid>/smaps_rollup`. The kernel walks all page tables for it: milliseconds a gigabyte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SmapsRollup {
    /// Resident memory, shared pages divided among those who share them.
    pub pss_bytes: Option<u64>,
}

impl Io {
    /// Reads the text of one io file.
    pub fn parse(path: &Path, text: &[u8]) -> Result<Self, KernelError> {
        fill(path, text, Self::slot)
    }

    fn slot<'a>(&'a mut self, key: &[u8]) -> Option<&'a mut Option<u64>> {
        Some(match key {
            b"rchar" => &mut self.rchar_bytes,
            b"wchar" => &mut self.wchar_bytes,
            b"syscr" => &mut self.syscr,
            b"syscw" => &mut self.syscw,
            b"read_bytes" => &mut self.read_bytes,
            b"write_bytes" => &mut self.write_bytes,
            b"cancelled_write_bytes" => &mut self.cancelled_write_bytes,
            _ => return None,
        })
    }
}

impl Status {
    /// Reads the text of one status file.
    pub fn parse(path: &Path, text: &[u8]) -> Result<Self, KernelError> {
        fill(path, text, Self::slot)
    }

    fn slot<'a>(&'a mut self, key: &[u8]) -> Option<&'a mut Option<u64>> {
        Some(match key {
            b"VmRSS" => &mut self.rss_bytes,
            b"VmHWM" => &mut self.rss_peak_bytes,
            b"voluntary_ctxt_switches" => &mut self.voluntary_switches,
            b"nonvoluntary_ctxt_switches" => &mut self.involuntary_switches,
            _ => return None,
        })
    }
}

impl SmapsRollup {
    /// Reads the text of one `smaps_rollup` file.
    pub fn parse(path: &Path, text: &[u8]) -> Result<Self, KernelError> {
        fill(path, text, Self::slot)
    }

    fn slot<'a>(&'a mut self, key: &[u8]) -> Option<&'a mut Option<u64>> {
        (key == b"Pss").then_some(&mut self.pss_bytes)
    }
}
