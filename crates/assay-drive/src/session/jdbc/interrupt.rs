//! Ends what a session's database is doing: first by asking the bridge, then by closing the line.

use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::link::{Config, Link};

/// Between two requests to the bridge.
const ASK_AGAIN: Duration = Duration::from_secs(1);
/// A database that has not answered by then does not answer at all.
const PATIENCE: Duration = Duration::from_secs(10);
/// The watchdog of all sessions waits meanwhile.
const ANSWER_PATIENCE: Duration = Duration::from_secs(2);

#[derive(Default)]
struct State {
    line: Option<(Config, i32, UnixStream)>,
    /// Which operation is being interrupted, since when, and when the bridge was asked last.
    asked: Option<(u64, Instant, Instant)>,
}

/// Shared by a session and its watchdog.
#[derive(Default)]
pub struct Interrupt {
    operation: AtomicU64,
    state: Mutex<State>,
}

impl Interrupt {
    /// The session has a new connection.
    pub fn connected(&self, config: &Config, link: &Link) {
        let line = link.stream().try_clone().ok();
        let line = line.map(|line| (config.clone(), link.number(), line));
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = State { line, asked: None };
    }

    /// The connection is gone.
    pub fn lost(&self) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = State::default();
    }

    /// The session begins an operation.
    pub fn begin(&self) {
        self.operation.fetch_add(1, Ordering::Relaxed);
    }

    /// Interrupts the operation under way. Called again and again until it has ended.
    pub fn ask(&self) {
        let operation = self.operation.load(Ordering::Relaxed);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let (first, due) = match state.asked {
            Some((asked, first, last)) if asked == operation => {
                (first, now.duration_since(last) >= ASK_AGAIN)
            }
            _ => (now, true),
        };
        let Some((config, number, line)) = &state.line else { return };
        if now.duration_since(first) >= PATIENCE {
            // An error means that the line is closed already.
            let _ = line.shutdown(Shutdown::Both);
        } else if due {
            // Whether it helped is seen by the operation's end.
            let _ = Link::cancel(config, *number, ANSWER_PATIENCE);
        }
        if due {
            state.asked = Some((operation, first, now));
        }
    }
}
