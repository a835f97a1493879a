//! What a session's connection counts, for readers in other threads: SQLite's own figures are for the
//! thread that works with the connection.

use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::{Connection, ffi};

use super::library::counted;

/// Names of what is counted, in the order of `Counts::read`: what SQLite counts, then each `Figure`.
pub const COUNTED: [&str; 10] = [
    "cache_hit",
    "cache_miss",
    "cache_write",
    "cache_spill",
    "temporary_spill",
    "lock_waits",
    "lock_wait_ns",
    "checkpoints",
    "checkpoints_in_part",
    "checkpoint_ns",
];
/// `SQLITE_DBSTATUS_TEMPBUF_SPILL`, bytes.
const TEMPORARY_SPILL: c_int = 13;
const CODES: [c_int; Figure::LockWaits as usize] = [
    ffi::SQLITE_DBSTATUS_CACHE_HIT,
    ffi::SQLITE_DBSTATUS_CACHE_MISS,
    ffi::SQLITE_DBSTATUS_CACHE_WRITE,
    ffi::SQLITE_DBSTATUS_CACHE_SPILL,
    TEMPORARY_SPILL,
];
/// SQLite's figures have 31 bits.
const WRAP_MASK: u32 = 0x7fff_ffff;

/// What is counted where it happens, by its place in `COUNTED`.
#[derive(Clone, Copy, Debug)]
pub enum Figure {
    /// Locks of the file that were not there at once.
    LockWaits = 5,
    /// Time asleep until they were.
    LockWaitNs,
    /// Checkpoints of this connection, whether or not they came to the end of the log.
    Checkpoints,
    /// Those that did not, because somebody reads older pages.
    CheckpointsInPart,
    /// Time that they took.
    CheckpointNs,
}

/// Figures since the connection was opened, as they were after its last operation.
#[derive(Debug, Default)]
pub struct Counts([AtomicU64; COUNTED.len()]);

impl Counts {
    /// The figures, in the order of `COUNTED`.
    pub fn read(&self) -> [u64; COUNTED.len()] {
        self.0.each_ref().map(|count| count.load(Ordering::Relaxed))
    }

    /// Counts something as it happens.
    pub fn add(&self, figure: Figure, count: u64) {
        self.0[figure as usize].fetch_add(count, Ordering::Relaxed);
    }
}

/// Brings a connection's figures to its `Counts`.
#[derive(Debug, Default)]
pub struct Counting {
    last_counts: [u32; CODES.len()],
}

impl Counting {
    /// Reads the figures anew.
    pub fn tell(&mut self, connection: &Connection, counts: &Counts) {
        for ((code, last), count) in CODES.iter().zip(&mut self.last_counts).zip(&counts.0) {
            let now = counted(connection, *code);
            count.fetch_add(grown(std::mem::replace(last, now), now), Ordering::Relaxed);
        }
    }
}

fn grown(before: u32, now: u32) -> u64 {
    u64::from(now.wrapping_sub(before) & WRAP_MASK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_that_wrapped_has_grown() {
        assert_eq!(grown(5, 7), 2);
        assert_eq!(grown(WRAP_MASK, 1), 2);
        assert_eq!(grown(9, 9), 0);
    }
}
