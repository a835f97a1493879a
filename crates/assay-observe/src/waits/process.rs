//! The threads of one process, and its children.

use std::path::{Path, PathBuf};

use std::os::unix::fs::MetadataExt;

use super::thread::{Change, Fate, Thread, Told};
use crate::file::{Buffer, ProcFile};
use crate::followed::Reader;
use crate::tasks::tids;
use crate::text::{number, words};
use crate::{ObserveError, ProcRoot};

/// Links of a folder without folders in it: its name, and its own dot.
const LINKS_OF_EMPTY: u64 = 2;

/// A process whose threads are looked at.
pub(crate) struct Process {
    pid: u32,
    tasks: PathBuf,
    children: ProcFile,
    threads: Vec<Thread>,
}

impl Process {
    pub fn new(root: &ProcRoot, pid: u32) -> Self {
        let tasks = root.process(pid).join("task");
        let children = children_file(&tasks, pid);
        Self { pid, tasks, children, threads: Vec::new() }
    }

    /// Whether it still has a thread.
    pub fn lives(&self) -> bool {
        !self.threads.is_empty()
    }

    /// Looks at the threads that are known. One that is gone is told of and dropped.
    pub fn look(
        &mut self,
        time_ns: i64,
        (reader, told): (&mut Reader, &mut Told),
        note: &mut impl FnMut(Change<'_>),
    ) -> Result<(), ObserveError> {
        let (pid, mut failure) = (self.pid, None);
        self.threads.retain_mut(|thread| {
            if thread.is_ours() {
                return true;
            }
            let fate = thread.look((pid, time_ns), (reader, told), note).unwrap_or_else(|error| {
                failure.get_or_insert(error);
                Fate::Same
            });
            fate != Fate::Left || thread.is_ours()
        });
        failure.map_or(Ok(()), Err)
    }

    /// Finds threads that are not known yet, and looks at them.
    pub fn find_threads(
        &mut self,
        time_ns: i64,
        (reader, told): (&mut Reader, &mut Told),
        note: &mut impl FnMut(Change<'_>),
    ) -> Result<(), ObserveError> {
        // The kernel counts the threads as it counts folders in a folder, so that asking for their
        // number is cheaper than reading their names.
        let links = self.tasks.metadata().map_or(LINKS_OF_EMPTY, |tasks| tasks.nlink());
        if links == LINKS_OF_EMPTY + self.threads.len() as u64 {
            return Ok(());
        }
        let tids = tids(&self.tasks)?;
        self.threads.retain(|thread| !thread.is_ours() || tids.contains(&thread.tid));
        for tid in tids {
            if self.threads.iter().any(|thread| thread.tid == tid) {
                continue;
            }
            let mut thread = Thread::new(&self.tasks, tid);
            let fate = thread.look((self.pid, time_ns), (reader, told), note)?;
            if fate != Fate::Left || thread.is_ours() {
                self.threads.push(thread);
            }
        }
        Ok(())
    }

    /// The children that its first thread started, or those of all threads.
    pub fn children(
        &mut self,
        of_all_threads: bool,
        buffer: &mut Buffer,
    ) -> Result<Vec<u32>, ObserveError> {
        let mut found = pids(&mut self.children, buffer)?;
        if of_all_threads {
            for thread in self.threads.iter().filter(|thread| thread.tid != self.pid) {
                found.extend(pids(&mut children_file(&self.tasks, thread.tid), buffer)?);
            }
        }
        Ok(found)
    }

    /// Whether this kernel tells the children of a process.
    pub fn tells_children(&self) -> bool {
        self.children.path().exists()
    }
}

fn children_file(tasks: &Path, tid: u32) -> ProcFile {
    ProcFile::lines(tasks.join(tid.to_string()).join("children"))
}

fn pids(file: &mut ProcFile, buffer: &mut Buffer) -> Result<Vec<u32>, ObserveError> {
    let text = file.read(buffer)?.unwrap_or_default();
    Ok(words(text).filter_map(number).filter_map(|pid| u32::try_from(pid).ok()).collect())
}
