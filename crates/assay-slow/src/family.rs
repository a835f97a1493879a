//! The processes of an engine that are slowed: those that were named, and their descendants.

use std::collections::BTreeSet;

use assay_kernel::ProcRoot;
use assay_kernel::file::ShortFile;
use assay_kernel::text::{number, words};

use crate::SlowError;
use crate::process::Process;
use crate::task::Task;

/// All are listed this often, because a number is given out a moment before it can be seen.
const LIST_INTERVAL_NS: i64 = 1_000_000_000;
/// Up to so many new numbers are asked for one by one.
const NUMBERS_MAX: u64 = 64;

/// Processes that are looked at.
pub(crate) struct Family {
    /// Live processes, whose descendants belong to it.
    kin: BTreeSet<u32>,
    roots: Vec<u32>,
    /// Whether a root that has descendants does nothing but start them.
    roots_listen: bool,
    pub processes: Vec<Process>,
    /// The file that ends with the number that was given out last.
    newest: ShortFile,
    known: Option<u64>,
    list_due_ns: i64,
}

impl Family {
    /// # Errors
    /// If none of the roots is there.
    pub fn new(roots: &[u32], roots_listen: bool, now_ns: i64) -> Result<Self, SlowError> {
        let loadavg = ProcRoot::default().join("loadavg");
        let newest = ShortFile::open(&loadavg).map_err(|error| SlowError::io(&loadavg, error))?;
        let mut family = Self {
            kin: roots.iter().copied().collect(),
            roots: roots.to_vec(),
            roots_listen,
            processes: roots.iter().filter_map(|pid| Process::new(*pid, now_ns)).collect(),
            newest,
            known: None,
            list_due_ns: i64::MIN,
        };
        if family.processes.is_empty() {
            return Err(SlowError::NoProcess(roots.to_vec()));
        }
        family.find(now_ns);
        Ok(family)
    }

    /// Finds processes and threads that were started since.
    pub fn find(&mut self, now_ns: i64) {
        let newest = self.newest.read(|line| words(line).last().and_then(number));
        let before = std::mem::replace(&mut self.known, newest);
        if now_ns >= self.list_due_ns {
            self.list_due_ns = now_ns + LIST_INTERVAL_NS;
            self.list(now_ns);
        } else if let (Some(before), Some(newest)) = (before, newest) {
            match newest.checked_sub(before) {
                Some(0) => {}
                Some(count) if count <= NUMBERS_MAX => self.ask(before + 1..=newest, now_ns),
                // So many are new, or numbers began again.
                _ => self.list_due_ns = self.list_due_ns.min(now_ns + LIST_INTERVAL_NS / 100),
            }
        }
    }

    /// Looks at everything that is due.
    pub fn look(&mut self, now_ns: i64) {
        for process in &mut self.processes {
            process.look(now_ns);
        }
        let kin = &mut self.kin;
        self.processes.retain(|process| process.lives() || !kin.remove(&process.pid));
    }

    /// Processes that do the engine's work.
    pub fn working(&mut self) -> impl Iterator<Item = &mut Process> {
        let roots = &self.roots;
        let spares_roots = self.roots_listen && self.processes.len() > roots.len();
        self.processes.iter_mut().filter(move |it| !spares_roots || !roots.contains(&it.pid))
    }

    /// Whether one of them is at work.
    pub fn is_active(&mut self) -> bool {
        self.tasks().any(|task| task.is_active())
    }

    /// Tasks of these.
    pub fn tasks(&mut self) -> impl Iterator<Item = &mut Task> {
        self.working().flat_map(|process| &mut process.tasks)
    }

    /// Those of them that are stopped.
    pub fn stopped(&mut self) -> impl Iterator<Item = &mut Process> {
        self.working().filter(|process| process.is_stopped())
    }

    /// Has everything go on that is stopped.
    pub fn go_on_all(&mut self) -> Result<(), SlowError> {
        self.processes.iter_mut().map(Process::go_on).fold(Ok(()), Result::and)
    }

    fn list(&mut self, now_ns: i64) {
        for process in &mut self.processes {
            process.find_threads(now_ns);
        }
        let root = ProcRoot::default();
        let mut strangers: Vec<(u32, u32)> = root
            .processes()
            .unwrap_or_default()
            .into_iter()
            .filter(|pid| !self.kin.contains(pid))
            .filter_map(|pid| Some((pid, root.kinship(pid)?.parent)))
            .collect();
        // A process may stand before its parent.
        loop {
            let kin = &mut self.kin;
            let (relatives, others): (Vec<_>, Vec<_>) =
                strangers.into_iter().partition(|(_, parent)| kin.contains(parent));
            if relatives.is_empty() {
                return;
            }
            for (pid, _) in relatives {
                kin.insert(pid);
                self.processes.extend(Process::new(pid, now_ns));
            }
            strangers = others;
        }
    }

    fn ask(&mut self, numbers: impl Iterator<Item = u64>, now_ns: i64) {
        for number in numbers.filter_map(|number| u32::try_from(number).ok()) {
            let Some(kinship) = ProcRoot::default().kinship(number) else { continue };
            if kinship.process != number {
                let process = self.processes.iter_mut().find(|it| it.pid == kinship.process);
                if let Some(process) = process {
                    process.add_thread(number, now_ns);
                }
            } else if self.kin.contains(&kinship.parent) && self.kin.insert(number) {
                self.processes.extend(Process::new(number, now_ns));
            }
        }
    }
}
