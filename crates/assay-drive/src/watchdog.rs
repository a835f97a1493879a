//! Ends operations that take too long, and everything when the run is to stop. The worker only
//! stores a time; all looking is done here, on another thread.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, Ordering};

use assay_model::Plan;

use crate::session::{Canceller, SessionError};

const IDLE: u8 = 0;
const RUNNING: u8 = 1;
/// The watchdog is calling the canceller; the worker waits before it goes on, so that it is never
/// the next operation that is interrupted.
const CANCELLING: u8 = 2;

/// What begins the SQLSTATE of an error of the connection.
const CONNECTION: &str = "08";

/// What one session is doing, for the watchdog.
#[derive(Default)]
pub struct Watch {
    canceller: Option<Canceller>,
    state: AtomicU8,
    started_ns: AtomicI64,
    stopped: AtomicBool,
}

/// Whether the run was stopped while the operation was under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// It was not.
    No,
    /// It was, and the session was interrupted.
    Stopped,
}

impl Cut {
    /// What an operation's result counts as. One that took longer than the plan allows has failed,
    /// whether or not the watchdog interrupted it in time; an error of ours has our reason.
    pub fn judge(self, result: Result<(), SessionError>, late: bool) -> Result<(), SessionError> {
        let class = match (self, late) {
            (Self::Stopped, _) if result.is_err() => "cancelled",
            (_, true) => "deadline",
            _ => return result,
        };
        let message = result.err().map_or_else(
            || "it took longer than the plan allows".to_owned(),
            |error| error.message,
        );
        Err(SessionError { class: class.into(), message, retryable: false })
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
            self.started_ns.store(started_ns, Ordering::Relaxed);
            self.state.store(RUNNING, Ordering::Release);
        }
    }

    /// The operation ended; tells whether it was interrupted because the run stops.
    pub fn end(&self) -> Cut {
        if self.canceller.is_none() {
            return Cut::No;
        }
        while self
            .state
            .compare_exchange_weak(RUNNING, IDLE, Ordering::AcqRel, Ordering::Acquire)
            .is_err()
        {
            std::thread::yield_now();
        }
        if self.stopped.load(Ordering::Acquire) { Cut::Stopped } else { Cut::No }
    }

    /// The operation ended: what its result counts as.
    pub fn judge(
        &self,
        plan: &Plan,
        started_ns: i64,
        finished_ns: i64,
        result: Result<(), SessionError>,
    ) -> Result<(), SessionError> {
        let limit_ns = plan.operation_deadline_ns;
        let late = limit_ns > 0 && finished_ns - started_ns > limit_ns;
        let lost = matches!(&result, Err(error) if error.class.starts_with(CONNECTION));
        let cut = self.end();
        let cut = if plan.loses_engine && lost { Cut::Stopped } else { cut };
        cut.judge(result, late)
    }

    /// Looks once: interrupts the session if the run stops or its operation is over the deadline.
    pub fn look(&self, now_ns: i64, deadline_ns: i64, stop: bool) {
        let Some(canceller) = &self.canceller else { return };
        let claimed = self
            .state
            .compare_exchange(RUNNING, CANCELLING, Ordering::AcqRel, Ordering::Acquire)
            .is_ok();
        if !claimed {
            return;
        }
        let late =
            deadline_ns > 0 && now_ns - self.started_ns.load(Ordering::Relaxed) > deadline_ns;
        if stop {
            self.stopped.store(true, Ordering::Release);
        }
        if stop || late {
            canceller();
        }
        self.state.store(RUNNING, Ordering::Release);
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
        assert_eq!(watch.end(), Cut::No, "the deadline is judged by the operation's own times");
        watch.look(2_000, 10, true);
        assert_eq!(calls.load(Ordering::Relaxed), 1, "nothing runs, nothing is interrupted");
    }

    #[test]
    fn an_operation_that_is_cut_by_the_end_of_the_run_says_so() {
        let watch = Watch::new(Some(Box::new(|| {})));
        watch.begin(1);
        watch.look(2, 0, true);
        let error = SessionError { class: "x".into(), message: "m".into(), retryable: true };
        let judged = watch.end().judge(Err(error), false).unwrap_err();
        assert_eq!((judged.class.as_str(), judged.retryable), ("cancelled", false));
    }

    #[test]
    fn a_lost_connection_is_no_failure_where_the_engine_is_to_be_killed() {
        let class_of = |loses_engine: bool, class: &str| {
            let plan: Plan = serde_json::from_value(serde_json::json!({
                "operations": [], "phases": [], "seed": 1, "loses_engine": loses_engine,
            }))
            .unwrap();
            let error = SessionError { class: class.into(), message: "m".into(), retryable: false };
            Watch::default().judge(&plan, 1, 2, Err(error)).unwrap_err().class
        };
        assert_eq!(class_of(true, "08006"), "cancelled");
        assert_eq!(class_of(true, "08001"), "cancelled");
        assert_eq!(class_of(true, "23505"), "23505", "what the engine refused has failed");
        assert_eq!(class_of(false, "08006"), "08006");
    }
}
