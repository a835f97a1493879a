//! Ends operations that take too long, and everything when the run is to stop. The worker only
//! stores a time; all looking is done here, on another thread.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use crate::session::{Canceller, SessionError};

/// Not executing anything.
const IDLE: i64 = 0;

/// What one session is doing, for the watchdog.
#[derive(Default)]
pub struct Watch {
    canceller: Option<Canceller>,
    started_ns: AtomicI64,
    deadline_hit: AtomicBool,
    stopped: AtomicBool,
}

/// Whether the watchdog cut the operation short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// It did not.
    No,
    /// It took longer than the plan allows.
    Deadline,
    /// The run was stopped.
    Stopped,
}

impl Cut {
    /// An error that the watchdog caused is counted under the watchdog's reason.
    pub fn relabel(self, error: SessionError) -> SessionError {
        let class = match self {
            Self::No => return error,
            Self::Deadline => "deadline",
            Self::Stopped => "cancelled",
        };
        SessionError { class: class.into(), message: error.message, retryable: false }
    }
}

impl Watch {
    /// A watch over a session that `canceller` can interrupt.
    pub fn new(canceller: Option<Canceller>) -> Self {
        Self { canceller, ..Self::default() }
    }

    /// An operation was started. Without a canceller there is nothing to tell.
    pub fn begin(&self, started_ns: i64) {
        if self.canceller.is_some() {
            self.started_ns.store(started_ns, Ordering::Release);
        }
    }

    /// The operation ended; tells whether it was cut.
    pub fn end(&self) -> Cut {
        if self.canceller.is_none() {
            return Cut::No;
        }
        self.started_ns.store(IDLE, Ordering::Release);
        if self.stopped.load(Ordering::Acquire) {
            Cut::Stopped
        } else if self.deadline_hit.swap(false, Ordering::AcqRel) {
            Cut::Deadline
        } else {
            Cut::No
        }
    }

    /// Looks once: interrupts the session if the run stops or its operation is over the deadline.
    pub fn look(&self, now_ns: i64, deadline_ns: i64, stop: bool) {
        let started_ns = self.started_ns.load(Ordering::Acquire);
        let Some(canceller) = &self.canceller else { return };
        if started_ns == IDLE {
            return;
        }
        let late = deadline_ns > 0 && now_ns - started_ns > deadline_ns;
        if stop {
            self.stopped.store(true, Ordering::Release);
        } else if late {
            self.deadline_hit.store(true, Ordering::Release);
        } else {
            return;
        }
        // The operation may have ended meanwhile; interrupting the next one would be wrong.
        if self.started_ns.load(Ordering::Acquire) == started_ns {
            canceller();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn only_a_late_operation_is_interrupted() {
        let calls = Arc::new(AtomicU32::new(0));
        let seen = Arc::clone(&calls);
        let watch = Watch::new(Some(Box::new(move || {
            seen.fetch_add(1, Ordering::Relaxed);
        })));
        watch.look(1_000, 10, true);
        watch.begin(1_000);
        watch.look(1_005, 10, false);
        assert_eq!(calls.load(Ordering::Relaxed), 0);
        watch.look(1_011, 10, false);
        assert_eq!(calls.load(Ordering::Relaxed), 1);
        assert_eq!(watch.end(), Cut::Deadline);
        assert_eq!(watch.end(), Cut::No);
    }
}
