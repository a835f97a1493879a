//! What an engine's processes read, as two counts that never go backwards.

use crate::totals::{Grown, whole_sum};
use crate::tree::ProcessTree;
use crate::{ObserveError, ProcRoot};
use assay_kernel::file::{Buffer, ProcFile};
use assay_kernel::parse::Io;

/// Bytes that processes read since they began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    /// Asked of files and the like, wherever they came from: also what the page cache held.
    pub asked_bytes: Option<u64>,
    /// Fetched from storage.
    pub fetched_bytes: Option<u64>,
}

/// Reads the counts of processes and all their descendants. Of those that ended nothing is lost,
/// because the kernel adds their bytes to those of the parent that waited for them. Of our own process
/// the calling thread is left out: it reads nothing for an engine, and these very counts.
pub struct ReadsMeter {
    trees: Vec<ProcessTree>,
    own: Option<ProcFile>,
    buffer: Buffer,
    asked: Grown,
    fetched: Grown,
}

impl ReadsMeter {
    /// A meter of the processes `pids`, none of which descends from another.
    ///
    /// # Errors
    /// If one of them is not there.
    pub fn of(pids: &[u32]) -> Result<Self, ObserveError> {
        Self::new(&ProcRoot::default(), pids)
    }

    /// As `of`, with procfs at `root`.
    ///
    /// # Errors
    /// If one of them is not there.
    pub fn new(root: &ProcRoot, pids: &[u32]) -> Result<Self, ObserveError> {
        let tree = |pid: &u32| {
            let folder = root.process(*pid);
            folder.metadata().map_err(|error| ObserveError::io(&folder, error))?;
            Ok(ProcessTree::new(root.clone(), &[*pid]))
        };
        let trees = pids.iter().map(tree).collect::<Result<_, ObserveError>>()?;
        let is_own = pids.contains(&std::process::id()) && *root == ProcRoot::default();
        Ok(Self {
            trees,
            own: is_own.then(|| ProcFile::record(root.join("thread-self").join("io"))),
            buffer: Buffer::new(),
            asked: Grown::default(),
            fetched: Grown::default(),
        })
    }

    /// What was read until now, called by one thread only; a count is `None` where one of the processes does not tell it.
    ///
    /// # Errors
    /// If a file cannot be read, or not be understood.
    pub fn read(&mut self) -> Result<Reads, ObserveError> {
        for tree in &mut self.trees {
            tree.look()?;
        }
        let ours = self.ours()?;
        let live: Vec<_> = self.trees.iter().flat_map(ProcessTree::samples).collect();
        if live.is_empty() {
            return Ok(Reads::default());
        }
        let asked = whole_sum(&live, |sample| sample.io.rchar_bytes);
        let fetched = whole_sum(&live, |sample| sample.io.read_bytes);
        let without = |sum: u64, ours: Option<u64>| sum.saturating_sub(ours.unwrap_or(0));
        Ok(Reads {
            asked_bytes: asked.map(|sum| self.asked.next(without(sum, ours.rchar_bytes))),
            fetched_bytes: fetched.map(|sum| self.fetched.next(without(sum, ours.read_bytes))),
        })
    }

    fn ours(&mut self) -> Result<Io, ObserveError> {
        let Some(own) = &mut self.own else { return Ok(Io::default()) };
        let Some(text) = own.read(&mut self.buffer)? else { return Ok(Io::default()) };
        Ok(Io::parse(own.path(), text)?)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    const BYTES: usize = 3 << 20;

    fn read_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), vec![7_u8; BYTES]).unwrap();
        let mut opened = std::fs::File::open(file.path()).unwrap();
        assert_eq!(opened.read(&mut vec![0_u8; BYTES]).unwrap(), BYTES);
    }

    #[test]
    fn what_other_threads_ask_for_is_counted_and_what_the_caller_asks_for_is_not() {
        let mut meter = ReadsMeter::of(&[std::process::id()]).unwrap();
        let before = meter.read().unwrap().asked_bytes.unwrap();
        read_file();
        let own = meter.read().unwrap().asked_bytes.unwrap();
        // Tests beside this one read files, too, but not as large ones.
        assert!(own - before < (BYTES / 2) as u64, "{own} after {before}");
        std::thread::spawn(read_file).join().unwrap();
        let after = meter.read().unwrap().asked_bytes.unwrap();
        assert!(after - own >= BYTES as u64, "{after} after {own}");
    }

    #[test]
    fn a_process_that_is_not_there_is_an_error() {
        assert!(ReadsMeter::of(&[u32::MAX]).is_err());
    }
}
