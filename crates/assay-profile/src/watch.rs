//! Records of the kernel become rows: who was born, what was mapped, where a sample lay.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use assay_kernel::ProcRoot;
use assay_kernel::parse::Mapping;

use crate::family;
use crate::modules::Modules;
use crate::perf::{Record, Sample};
use crate::rows::Rows;
use crate::space::{SharedSpace, Space};
use crate::symbols::SampledProcess;
use crate::tree::CallTree;
use crate::unwind::{End, Stacks};

/// What was counted so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Samples of the family.
    pub samples: u64,
    /// Samples of other processes.
    pub elsewhere: u64,
    /// Records that found no room.
    pub lost: u64,
    /// Times that the kernel paused.
    pub throttled: u64,
    /// Stacks deeper than their copy.
    pub cut: u64,
    /// Stacks that could not be unwound.
    pub broken: u64,
}

/// What is known of the family.
pub struct Watch {
    proc_root: ProcRoot,
    family: HashSet<u32>,
    /// Who has a number in the family: known since its code was first seen.
    processes: HashMap<u32, SampledProcess>,
    spaces: HashMap<u32, SharedSpace>,
    /// Threads of a process that have not ended: it goes on without its first one.
    threads: HashMap<u32, HashSet<u32>>,
    /// What threads call themselves, and whether that is written already.
    names: HashMap<u32, (String, bool)>,
    /// Files with code.
    pub modules: Modules,
    /// Frames and stacks.
    pub tree: CallTree,
    stacks: Stacks,
    /// What was counted.
    pub counts: Counts,
}

impl Watch {
    /// Of a family that is there already.
    pub fn new(proc_root: ProcRoot, family: HashSet<u32>, copied_bytes: Option<usize>) -> Self {
        let mut modules = Modules::default();
        let stacks = Stacks::new(&mut modules, copied_bytes);
        let mut watch = Self {
            proc_root,
            family,
            processes: HashMap::new(),
            spaces: HashMap::new(),
            threads: HashMap::new(),
            names: HashMap::new(),
            modules,
            tree: CallTree::default(),
            stacks,
            counts: Counts::default(),
        };
        for pid in watch.family.clone() {
            watch.look_at(SampledProcess::of(&watch.proc_root.0, pid));
        }
        watch
    }

    /// Takes over what a process has mapped, and what its threads call themselves.
    fn look_at(&mut self, process: SampledProcess) {
        let pid = process.pid;
        self.processes.insert(pid, process);
        let tids = family::threads(&self.proc_root, pid);
        self.threads.entry(pid).or_default().extend(&tids);
        for tid in tids {
            if let Some(name) = family::thread_name(&self.proc_root, pid, tid) {
                self.names.insert(tid, (name, false));
            }
        }
        let mut space = Space::default();
        for mapping in family::mappings(&self.proc_root, pid) {
            space.map(&process, &mapping, &mut self.modules, &self.proc_root);
        }
        self.spaces.insert(pid, Rc::new(space));
    }

    /// One record. Samples go into `rows`.
    pub fn take(&mut self, record: Record<'_>, rows: &mut Rows) {
        match record {
            Record::Sample(sample) => self.sampled(&sample, rows),
            Record::Mapped { pid, time_ns, start, length, offset, inode, path } => {
                let path = String::from_utf8_lossy(path).into_owned();
                self.mapped((pid, time_ns), &Mapping { start, length, offset, inode, path });
            }
            Record::Named { pid, tid, name, executed } => self.named(pid, tid, name, executed),
            Record::Born { pid, tid, parent_pid, parent_tid } => {
                self.born((pid, tid), (parent_pid, parent_tid));
            }
            Record::Ended { pid, tid } => self.ended(pid, tid),
            Record::Lost(count) => self.counts.lost += count,
            Record::Throttled => self.counts.throttled += 1,
            Record::Other => {}
        }
    }

