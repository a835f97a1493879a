//! The followed processes and their descendants, with all their threads.

use std::collections::BTreeMap;

use super::process::Process;
use super::thread::{Change, Told};
use crate::births::Births;
use crate::descent::Descent;
use crate::followed::Reader;
use crate::{ObserveError, ProcRoot};

/// Processes that a thread other than the first one started are found this often.
const ALL_THREADS_INTERVAL_NS: i64 = 1_000_000_000;

/// Processes whose threads are looked at.
pub(crate) struct Family {
    root: ProcRoot,
    processes: BTreeMap<u32, Process>,
    births: Births,
    /// What was born shortly before the last look may be seen at this one only.
    look_again: bool,
    all_threads_due_ns: i64,
    /// How children are found where the kernel does not list them.
    descent: Option<Descent>,
    reader: Reader,
    told: Told,
}

impl Family {
    pub fn new(root: ProcRoot) -> Result<Self, ObserveError> {
        Ok(Self {
            processes: BTreeMap::new(),
            births: Births::new(&root),
            look_again: false,
            all_threads_due_ns: i64::MIN,
            descent: None,
            reader: Reader::new(&root)?,
            told: Told::default(),
            root,
        })
    }

    /// How much the kernel told so far.
    pub fn told(&self) -> Told {
        self.told
    }

    /// Looks at one more process, and at its descendants, from the next look on.
    pub fn follow(&mut self, pid: u32) {
        let process = self.processes.entry(pid).or_insert_with(|| Process::new(&self.root, pid));
        if !process.tells_children() {
            self.descent.get_or_insert_with(|| Descent::new(self.root.clone())).restart();
        }
        self.births.expect();
        self.all_threads_due_ns = i64::MIN;
    }

    /// Looks at every thread; `note` gets what is new.
    pub fn look(
        &mut self,
        time_ns: i64,
        mut note: impl FnMut(Change<'_>),
    ) -> Result<(), ObserveError> {
        let Self { processes, reader, told, .. } = self;
        for process in processes.values_mut() {
            process.look(time_ns, (reader, told), &mut note)?;
        }
        let any_born = self.births.any(time_ns, &mut self.reader.buffer)?;
        if any_born || self.look_again {
            self.find_threads(time_ns, &mut note)?;
            self.find_children(time_ns, &mut note)?;
            self.processes.retain(|_, process| process.lives());
        }
        self.look_again = any_born;
        Ok(())
    }

    fn find_threads(
        &mut self,
        time_ns: i64,
        note: &mut impl FnMut(Change<'_>),
    ) -> Result<(), ObserveError> {
        let Self { processes, reader, told, .. } = self;
        for process in processes.values_mut() {
            process.find_threads(time_ns, (reader, told), note)?;
        }
        Ok(())
    }

    /// Finds new children, their children, and so on.
    fn find_children(
        &mut self,
        time_ns: i64,
        note: &mut impl FnMut(Change<'_>),
    ) -> Result<(), ObserveError> {
        let of_all_threads = time_ns >= self.all_threads_due_ns;
        if of_all_threads {
            self.all_threads_due_ns = time_ns.saturating_add(ALL_THREADS_INTERVAL_NS);
        }
        let mut parents: Vec<u32> = self.processes.keys().copied().collect();
        let mut children = self.descend(time_ns)?;
        while !parents.is_empty() || !children.is_empty() {
            for pid in parents.drain(..) {
                let Some(parent) = self.processes.get_mut(&pid) else { continue };
                children.extend(parent.children(of_all_threads, &mut self.reader.buffer)?);
            }
            children.retain(|pid| !self.processes.contains_key(pid));
            for pid in children.drain(..) {
                let mut process = Process::new(&self.root, pid);
                let reading = (&mut self.reader, &mut self.told);
                process.find_threads(time_ns, reading, note)?;
                self.processes.insert(pid, process);
                parents.push(pid);
            }
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
