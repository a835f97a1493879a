//! Root processes and all their descendants, looked at as one.

use crate::descent::Descent;
use crate::followed::{Followed, ProcessSample, Reader};
use crate::tasks::TaskCounts;
use crate::{ObserveError, ProcRoot};
use assay_kernel::clock::monotonic_ns;

/// A process that ends during a look hands its counts to its parent, which was read before: the
/// look is taken again, this often at most.
const LOOKS_MAX: usize = 3;
/// Waited for: its parent may have its counts already.
const DEAD: char = 'X';

/// The live processes of some trees, and what its ended ones left behind.
pub(crate) struct ProcessTree {
    root: ProcRoot,
    /// In the order in which they were found, so that parents are mostly read before children:
    /// then one that ends in between is missing, which is noticed, and never counted twice.
    pub live: Vec<Followed>,
    /// Counters that the kernel keeps by task only, of ended processes as last seen.
    pub ended: TaskCounts,
    descent: Descent,
    reader: Reader,
}

impl ProcessTree {
    pub fn new(root: ProcRoot, root_pids: &[u32]) -> Self {
        let roots = root_pids.iter().map(|pid| Followed::new(&root, *pid, String::new()));
        Self {
            live: roots.collect(),
            ended: TaskCounts::default(),
            descent: Descent::new(root.clone()),
            reader: Reader::new(&root),
            root,
        }
    }

    /// Reads every process of the tree that ran since the last look.
    pub fn look(&mut self) -> Result<(), ObserveError> {
        for _ in 0..LOOKS_MAX {
            self.find_descendants()?;
            if self.sample()? == 0 {
                break;
            }
        }
        Ok(())
    }

    /// What the last look saw.
    pub fn samples(&self) -> impl Iterator<Item = &ProcessSample> {
        self.live.iter().filter_map(Followed::last)
    }

    /// Length of a tick of the kernel's CPU times.
    pub fn tick_ns(&self) -> u64 {
        self.reader.units.tick_ns
    }

    fn find_descendants(&mut self) -> Result<(), ObserveError> {
        let live = &self.live;
        let is_ours = |pid| live.iter().any(|process| process.pid() == pid).then_some(());
        let descendants = self.descent.scan(monotonic_ns(), is_ours, &mut self.reader)?;
        let descendants =
            descendants.into_keys().map(|pid| Followed::new(&self.root, pid, String::new()));
        self.live.extend(descendants);
        Ok(())
    }

    /// Reads all processes; returns how many of them have ended.
    fn sample(&mut self) -> Result<usize, ObserveError> {
        let Self { live, ended, reader, .. } = self;
        let (time_ns, before, mut failure) = (monotonic_ns(), live.len(), None);
        live.retain_mut(|process| {
            let is_live = match process.sample(time_ns, reader) {
                Ok(sample) => sample.is_some_and(|sample| sample.stat.state != DEAD),
                Err(error) => {
                    failure.get_or_insert(error);
                    true
                }
            };
            if !is_live {
                ended.add(&process.counts());
            }
            is_live
        });
        failure.map_or(Ok(before - live.len()), Err)
    }
}
