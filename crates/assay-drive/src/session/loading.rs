//! Rows into a table over several connections that take batches from one source, whatever they
//! speak. The first error ends all of them.

use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use arrow_array::{RecordBatch, RecordBatchReader};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Why rows could not be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("table {table}: {reason}")]
pub struct LoadError {
    /// Which table.
    pub table: String,
    /// What is wrong, in the server's words where they are its.
    pub reason: String,
}

/// What a connection says that ends because another one failed.
const GAVE_UP: &str = "given up, because another connection failed";

/// Batches that all connections take from, until one of them fails.
pub struct Source<R> {
    rows: Mutex<R>,
    failed: AtomicBool,
}

impl<R: RecordBatchReader> Source<R> {
    /// The next batch; `None`: all were taken.
    ///
    /// # Errors
    /// If the rows cannot be had, or another connection failed.
    pub fn next_batch(&self) -> Result<Option<RecordBatch>, String> {
        if self.failed.load(Ordering::Relaxed) {
            return Err(GAVE_UP.into());
        }
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        rows.next().transpose().map_err(|error| error.to_string())
    }
}

/// Has so many threads load what they take from the rows, and adds up what they return.
pub fn over_streams<R, T>(
    table: &str,
    rows: R,
    streams: usize,
    load: impl Fn(&Source<R>) -> Result<T, String> + Sync,
) -> Result<Vec<T>, LoadError>
where
    R: RecordBatchReader + Send,
    T: Send,
{
    let source = Source { rows: Mutex::new(rows), failed: AtomicBool::new(false) };
    let loaded = thread::scope(|scope| {
        let work = || {
            let loaded = load(&source);
            if loaded.is_err() {
                source.failed.store(true, Ordering::Relaxed);
            }
            loaded
        };
        let workers: Vec<_> = (0..streams.max(1)).map(|_| scope.spawn(work)).collect();
        let ended = workers.into_iter().map(|worker| {
            worker.join().unwrap_or_else(|_| Err("the loading thread broke down".into()))
        });
        let (good, bad): (Vec<_>, Vec<_>) = ended.partition(Result::is_ok);
        // The first error is the one that says why; the others only say that they gave up.
        let mut reasons: Vec<String> = bad.into_iter().filter_map(Result::err).collect();
        reasons.sort_by_key(|reason| reason == GAVE_UP);
        match reasons.into_iter().next() {
            None => Ok(good.into_iter().flatten().collect()),
            Some(reason) => Err(reason),
        }
    });
    loaded.map_err(|reason| LoadError { table: table.into(), reason })
}

/// Whether a server has said something.
pub fn spoke(line: BorrowedFd<'_>) -> bool {
    let mut watched = [PollFd::from_borrowed_fd(line, PollFlags::IN)];
    poll(&mut watched, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}
