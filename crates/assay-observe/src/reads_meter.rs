//! What an engine's processes read, as two counts that never go backwards.

use crate::totals::{Grown, whole_sum};
use crate::tree::ProcessTree;
use crate::{ObserveError, ProcRoot};

/// Bytes that processes read since they began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    /// Asked of files and the like, wherever they came from: also what the page cache held.
    pub asked_bytes: Option<u64>,
    /// Fetched from storage.
    pub fetched_bytes: Option<u64>,
}

/// Reads the counts of processes and all their descendants. Of those that ended nothing is lost,
/// because the kernel adds their bytes to those of the parent that waited for them.
pub struct ReadsMeter {
    trees: Vec<ProcessTree>,
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
            ProcessTree::new(root.clone(), *pid)
        };
        let trees = pids.iter().map(tree).collect::<Result<_, _>>()?;
        Ok(Self { trees, asked: Grown::default(), fetched: Grown::default() })
    }

    /// What was read until now; a count is `None` where one of the processes does not tell it.
    ///
    /// # Errors
    /// If a file cannot be read, or not be understood.
    pub fn read(&mut self) -> Result<Reads, ObserveError> {
        for tree in &mut self.trees {
            tree.look()?;
        }
        let live: Vec<_> = self.trees.iter().flat_map(ProcessTree::samples).collect();
        if live.is_empty() {
            return Ok(Reads::default());
        }
        let asked = whole_sum(&live, |sample| sample.io.rchar_bytes);
        let fetched = whole_sum(&live, |sample| sample.io.read_bytes);
        Ok(Reads {
            asked_bytes: asked.map(|sum| self.asked.next(sum)),
            fetched_bytes: fetched.map(|sum| self.fetched.next(sum)),
        })
    }
}
