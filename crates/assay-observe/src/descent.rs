//! Finds the descendants of followed processes. Only processes not seen before are read, and only
//! if the kernel has given out a new pid, so a scan mostly costs the reading of one number.

use std::collections::{BTreeMap, HashSet};

use crate::followed::Reader;
use crate::{ObserveError, ProcRoot};
use assay_kernel::file::{Buffer, ProcFile};
use assay_kernel::parse::ProcessStat;
use assay_kernel::text::{number, words, words_of};

/// A pid is given out a moment before its process can be seen, so all are listed this often, too.
const SCAN_INTERVAL_NS: i64 = 1_000_000_000;
/// Up to so many numbers are asked for one by one; listing all processes costs as much as that.
const NUMBERS_MAX: u64 = 64;

/// Which processes were looked at, and when to look again.
pub(crate) struct Descent {
    root: ProcRoot,
    loadavg: ProcFile,
    newest_pid: Option<u64>,
    /// The newest one at the scan before.
    older_pid: Option<u64>,
    strangers: HashSet<u32>,
    due_ns: i64,
}

impl Descent {
    pub fn new(root: ProcRoot) -> Self {
        let loadavg = ProcFile::record(root.join("loadavg"));
        let strangers = HashSet::new();
        Self { root, loadavg, newest_pid: None, older_pid: None, strangers, due_ns: i64::MIN }
    }

    /// Looks at all processes again at the next scan, which is due now: those seen before may
    /// descend from one that is followed from now on.
    pub fn restart(&mut self) {
        self.strangers.clear();
        self.due_ns = i64::MIN;
    }

    /// New descendants with the accounts they inherit; nothing if no process may have started. `account_of`
    /// tells the account of a process that is followed.
    pub fn scan<A: Clone>(
        &mut self,
        now_ns: i64,
        account_of: impl Fn(u32) -> Option<A>,
        reader: &mut Reader,
    ) -> Result<BTreeMap<u32, A>, ObserveError> {
        // The last word of loadavg is the pid that was given out last.
        let text = self.loadavg.read(&mut reader.buffer)?;
        let newest_pid = text.and_then(|text| words(text).last()).and_then(number);
        let before = std::mem::replace(&mut self.newest_pid, newest_pid);
        let is_due = now_ns >= self.due_ns;
        if !is_due && newest_pid == before {
            return Ok(BTreeMap::new());
        }
        // One that could not be seen yet when it was new is asked for once more.
        let older_pid = std::mem::replace(&mut self.older_pid, before);
        if let (false, Some(numbers)) = (is_due, numbers(older_pid, newest_pid)) {
            let pids = numbers.collect();
            self.strangers.retain(|pid| !HashSet::contains(&pids, pid));
            return self.descendants(&pids, &account_of, reader);
        }
        self.due_ns = now_ns.saturating_add(SCAN_INTERVAL_NS);
        let pids: HashSet<u32> = self
            .root
            .processes()
            .map_err(|error| ObserveError::io(&self.root.0, error))?
            .into_iter()
            .collect();
        let descendants = self.descendants(&pids, &account_of, reader)?;
        self.strangers = pids;
        self.strangers.retain(|pid| !descendants.contains_key(pid) && account_of(*pid).is_none());
        Ok(descendants)
    }

    fn descendants<A: Clone>(
        &self,
        pids: &HashSet<u32>,
        account_of: &impl Fn(u32) -> Option<A>,
        reader: &mut Reader,
    ) -> Result<BTreeMap<u32, A>, ObserveError> {
        let mut new = Vec::new();
        for pid in pids {
            if !self.strangers.contains(pid) && account_of(*pid).is_none() {
                let parent = self.parent(*pid, reader)?;
                new.extend(parent.map(|parent| (*pid, parent)));
            }
        }
        let mut descendants = inherit(&new, account_of);
        // A thread has a number and a parent, too, though no listing shows it.
        descendants.retain(|pid, _| self.is_process(*pid, &mut reader.buffer));
        Ok(descendants)
    }

    fn is_process(&self, pid: u32, buffer: &mut Buffer) -> bool {
        let mut file = ProcFile::record(self.root.process(pid).join("status"));
        let Ok(Some(text)) = file.read(buffer) else { return true };
        let group = words_of(text, "Tgid").and_then(|mut words| words.next()).and_then(number);
        group.is_none_or(|group| group == u64::from(pid))
    }

    fn parent(&self, pid: u32, reader: &mut Reader) -> Result<Option<u32>, ObserveError> {
        let mut file = ProcFile::record(self.root.process(pid).join("stat"));
        let Reader { buffer, units, .. } = reader;
        let Some(text) = file.read(buffer)? else { return Ok(None) };
        Ok(Some(ProcessStat::parse(file.path(), text, units)?.ppid))
    }
}

/// Numbers that were given out after `older`; `None` where they are too many, or began anew.
fn numbers(older: Option<u64>, newest: Option<u64>) -> Option<impl Iterator<Item = u32>> {
    let (older, newest) = (older?, newest?);
    let count = newest.checked_sub(older)?;
    (count <= NUMBERS_MAX).then(|| (older + 1..=newest).filter_map(|pid| u32::try_from(pid).ok()))
}

/// Children of followed processes, their children, and so on.
fn inherit<A: Clone>(
    new: &[(u32, u32)],
    account_of: &impl Fn(u32) -> Option<A>,
) -> BTreeMap<u32, A> {
    let mut descendants: BTreeMap<u32, A> = BTreeMap::new();
    loop {
        let before = descendants.len();
        for (pid, parent) in new {
            let account = account_of(*parent).or_else(|| descendants.get(parent).cloned());
            if let (Some(account), false) = (account, descendants.contains_key(pid)) {
                descendants.insert(*pid, account);
            }
        }
        if descendants.len() == before {
            return descendants;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_after_the_older_one() {
        let listed = |older, newest| numbers(older, newest).map(Iterator::collect::<Vec<_>>);
        assert_eq!(listed(Some(7), Some(9)), Some(vec![8, 9]));
        assert_eq!(listed(Some(7), Some(7)), Some(vec![]));
    }

    #[test]
    fn where_they_are_many_or_began_anew_all_are_listed() {
        assert!(numbers(Some(9), Some(7)).is_none());
        assert!(numbers(Some(1), Some(2 + NUMBERS_MAX)).is_none());
        assert!(numbers(None, Some(7)).is_none());
    }

    #[test]
    fn a_thread_is_no_child() {
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let (sender, receiver) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            // `/proc/thread-self` leads to <process>/task/<thread>.
            let own = std::fs::read_link("/proc/thread-self").unwrap();
            sender.send(own.file_name().unwrap().to_str().unwrap().parse().unwrap()).unwrap();
            // An error is the end of it, too.
            let _ = stopped.recv();
        });
        let descent = Descent::new(ProcRoot::default());
        let mut buffer = Buffer::new();
        assert!(!descent.is_process(receiver.recv().unwrap(), &mut buffer));
        assert!(descent.is_process(std::process::id(), &mut buffer));
        drop(stop);
        thread.join().unwrap();
    }
}
