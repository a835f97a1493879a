//! Tells cheaply whether anything may have started: the kernel shows the number that it gave out last.

use crate::file::{Buffer, ProcFile};
use crate::text::{number, words};
use crate::{ObserveError, ProcRoot};

/// A number is given out a moment before its process can be seen, so all are listed this often, too.
const SCAN_INTERVAL_NS: i64 = 1_000_000_000;

/// Starts of processes and threads on this host, by their numbers.
pub(crate) struct Births {
    loadavg: ProcFile,
    newest_pid: Option<u64>,
    due_ns: i64,
}

impl Births {
    pub fn new(root: &ProcRoot) -> Self {
        let loadavg = ProcFile::record(root.join("loadavg"));
        Self { loadavg, newest_pid: None, due_ns: i64::MIN }
    }

    /// Makes the next question be answered with yes.
    pub fn expect(&mut self) {
        self.due_ns = i64::MIN;
    }

    /// Whether a process or thread may have started since this was asked last.
    pub fn any(&mut self, now_ns: i64, buffer: &mut Buffer) -> Result<bool, ObserveError> {
        // The last word of loadavg is the pid that was given out last.
        let newest =
            self.loadavg.read(buffer)?.and_then(|text| words(text).last()).and_then(number);
        let is_new = newest != self.newest_pid;
        self.newest_pid = newest;
        let is_due = is_new || now_ns >= self.due_ns;
        if is_due {
            self.due_ns = now_ns.saturating_add(SCAN_INTERVAL_NS);
        }
        Ok(is_due)
    }
}
