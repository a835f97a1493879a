//! Ends what a session's server is doing: first by asking for it, then by closing the line.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::attempt::Attempt;

/// Between two requests.
const ASK_AGAIN: Duration = Duration::from_secs(1);
/// A server that has not answered by then does not answer at all.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long one request may take: the watchdog of all sessions waits meanwhile.
pub const ANSWER_PATIENCE: Duration = Duration::from_secs(2);

/// How one connection is interrupted.
pub struct Means {
    /// Asks that what it executes be ended. Whether it helped is seen by the operation's end.
    pub ask: Box<dyn Fn() + Send>,
    /// Closes the line, which may be closed already.
    pub cut: Box<dyn Fn() + Send>,
}

#[derive(Default)]
struct State {
    means: Option<Means>,
    /// Which operation is being interrupted, since when, and when was asked last.
    asked: Option<(u64, Instant, Instant)>,
}

/// Shared by a session and its watchdog.
#[derive(Default)]
pub struct Interrupt {
    operation: AtomicU64,
    state: Mutex<State>,
}

impl Interrupt {
    /// The session makes a new connection.
    pub fn connecting(&self, attempt: &Attempt) {
        let (ask, cut) = (attempt.clone(), attempt.clone());
        self.connected(Some(Means {
            ask: Box::new(move || ask.give_up()),
            cut: Box::new(move || cut.give_up()),
        }));
    }

    /// The session has a new connection; `None`: nothing interrupts it.
    pub fn connected(&self, means: Option<Means>) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = State { means, asked: None };
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
        let Some(means) = &state.means else { return };
        if now.duration_since(first) >= PATIENCE {
            (means.cut)();
        } else if due {
            (means.ask)();
        }
        if due {
            state.asked = Some((operation, first, now));
        }
    }
}
