//! Finds the descendants of followed processes. Only processes not seen before are read, so a
//! scan costs little more than listing `/proc`.

use std::collections::{BTreeMap, HashSet};

use crate::file::{Buffer, ProcFile};
use crate::followed::{Followed, Reader};
use crate::parse::ProcessStat;
use crate::{ObserveError, ProcRoot};

/// A scan lists every process of the host.
const SCAN_INTERVAL_NS: i64 = 1_000_000_000;

/// Which processes were looked at, and when to look again.
pub(crate) struct Descent {
    root: ProcRoot,
    strangers: HashSet<u32>,
    due_ns: i64,
}

impl Descent {
    pub fn new(root: ProcRoot) -> Self {
        Self { root, strangers: HashSet::new(), due_ns: i64::MIN }
    }

    /// Looks at all processes again at the next scan, which is due now: those seen before may
    /// descend from one that is followed from now on.
    pub fn restart(&mut self) {
        self.strangers.clear();
        self.due_ns = i64::MIN;
    }

    /// New descendants with the accounts they inherit; nothing if a scan is not due.
    pub fn scan(
        &mut self,
        now_ns: i64,
        followed: &BTreeMap<u32, Followed>,
        reader: &mut Reader,
    ) -> Result<BTreeMap<u32, String>, ObserveError> {
        if now_ns < self.due_ns {
            return Ok(BTreeMap::new());
        }
        self.due_ns = now_ns.saturating_add(SCAN_INTERVAL_NS);
        let pids = self.pids()?;
        let mut new = Vec::new();
        for pid in &pids {
            if !self.strangers.contains(pid) && !followed.contains_key(pid) {
                let parent = self.parent(*pid, reader)?;
                new.extend(parent.map(|parent| (*pid, parent)));
            }
        }
        let found = inherit(&new, followed);
        self.strangers = pids;
        self.strangers.retain(|pid| !found.contains_key(pid) && !followed.contains_key(pid));
        Ok(found)
    }

    fn pids(&self) -> Result<HashSet<u32>, ObserveError> {
        let folder = &self.root.0;
        let entries = folder.read_dir().map_err(|error| ObserveError::io(folder, error))?;
        Ok(entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
    }

    fn parent(&self, pid: u32, reader: &mut Reader) -> Result<Option<u32>, ObserveError> {
        let mut file = ProcFile::record(self.root.process(pid).join("stat"));
        let Reader { buffer, units, .. } = reader;
        let buffer: &mut Buffer = buffer;
        let Some(text) = file.read(buffer)? else { return Ok(None) };
        ProcessStat::parse(file.path(), text, units).map(|stat| Some(stat.ppid))
    }
}

/// Children of followed processes, their children, and so on.
fn inherit(new: &[(u32, u32)], followed: &BTreeMap<u32, Followed>) -> BTreeMap<u32, String> {
    let mut found = BTreeMap::new();
    loop {
        let before = found.len();
        for (pid, parent) in new {
            let account = followed
                .get(parent)
                .map(|process| &process.account)
                .or_else(|| found.get(parent))
                .cloned();
            if let (Some(account), false) = (account, found.contains_key(pid)) {
                found.insert(*pid, account);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}
