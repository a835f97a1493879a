//! What a session's connection counts, for readers in other threads: SQLite's own figures are for the
//! thread that works with the connection.

use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::{Connection, ffi};

use super::library::counted;

/// Names of what is counted, in the order of `Counts::read`.
pub const COUNTED: [&str; 5] =
    ["cache_hit", "cache_miss", "cache_write", "cache_spill", "temporary_spill"];
/// `SQLITE_DBSTATUS_TEMPBUF_SPILL`, bytes.
const TEMPORARY_SPILL: c_int = 13;
const CODES: [c_int; COUNTED.len()] = [
    ffi::SQLITE_DBSTATUS_CACHE_HIT,
    ffi::SQLITE_DBSTATUS_CACHE_MISS,
    ffi::SQLITE_DBSTATUS_CACHE_WRITE,
    ffi::SQLITE_DBSTATUS_CACHE_SPILL,
    TEMPORARY_SPILL,
];
/// SQLite's figures have 31 bits.
const WRAP_MASK: u32 = 0x7fff_ffff;

/// Figures since the connection was opened, as they were after its last operation.
#[derive(Debug, Default)]
pub struct Counts([AtomicU64; COUNTED.len()]);

impl Counts {
    /// The figures, in the order of `COUNTED`.
    pub fn read(&self) -> [u64; COUNTED.len()] {
        self.0.each_ref().map(|count| count.load(Ordering::Relaxed))
    }
}

/// Brings a connection's figures to its `Counts`.
#[derive(Debug, Default)]
pub struct Counting {
    told: [u32; COUNTED.len()],
}

impl Counting {
    /// Reads the figures anew.
    pub fn tell(&mut self, connection: &Connection, counts: &Counts) {
        for ((code, told), count) in CODES.iter().zip(&mut self.told).zip(&counts.0) {
            let now = counted(connection, *code);
            count.fetch_add(grown(std::mem::replace(told, now), now), Ordering::Relaxed);
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
