//! The threads of one process, and its children.

use std::path::{Path, PathBuf};

use std::os::unix::fs::MetadataExt;

use super::thread::{Change, Fate, SleepCounts, Thread};
use crate::followed::Reader;
use crate::tasks::tids;
use crate::{ObserveError, ProcRoot};
use assay_kernel::file::{Buffer, ProcFile};
use assay_kernel::text::{number, words};

/// Links of a folder without folders in it: its name, and its own dot.
const LINKS_OF_EMPTY: u64 = 2;

/// A thread that a process starts later is found within this time, if the process has a CPU.
const THREADS_INTERVAL_NS: i64 = 50_000_000;

/// A process whose threads are looked at.
pub(crate) struct Process {
    pid: u32,
    tasks: PathBuf,
    children: ProcFile,
    /// Whether its first thread starts other processes. Then it is never left out of a look.
    is_parent: bool,
    threads: Vec<Thread>,
    threads_due_ns: i64,
}

impl Process {
    pub fn new(root: &ProcRoot, pid: u32) -> Self {
        let tasks = root.process(pid).join("task");
        let children = children_file(&tasks, pid);
        // Most processes have one thread, which has the number of the process.
        let threads = vec![Thread::new(&tasks, pid)];
        Self { pid, tasks, children, is_parent: false, threads, threads_due_ns: i64::MIN }
    }

    /// Whether it still has a thread.
    pub fn lives(&self) -> bool {
        !self.threads.is_empty()
    }

    /// Looks at the threads that are known. One that is gone is told of and dropped. False: none of
    /// them ran, so that none can have started anything.
    pub fn look(
        &mut self,
        time_ns: i64,
        (reader, sleep_counts): (&mut Reader, &mut SleepCounts),
        note: &mut impl FnMut(Change<'_>),
    ) -> Result<bool, ObserveError> {
        let (pid, is_parent, mut any_ran, mut failure) = (self.pid, self.is_parent, false, None);
        self.threads.retain_mut(|thread| {
            let is_due = thread.is_due(time_ns) || (is_parent && thread.tid == pid);
            if thread.is_ours() || !is_due {
                return true;
            }
            let fate =
                thread.look((pid, time_ns), (reader, sleep_counts), note).unwrap_or_else(|error| {
                    failure.get_or_insert(error);
                    Fate::Ran
                });
            any_ran |= fate != Fate::SleptOn;
            fate != Fate::Left || thread.is_ours()
        });
        failure.map_or(Ok(any_ran), Err)
    }

    /// Finds threads that are not known yet, and looks at them.
    pub fn find_threads(
        &mut self,
        time_ns: i64,
        (reader, sleep_counts): (&mut Reader, &mut SleepCounts),
        note: &mut impl FnMut(Change<'_>),
    ) -> Result<(), ObserveError> {
        if time_ns < self.threads_due_ns {
            return Ok(());
        }
        self.threads_due_ns = time_ns.saturating_add(THREADS_INTERVAL_NS);
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
            let fate = thread.look((self.pid, time_ns), (reader, sleep_counts), note)?;
            if fate != Fate::Left || thread.is_ours() {
                self.threads.push(thread);
            }
        }
        Ok(())
    }

    /// The children that its first thread started, if it is known to start any, or those of all
    /// threads.
    pub fn children(
        &mut self,
        of_all_threads: bool,
        buffer: &mut Buffer,
    ) -> Result<Vec<u32>, ObserveError> {
        let mut children = Vec::new();
        if self.is_parent || of_all_threads {
            children = pids(&mut self.children, buffer)?;
        }
        if of_all_threads {
            for thread in self.threads.iter().filter(|thread| thread.tid != self.pid) {
                children.extend(pids(&mut children_file(&self.tasks, thread.tid), buffer)?);
            }
        }
        self.is_parent |= !children.is_empty();
        Ok(children)
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
