//! The followed processes and their descendants, with all their threads.

use std::collections::BTreeMap;

use super::process::Process;
use super::thread::{Change, SleepCounts};
use crate::descent::Descent;
use crate::followed::Reader;
use crate::{ObserveError, ProcRoot};

/// All processes are asked for children this often. Of those that have some, the first thread is asked
/// whenever it ran.
const ALL_CHILDREN_INTERVAL_NS: i64 = 1_000_000_000;

/// Processes whose threads are looked at.
pub(crate) struct Family {
    root: ProcRoot,
    processes: BTreeMap<u32, Process>,
    all_children_due_ns: i64,
    /// How children are found where the kernel does not list them.
    descent: Option<Descent>,
    reader: Reader,
    sleep_counts: SleepCounts,
}

impl Family {
    pub fn new(root: ProcRoot) -> Self {
        Self {
            processes: BTreeMap::new(),
            all_children_due_ns: i64::MIN,
            descent: None,
            reader: Reader::new(&root),
            sleep_counts: SleepCounts::default(),
            root,
        }
    }

    /// How much the kernel told so far.
    pub fn sleep_counts(&self) -> SleepCounts {
        self.sleep_counts
    }

    /// Looks at one more process, and at its descendants, from the next look on.
    pub fn follow(&mut self, pid: u32) {
        let process = self.processes.entry(pid).or_insert_with(|| Process::new(&self.root, pid));
        if !process.tells_children() {
            self.descent.get_or_insert_with(|| Descent::new(self.root.clone())).restart();
        }
        self.all_children_due_ns = i64::MIN;
    }

    /// Looks at every thread; `note` gets what is new.
    pub fn look(
        &mut self,
        time_ns: i64,
        mut note: impl FnMut(Change<'_>),
    ) -> Result<(), ObserveError> {
        let look_at_all = time_ns >= self.all_children_due_ns;
        if look_at_all {
            self.all_children_due_ns = time_ns.saturating_add(ALL_CHILDREN_INTERVAL_NS);
        }
        let mut descendants = self.descend(time_ns)?;
        let Self { processes, reader, sleep_counts, .. } = self;
        for process in processes.values_mut() {
            let any_ran = process.look(time_ns, (reader, sleep_counts), &mut note)?;
            if any_ran || look_at_all {
                process.find_threads(time_ns, (reader, sleep_counts), &mut note)?;
                descendants.extend(process.children(look_at_all, &mut reader.buffer)?);
            }
        }
        processes.retain(|_, process| process.lives());
        self.adopt(descendants, look_at_all, time_ns, &mut note)
    }

    /// Looks at new processes. One that was just started has no children yet, and mostly one thread.
    fn adopt(
        &mut self,
        mut pids: Vec<u32>,
        look_at_all: bool,
        time_ns: i64,
        note: &mut impl FnMut(Change<'_>),
    ) -> Result<(), ObserveError> {
        let Self { processes, reader, sleep_counts, .. } = self;
        while let Some(pid) = pids.pop() {
            if processes.contains_key(&pid) {
                continue;
            }
            let mut process = Process::new(&self.root, pid);
            process.look(time_ns, (reader, sleep_counts), note)?;
            if look_at_all {
                process.find_threads(time_ns, (reader, sleep_counts), note)?;
                pids.extend(process.children(true, &mut reader.buffer)?);
            }
            processes.insert(pid, process);
        }
        Ok(())
    }

    fn descend(&mut self, time_ns: i64) -> Result<Vec<u32>, ObserveError> {
        let Some(descent) = &mut self.descent else { return Ok(Vec::new()) };
        let processes = &self.processes;
        let is_known = |pid| processes.contains_key(&pid).then_some(());
        Ok(descent.scan(time_ns, is_known, &mut self.reader)?.into_keys().collect())
    }
}
