//! Ends what a session's server is doing: first by asking the server, then by closing the line.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::sys::socket::{Shutdown, shutdown};
use std::os::fd::AsRawFd;

use super::cancel::Cancel;
use super::config::Config;
use super::startup::Connection;

/// Between two requests to the server.
const ASK_AGAIN: Duration = Duration::from_secs(1);
/// A server that has not answered by then does not answer at all.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Default)]
struct State {
    line: Option<(Cancel, OwnedFd)>,
    /// Which operation is being interrupted, since when, and when the server was asked last.
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
    pub fn connected(&self, config: &Config, connection: &Connection) {
        let line = connection.stream.as_fd().try_clone_to_owned().ok();
        let line = line.map(|line| (Cancel::new(config, connection), line));
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
        let Some((cancel, line)) = &state.line else { return };
        if now.duration_since(first) >= PATIENCE {
            // An error means that the line is closed already.
            let _ = shutdown(line.as_raw_fd(), Shutdown::Both);
        } else if due {
            // Whether it helped is seen by the operation's end.
            let _ = cancel.send();
        }
        if due {
            state.asked = Some((operation, first, now));
        }
    }
}