    fn sampled(&mut self, sample: &Sample<'_>, rows: &mut Rows) {
        if !self.family.contains(&sample.pid) {
            self.counts.elsewhere += 1;
            return;
        }
        if !self.spaces.contains_key(&sample.pid) {
            // The record of a thread's birth was lost, and all others have ended.
            self.look_at(SampledProcess::at(&self.proc_root.0, sample.pid, sample.time_ns));
        }
        let space = Rc::clone(self.spaces.entry(sample.pid).or_default());
        let (places, end) = self.stacks.of(sample, &space);
        let Some(stack) = self.tree.node(places) else { return };
        self.counts.samples += 1;
        match end {
            End::Whole => {}
            End::Cut => self.counts.cut += 1,
            End::Broken => self.counts.broken += 1,
        }
        let name = self.names.entry(sample.tid).or_default();
        if !std::mem::replace(&mut name.1, true) {
            rows.thread(sample.time_ns, sample.pid, sample.tid, &name.0);
        }
        rows.sample(sample, stack);
    }

    fn mapped(&mut self, (pid, time_ns): (u32, i64), mapping: &Mapping) {
        if !self.family.contains(&pid) {
            return;
        }
        let proc_root = &self.proc_root;
        let process = self.processes.entry(pid);
        let process = process.or_insert_with(|| SampledProcess::at(&proc_root.0, pid, time_ns));
        let space = Rc::make_mut(self.spaces.entry(pid).or_default());
        space.map(process, mapping, &mut self.modules, proc_root);
    }

    fn named(&mut self, pid: u32, tid: u32, name: &[u8], executed: bool) {
        if !self.family.contains(&pid) {
            return;
        }
        self.names.insert(tid, (String::from_utf8_lossy(name).into_owned(), false));
        if executed {
            // It may run as another user from now on.
            self.processes.remove(&pid);
            self.spaces.insert(pid, SharedSpace::default());
            self.threads.insert(pid, HashSet::from([tid]));
        }
    }

    fn born(&mut self, (pid, tid): (u32, u32), (parent_pid, maker): (u32, u32)) {
        if !self.family.contains(&parent_pid) {
            // The number of one of ours that ended may be given to somebody else.
            self.family.remove(&pid);
            return;
        }
        self.family.insert(pid);
        self.threads.entry(pid).or_default().insert(tid);
        if let Some((name, _)) = self.names.get(&maker) {
            self.names.insert(tid, (name.clone(), false));
        }
        if pid != parent_pid {
            self.processes.remove(&pid);
            let space = self.spaces.get(&parent_pid).cloned().unwrap_or_default();
            self.spaces.insert(pid, space);
        }
    }

    fn ended(&mut self, pid: u32, tid: u32) {
        self.names.remove(&tid);
        let Some(threads) = self.threads.get_mut(&pid) else { return };
        threads.remove(&tid);
        if threads.is_empty() {
            self.threads.remove(&pid);
            self.spaces.remove(&pid);
            self.processes.remove(&pid);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const PID: u32 = 4711;
    const WORKER: u32 = 4712;

    fn place(watch: &Watch) -> Option<u64> {
        Some(watch.spaces.get(&PID)?.place(0x7f00_0000_1234)?.1)
    }

    #[test]
    fn what_is_mapped_is_known_until_the_last_thread_ends() {
        let folder = tempfile::tempdir().unwrap();
        for tid in [PID, WORKER] {
            fs::create_dir_all(folder.path().join(format!("{PID}/task/{tid}"))).unwrap();
        }
        let maps = "7f0000001000-7f0000002000 r-xp 00000000 08:01 42 /nowhere/engine\n";
        fs::write(folder.path().join(format!("{PID}/maps")), maps).unwrap();
        let raw = tempfile::tempdir().unwrap();
        let mut rows = Rows::create(raw.path()).unwrap();
        let mut watch = Watch::new(ProcRoot(folder.path().into()), HashSet::from([PID]), None);
        let born = Record::Born { pid: PID, tid: 4713, parent_pid: PID, parent_tid: PID };
        watch.take(born, &mut rows);
        for tid in [PID, WORKER] {
            watch.take(Record::Ended { pid: PID, tid }, &mut rows);
            assert_eq!(place(&watch), Some(0x7f00_0000_1234));
        }
        watch.take(Record::Ended { pid: PID, tid: 4713 }, &mut rows);
        assert_eq!(place(&watch), None);
        assert!(watch.threads.is_empty());
    }
}
