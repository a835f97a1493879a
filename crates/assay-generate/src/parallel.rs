//! Makes the parts of a table on several threads and hands them on in order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use arrow_array::{Array, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use xxhash_rust::xxh3::Xxh3;

use crate::Parts;

/// Finished parts that may wait for the reader, for each thread. Bounds the memory.
const PARTS_AHEAD: usize = 3;

/// Counts of the rows that were handed on so far. The thread that shows progress reads them, and can
/// end the stream.
#[derive(Default)]
pub struct Meter {
    rows: AtomicU64,
    checksum: AtomicU64,
    ended: AtomicBool,
}

impl Meter {
    /// Rows handed on.
    pub fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }

    /// Checksum of all parts handed on, in order: XXH3 over the parts' buffers.
    pub fn checksum(&self) -> u64 {
        self.checksum.load(Ordering::Relaxed)
    }

    /// Has the stream's next read fail, whoever reads it.
    pub fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }
}

/// A table as a stream of record batches, in the order of its parts.
pub struct TableStream {
    schema: SchemaRef,
    parts: u32,
    next: u32,
    early: BTreeMap<u32, RecordBatch>,
    incoming: Mutex<Receiver<(u32, RecordBatch)>>,
    stopped: Arc<AtomicBool>,
    meter: Arc<Meter>,
}

impl TableStream {
    /// Starts `threads` threads (at least one) that make the parts of `table`; `meter` counts what
    /// is handed on.
    pub fn start(table: Box<dyn Parts>, threads: usize, meter: Arc<Meter>) -> Self {
        let table: Arc<dyn Parts> = Arc::from(table);
        let threads = threads.clamp(1, table.parts() as usize);
        let (sender, incoming) = sync_channel(threads * PARTS_AHEAD);
        let (turn, stopped) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicBool::new(false)));
        for _ in 0..threads {
            let (table, turn) = (Arc::clone(&table), Arc::clone(&turn));
            let (sender, stopped) = (sender.clone(), Arc::clone(&stopped));
            thread::spawn(move || make_parts(table.as_ref(), &turn, &stopped, &sender));
        }
        Self {
            schema: table.schema(),
            parts: table.parts(),
            next: 0,
            early: BTreeMap::new(),
            incoming: Mutex::new(incoming),
            stopped,
            meter,
        }
    }

    fn receive(&mut self) -> Option<RecordBatch> {
        loop {
            if let Some(batch) = self.early.remove(&self.next) {
                return Some(batch);
            }
            let incoming = self.incoming.get_mut().ok()?.recv().ok()?;
            self.early.insert(incoming.0, incoming.1);
        }
    }
}

fn make_parts(
    table: &dyn Parts,
    turn: &AtomicU32,
    stopped: &AtomicBool,
    sender: &SyncSender<(u32, RecordBatch)>,
) {
    while !stopped.load(Ordering::Relaxed) {
        let part = turn.fetch_add(1, Ordering::Relaxed);
        if part >= table.parts() || sender.send((part, table.make(part))).is_err() {
            return;
        }
    }
}

impl Drop for TableStream {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}

impl Iterator for TableStream {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.parts {
            return None;
        }
        if self.meter.ended.load(Ordering::Relaxed) {
            self.next = self.parts;
            return Some(Err(ArrowError::ComputeError("loading was ended".into())));
        }
        let Some(batch) = self.receive() else {
            let missing = format!("part {} of the table was not made", self.next);
            self.next = self.parts;
            return Some(Err(ArrowError::ComputeError(missing)));
        };
        self.next += 1;
        let before = self.meter.checksum.load(Ordering::Relaxed);
        self.meter.checksum.store(checksum(before, &batch), Ordering::Relaxed);
        self.meter.rows.fetch_add(batch.num_rows() as u64, Ordering::Relaxed);
        Some(Ok(batch))
    }
}

impl RecordBatchReader for TableStream {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

fn checksum(before: u64, batch: &RecordBatch) -> u64 {
    let mut hash = Xxh3::with_seed(before);
    for column in batch.columns() {
        for buffer in column.to_data().buffers() {
            hash.update(buffer.as_slice());
        }
    }
    hash.digest()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drained(threads: usize) -> (u64, u64) {
        let (table, meter): (_, Arc<Meter>) =
            (crate::table("tpch", "orders", 0.05, 0, None).unwrap(), Arc::default());
        let mut stream = TableStream::start(table, threads, Arc::clone(&meter));
        assert!(stream.all(|batch| batch.is_ok()));
        (meter.rows(), meter.checksum())
    }

    #[test]
    fn the_same_bytes_however_many_threads() {
        let (rows, checksum) = drained(1);
        assert_eq!(rows, 75_000);
        assert_eq!(drained(7), (rows, checksum));
    }

    #[test]
    fn a_stream_that_was_ended_fails_once_and_has_no_more_rows() {
        let (table, meter): (_, Arc<Meter>) =
            (crate::table("tpch", "lineitem", 0.1, 0, None).unwrap(), Arc::default());
        let mut stream = TableStream::start(table, 2, Arc::clone(&meter));
        assert!(stream.next().unwrap().is_ok());
        let rows = meter.rows();
        meter.end();
        assert!(stream.next().unwrap().is_err());
        assert!(stream.next().is_none());
        assert_eq!(meter.rows(), rows);
    }

    #[test]
    fn a_reader_that_leaves_early_ends_the_threads() {
        let mut stream = TableStream::start(
            crate::table("tpch", "lineitem", 0.1, 0, None).unwrap(),
            2,
            Arc::default(),
        );
        assert!(stream.next().is_some());
        drop(stream);
    }
}
