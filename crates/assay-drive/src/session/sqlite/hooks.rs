//! What SQLite leaves to whoever holds a connection: to wait for a file that another connection has locked,
//! and to write pages of the log into the file. Both are counted.

use std::ffi::c_int;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rusqlite::hooks::Wal;
use rusqlite::wal::CheckpointMode;

use super::counts::{Counts, Figure};

/// Between two looks at a lock. SQLite's own waits grow to a tenth of a second, so that of several connections
/// some find it taken for seconds, while nobody has it for much of that time.
const PAUSE: Duration = Duration::from_micros(250);

/// Has a connection wait and write checkpoints as its pragmas say, and count both.
///
/// # Errors
/// If SQLite does not tell its pragmas, or refuses the hooks.
pub fn install(connection: &mut Connection, counts: &Arc<Counts>) -> Result<(), rusqlite::Error> {
    let asked = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let wait_max = Duration::from_millis(asked("busy_timeout")?.unsigned_abs());
    let pages = asked("wal_autocheckpoint")?;
    if !wait_max.is_zero() {
        let mut waiting = Waiting { begun: Instant::now(), wait_max, counts: Arc::clone(counts) };
        connection.busy_handler(Some(move |before| waiting.go_on(before)))?;
    }
    if pages > 0 {
        let counts = Arc::clone(counts);
        connection.wal_hook(Some(move |log: &mut Wal, held: c_int| {
            if i64::from(held) >= pages {
                checkpoint(log, &counts);
            }
            Ok(())
        }))?;
    }
    Ok(())
}

/// A wait for the file's lock.
struct Waiting {
    begun: Instant,
    wait_max: Duration,
    counts: Arc<Counts>,
}

impl Waiting {
    /// Sleeps for a while, unless it was long enough; whether SQLite is to try again. `before`: how often it
    /// has asked for this lock.
    fn go_on(&mut self, before: i32) -> bool {
        let now = Instant::now();
        if before == 0 {
            self.begun = now;
            self.counts.add(Figure::LockWaits, 1);
        }
        if now - self.begun >= self.wait_max {
            return false;
        }
        std::thread::sleep(PAUSE);
        self.counts.add(Figure::LockWaitNs, now.elapsed().as_nanos() as u64);
        true
    }
}

/// Writes what it can of the log into the file without waiting for anybody, as SQLite does by itself; that it
/// could not is nobody's error, for the next commit tries again.
fn checkpoint(log: &mut Wal, counts: &Counts) {
    let begun = Instant::now();
    let Ok((held, written)) = log.checkpoint_v2(CheckpointMode::PASSIVE) else { return };
    counts.add(Figure::Checkpoints, 1);
    counts.add(Figure::CheckpointNs, begun.elapsed().as_nanos() as u64);
    counts.add(Figure::CheckpointsInPart, u64::from(written < held));
}
