//! The processes of an engine that are slowed: those that were named, and their descendants.

use std::collections::BTreeSet;

use assay_kernel::ProcRoot;
use assay_kernel::file::ShortFile;
use assay_kernel::text::{number, words};

use crate::process::Process;
use crate::task::Task;
use crate::{Root, SlowError};

/// All are listed this often, because a number is given out a moment before it can be seen.
const LIST_INTERVAL_NS: i64 = 1_000_000_000;
/// Up to so many new numbers are asked for one by one.
const NUMBERS_MAX: u64 = 64;

/// Processes that are looked at.
pub(crate) struct Family {
    roots: Vec<u32>,
    /// Whether a root that has descendants does nothing but start them.
    roots_listen: bool,
    /// Live processes, whose descendants belong to it.
    pub processes: Vec<Process>,
    /// The file that ends with the number that was given out last.
    newest: ShortFile,
    last_pid: Option<u64>,
    list_due_ns: i64,
}

impl Family {
    /// # Errors
    /// If none of the roots is there.
    pub fn new(roots: &[Root], roots_listen: bool, now_ns: i64) -> Result<Self, SlowError> {
        let pids: Vec<u32> = roots.iter().map(|root| root.pid).collect();
        let open = |root: &Root| {
            let process = Process::open(root.pid, now_ns)?;
            (process.start_ticks() == Some(root.start_ticks)).then_some(process)
        };
        let loadavg = ProcRoot::default().join("loadavg");
        let newest = ShortFile::open(&loadavg).map_err(|error| SlowError::io(&loadavg, error))?;
        let mut family = Self {
            roots: pids,
            roots_listen,
            processes: roots.iter().filter_map(open).collect(),
            newest,
            last_pid: None,
            list_due_ns: i64::MIN,
        };
        if family.processes.is_empty() {
            return Err(SlowError::NoProcess(family.roots));
        }
        family.find(now_ns);
        Ok(family)
    }

    /// Finds processes and threads that were started since.
    pub fn find(&mut self, now_ns: i64) {
        let newest = self.newest.read(|line| words(line).last().and_then(number));
        let before = std::mem::replace(&mut self.last_pid, newest);
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
        self.processes.retain(Process::lives);
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
        let mut kin: BTreeSet<u32> = self.processes.iter().map(|process| process.pid).collect();
        let mut strangers: Vec<(u32, u32)> = root
            .processes()
            .unwrap_or_default()
            .into_iter()
            .filter(|pid| !kin.contains(pid))
            .filter_map(|pid| Some((pid, root.kinship(pid)?.parent)))
            .collect();
        // A process may stand before its parent.
        loop {
            let (relatives, others): (Vec<_>, Vec<_>) =
                strangers.into_iter().partition(|(_, parent)| kin.contains(parent));
            if relatives.is_empty() {
                return;
            }
            kin.extend(relatives.into_iter().filter_map(|(pid, _)| self.adopt(pid, now_ns)));
            strangers = others;
        }
    }

    fn ask(&mut self, numbers: impl Iterator<Item = u64>, now_ns: i64) {
        for number in numbers.filter_map(|number| u32::try_from(number).ok()) {
            let Some(kinship) = ProcRoot::default().kinship(number) else { continue };
            if kinship.process != number {
                if let Some(process) = self.process_mut(kinship.process) {
                    process.add_threads(std::iter::once(number), now_ns);
                }
            } else if self.process_mut(number).is_none() {
                self.adopt(number, now_ns);
            }
        }
    }

    fn process_mut(&mut self, pid: u32) -> Option<&mut Process> {
        self.processes.iter_mut().find(|process| process.pid == pid)
    }

    /// Takes in a process whose parent is one of these, and returns its number. It is opened first
    /// and asked then: a number that was read before may belong to a stranger by now.
    fn adopt(&mut self, pid: u32, now_ns: i64) -> Option<u32> {
        let child = Process::open(pid, now_ns)?;
        let parent = child.parent()?;
        // The parent's number is the parent's own only while it is there, too.
        if !self.process_mut(parent)?.is_there() {
            return None;
        }
        self.processes.push(child);
        Some(pid)
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;

    /// A shell that sleeps until it is dropped.
    struct Sleeper(Child);

    impl Sleeper {
        fn start() -> Self {
            Self(Command::new("sleep").arg("60").spawn().unwrap())
        }

        fn pid(&self) -> u32 {
            self.0.id()
        }

        /// Ends it; its number is free then.
        fn end(&mut self) {
            self.0.kill().unwrap();
            self.0.wait().unwrap();
        }
    }

    impl Drop for Sleeper {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    fn root(pid: u32) -> Root {
        let start_ticks = Process::open(pid, 0).unwrap().start_ticks().unwrap();
        Root { pid, start_ticks }
    }

    fn numbers(family: &Family) -> Vec<u32> {
        family.processes.iter().map(|process| process.pid).collect()
    }

    #[test]
    fn who_has_a_number_by_now_is_asked_for_its_parent() {
        let (first, stranger) = (Sleeper::start(), Sleeper::start());
        let mut family = Family::new(&[root(first.pid())], false, 0).unwrap();
        // The number of a child that ended and whose number was given out again.
        assert_eq!(family.adopt(stranger.pid(), 0), None);
        assert_eq!(numbers(&family), [first.pid()]);
        let mut ours = Family::new(&[root(std::process::id())], false, 0).unwrap();
        assert!(numbers(&ours).contains(&stranger.pid()));
        assert_eq!(ours.adopt(stranger.pid(), 0), Some(stranger.pid()));
    }

    #[test]
    fn children_of_who_has_the_number_of_an_ended_member_are_strangers() {
        let (mut ended, child) = (Sleeper::start(), Sleeper::start());
        let mut family = Family::new(&[root(ended.pid())], false, 0).unwrap();
        ended.end();
        // As if this process, whose child it is, had been given the number.
        family.processes[0].pid = std::process::id();
        assert_eq!(family.adopt(child.pid(), 0), None);
        family.list(0);
        assert_eq!(numbers(&family), [std::process::id()]);
    }

    #[test]
    fn threads_of_who_has_the_number_of_an_ended_member_are_strangers() {
        let mut ended = Sleeper::start();
        let mut process = Process::open(ended.pid(), 0).unwrap();
        ended.end();
        process.pid = std::process::id();
        process.find_threads(0);
        assert_eq!(process.tasks.len(), 1);
        process.look_at_all(0);
        assert!(!process.lives());
    }

    #[test]
    fn one_that_ended_before_it_was_opened_leaves_nothing() {
        let (first, mut ended) = (Sleeper::start(), Sleeper::start());
        ended.end();
        let mut family = Family::new(&[root(first.pid())], false, 0).unwrap();
        assert_eq!(family.adopt(ended.pid(), 0), None);
        assert_eq!(numbers(&family), [first.pid()]);
    }
}
