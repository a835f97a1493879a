//! Finds the descendants of followed processes. Only processes not seen before are read, and only
//! if the kernel has given out a new pid, so a scan mostly costs the reading of one number.

use std::collections::{BTreeMap, HashSet};

use crate::file::{Buffer, ProcFile};
use crate::followed::Reader;
use crate::parse::ProcessStat;
use crate::text::{number, words};
use crate::{ObserveError, ProcRoot};

/// A pid is given out a moment before its process can be seen, so all are listed this often, too.
const SCAN_INTERVAL_NS: i64 = 1_000_000_000;

/// Which processes were looked at, and when to look again.
pub(crate) struct Descent {
    root: ProcRoot,
    loadavg: ProcFile,
    newest_pid: Option<u64>,
    strangers: HashSet<u32>,
    due_ns: i64,
}

impl Descent {
    pub fn new(root: ProcRoot) -> Self {
        let loadavg = ProcFile::record(root.join("loadavg"));
        let strangers = HashSet::new();
        Self { root, loadavg, newest_pid: None, strangers, due_ns: i64::MIN }
    }

    /// Looks at all processes again at the next scan, which is due now: those seen before may
    /// descend from one that is followed from now on.
    pub fn restart(&mut self) {
        self.strangers.clear();
        self.due_ns = i64::MIN;
    }

    /// New descendants with the accounts they inherit; nothing if a scan is not due. `account_of`
    /// tells the account of a process that is followed.
    pub fn scan<A: Clone>(
        &mut self,
        now_ns: i64,
        account_of: impl Fn(u32) -> Option<A>,
        reader: &mut Reader,
    ) -> Result<BTreeMap<u32, A>, ObserveError> {
        if !self.is_due(now_ns, &mut reader.buffer)? {
            return Ok(BTreeMap::new());
        }
        self.due_ns = now_ns.saturating_add(SCAN_INTERVAL_NS);
        let pids = self.pids()?;
        let mut new = Vec::new();
        for pid in &pids {
            if !self.strangers.contains(pid) && account_of(*pid).is_none() {
                let parent = self.parent(*pid, reader)?;
                new.extend(parent.map(|parent| (*pid, parent)));
            }
        }
        let found = inherit(&new, &account_of);
        self.strangers = pids;
        self.strangers.retain(|pid| !found.contains_key(pid) && account_of(*pid).is_none());
        Ok(found)
    }

    /// Whether a process may have started since the last scan.
    fn is_due(&mut self, now_ns: i64, buffer: &mut Buffer) -> Result<bool, ObserveError> {
        // The last word of loadavg is the pid that was given out last.
        let newest =
            self.loadavg.read(buffer)?.and_then(|text| words(text).last()).and_then(number);
        let is_new = newest != self.newest_pid;
        self.newest_pid = newest;
        Ok(is_new || now_ns >= self.due_ns)
    }

    fn pids(&self) -> Result<HashSet<u32>, ObserveError> {
        let folder = &self.root.0;
        let entries = folder.read_dir().map_err(|error| ObserveError::io(folder, error))?;
        Ok(entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
    }

    fn parent(&self, pid: u32, reader: &mut Reader) -> Result<Option<u32>, ObserveError> {
        let mut file = ProcFile::record(self.root.process(pid).join("stat"));
        let Reader { buffer, units, .. } = reader;
        let Some(text) = file.read(buffer)? else { return Ok(None) };
        ProcessStat::parse(file.path(), text, units).map(|stat| Some(stat.ppid))
    }
}

/// Children of followed processes, their children, and so on.
fn inherit<A: Clone>(
    new: &[(u32, u32)],
    account_of: &impl Fn(u32) -> Option<A>,
) -> BTreeMap<u32, A> {
    let mut found: BTreeMap<u32, A> = BTreeMap::new();
    loop {
        let before = found.len();
        for (pid, parent) in new {
            let account = account_of(*parent).or_else(|| found.get(parent).cloned());
            if let (Some(account), false) = (account, found.contains_key(pid)) {
                found.insert(*pid, account);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}
