//! What /proc tells of processes that were there before us: descendants, threads, names, code.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Code that a process has mapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// First address.
    pub start: u64,
    /// Length.
    pub length: u64,
    /// Where in the file.
    pub offset: u64,
    /// Which file, by number.
    pub inode: u64,
    /// Its path; empty where there is none.
    pub path: String,
}

/// The processes and all their descendants.
pub fn family(proc_root: &Path, roots: &[u32]) -> Vec<u32> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for pid in numbers(proc_root) {
        if let Some(parent) = parent_of(&proc_root.join(pid.to_string())) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut seen = HashSet::new();
    let mut waiting = roots.to_vec();
    while let Some(pid) = waiting.pop() {
        if seen.insert(pid) {
            waiting.extend(children.get(&pid).into_iter().flatten());
        }
    }
    let mut found: Vec<u32> = seen.into_iter().collect();
    found.sort_unstable();
    found
}

/// Threads of a process; none if it is gone.
pub fn threads(proc_root: &Path, pid: u32) -> Vec<u32> {
    numbers(&proc_root.join(format!("{pid}/task")))
}

/// What a thread calls itself.
pub fn name(proc_root: &Path, pid: u32, tid: u32) -> Option<String> {
    let name = fs::read(proc_root.join(format!("{pid}/task/{tid}/comm"))).ok()?;
    Some(String::from_utf8_lossy(&name).trim_end().to_owned())
}

/// The code that a process has mapped; none if it may not be read.
pub fn mappings(proc_root: &Path, pid: u32) -> Vec<Mapping> {
    let text = fs::read(proc_root.join(format!("{pid}/maps"))).unwrap_or_default();
    String::from_utf8_lossy(&text).lines().filter_map(mapping).collect()
}

/// Where the paths of a process begin.
pub fn root(proc_root: &Path, pid: u32) -> PathBuf {
    proc_root.join(format!("{pid}/root"))
}

/// One line of `maps`, if it is of code.
fn mapping(line: &str) -> Option<Mapping> {
    let mut words = line.splitn(6, ' ');
    let (start, end) = words.next()?.split_once('-')?;
    let start = u64::from_str_radix(start, 16).ok()?;
    let end = u64::from_str_radix(end, 16).ok()?;
    let rights = words.next()?;
    let offset = u64::from_str_radix(words.next()?, 16).ok()?;
    let _device = words.next()?;
    let inode = words.next()?.parse().ok()?;
    let path = words.next().unwrap_or_default().trim_start().to_owned();
    let length = end.checked_sub(start)?;
    rights.contains('x').then_some(Mapping { start, length, offset, inode, path })
}

/// The parent stands second after the name, which may hold anything.
fn parent_of(process: &Path) -> Option<u32> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

fn numbers(folder: &Path) -> Vec<u32> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let name = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    entries.flatten().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn code_is_what_may_be_executed() {
        let code = "7f00-7f80 r-xp 00001000 fd:01 42                 /a/file name (deleted)";
        let found = mapping(code).unwrap();
        assert_eq!((found.start, found.length, found.offset), (0x7f00, 0x80, 0x1000));
        assert_eq!((found.inode, found.path.as_str()), (42, "/a/file name (deleted)"));
        assert_eq!(mapping("7f00-7f80 r--p 00001000 fd:01 42 /a/b"), None);
        assert_eq!(mapping("7f00-7f80 rwxp 00000000 00:00 0").unwrap().path, "");
    }

    #[test]
    fn our_own_family_has_us_and_our_threads() {
        let us = std::process::id();
        assert!(family(Path::new("/proc"), &[us]).contains(&us));
        assert!(threads(Path::new("/proc"), us).contains(&us));
        assert!(!mappings(Path::new("/proc"), us).is_empty());
    }

    proptest! {
        #[test]
        fn any_line_is_a_mapping_or_none(line: String) {
            mapping(&line);
        }
    }
}
