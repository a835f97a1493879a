//! Proportional memory of processes: what they share is divided among them, so it can be added up.
//! The kernel walks all page tables for it, milliseconds a gigabyte, so it is read as seldom as its
//! own cost asks for.

use crate::{ObserveError, ProcRoot};
use assay_kernel::clock::monotonic_ns;
use assay_kernel::file::{Buffer, ProcFile};
use assay_kernel::parse::SmapsRollup;

/// Where the shortest reading took longer than this, one that is wanted waits until it is paid for, as all do.
const WANTED_NS_MAX: i64 = 100_000_000;

/// Reads proportional memory in at most one part in `parts` of the time.
pub(crate) struct Pss {
    root: ProcRoot,
    parts: i64,
    begun_ns: i64,
    due_ns: i64,
    /// The shortest reading: others waited for a CPU.
    least_ns: i64,
}

impl Pss {
    pub fn new(root: ProcRoot, parts: i64) -> Self {
        Self { root, parts, begun_ns: 0, due_ns: i64::MIN, least_ns: i64::MAX }
    }

    /// Whether the time since the last reading has paid for it. Begins one if so.
    pub fn begin(&mut self) -> bool {
        self.begun_ns = monotonic_ns();
        self.begun_ns >= self.due_ns
    }

    /// Of one process; `None`: it ended, or may not be asked.
    pub fn of(&self, pid: u32, buffer: &mut Buffer) -> Result<Option<u64>, ObserveError> {
        let mut file = ProcFile::record(self.root.process(pid).join("smaps_rollup"));
        let Some(text) = file.read(buffer)? else { return Ok(None) };
        Ok(SmapsRollup::parse(file.path(), text)?.pss_bytes)
    }

    /// Ends a reading, of however many processes it was.
    pub fn end(&mut self) {
        let now_ns = monotonic_ns();
        let cost_ns = now_ns.saturating_sub(self.begun_ns);
        self.least_ns = self.least_ns.min(cost_ns);
        self.due_ns = now_ns.saturating_add(cost_ns.saturating_mul(self.parts));
    }

    /// The sum over processes that tell, if it is due or wanted; `None` if none does.
    pub fn sum(
        &mut self,
        wanted: bool,
        pids: impl Iterator<Item = u32>,
        buffer: &mut Buffer,
    ) -> Result<Option<u64>, ObserveError> {
        let is_due = self.begin();
        if !(is_due || wanted && self.least_ns <= WANTED_NS_MAX) {
            return Ok(None);
        }
        let mut sum = None;
        for pid in pids {
            if let Some(bytes) = self.of(pid, buffer)? {
                sum = Some(sum.unwrap_or(0) + bytes);
            }
        }
        self.end();
        Ok(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pss_of_sizes(sizes_kib: &[(u32, u64)]) -> (tempfile::TempDir, Pss) {
        let folder = tempfile::tempdir().unwrap();
        for (pid, kib) in sizes_kib {
            let process = folder.path().join(pid.to_string());
            std::fs::create_dir(&process).unwrap();
            std::fs::write(process.join("smaps_rollup"), format!("Pss:  {kib} kB\n")).unwrap();
        }
        let pss = Pss::new(ProcRoot(folder.path().to_owned()), 1_000_000);
        (folder, pss)
    }

    #[test]
    fn processes_add_up_and_those_that_ended_are_left_out() {
        let (_folder, mut pss) = pss_of_sizes(&[(1, 3), (2, 4)]);
        let sum = pss.sum(false, [1, 2, 3].into_iter(), &mut Buffer::new()).unwrap();
        assert_eq!(sum, Some(7 * 1024));
    }

    #[test]
    fn nobody_tells() {
        let (_folder, mut pss) = pss_of_sizes(&[]);
        assert_eq!(pss.sum(true, [3].into_iter(), &mut Buffer::new()).unwrap(), None);
    }

    #[test]
    fn a_reading_has_to_be_paid_for_before_the_next() {
        let (_folder, mut pss) = pss_of_sizes(&[(1, 3)]);
        assert!(pss.sum(false, [1].into_iter(), &mut Buffer::new()).unwrap().is_some());
        assert_eq!(pss.sum(false, [1].into_iter(), &mut Buffer::new()).unwrap(), None);
    }

    #[test]
    fn one_that_is_wanted_is_taken_unless_the_last_was_too_costly() {
        let (_folder, mut pss) = pss_of_sizes(&[(1, 3)]);
        let wanted = |pss: &mut Pss| pss.sum(true, [1].into_iter(), &mut Buffer::new());
        assert!(wanted(&mut pss).unwrap().is_some());
        assert!(wanted(&mut pss).unwrap().is_some());
        pss.least_ns = WANTED_NS_MAX + 1;
        assert_eq!(wanted(&mut pss).unwrap(), None);
    }
}
