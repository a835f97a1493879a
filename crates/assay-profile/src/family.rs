//! Processes that were there before sampling began: descendants, names of threads, mapped code.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::PathBuf;

use assay_kernel::ProcRoot;
use assay_kernel::parse::{self, Mapping};

/// The processes and all their descendants.
pub fn family(root: &ProcRoot, pids: &[u32]) -> Vec<u32> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for pid in root.processes().unwrap_or_default() {
        let stat = fs::read(root.process(pid).join("stat")).unwrap_or_default();
        if let Some(parent) = parse::parent(&stat) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut members = HashSet::new();
    let mut waiting = pids.to_vec();
    while let Some(pid) = waiting.pop() {
        if members.insert(pid) {
            waiting.extend(children.get(&pid).into_iter().flatten());
        }
    }
    let mut members: Vec<u32> = members.into_iter().collect();
    members.sort_unstable();
    members
}

/// Threads of a process; none if it is gone.
pub fn threads(root: &ProcRoot, pid: u32) -> Vec<u32> {
    root.threads(pid).unwrap_or_default()
}

/// What a thread calls itself.
pub fn thread_name(root: &ProcRoot, pid: u32, tid: u32) -> Option<String> {
    let name = fs::read(root.thread(pid, tid).join("comm")).ok()?;
    Some(String::from_utf8_lossy(&name).trim_end().to_owned())
}

/// The code that a process has mapped; none if it may not be read.
pub fn mappings(root: &ProcRoot, pid: u32) -> Vec<Mapping> {
    parse::mappings(&fs::read(root.process(pid).join("maps")).unwrap_or_default())
}

/// Where the paths of a process begin.
pub fn file_root(root: &ProcRoot, pid: u32) -> PathBuf {
    root.process(pid).join("root")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_family_has_us_and_our_threads() {
        let (root, us) = (ProcRoot::default(), std::process::id());
        assert!(family(&root, &[us]).contains(&us));
        assert!(threads(&root, us).contains(&us));
        assert!(!mappings(&root, us).is_empty());
    }
}
