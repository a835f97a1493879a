//! A session without an engine: it answers at once, or after a set delay, or with a set error.
//! It shows what the laboratory itself costs.

use std::path::Path;

use super::{Fetched, Session, SessionError};
use crate::clock::{Clock, MonotonicClock};

/// What the null session does with operation number `n` (counted from 0 in this session).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// How long it takes.
    pub delay_ns: i64,
    /// Whether it fails.
    pub fails: bool,
}

/// Answers after a delay that a script gives.
pub struct NullSession<C, F> {
    clock: C,
    script: F,
    executed: u64,
}

impl<C: Clock, F: FnMut(u64) -> Answer> NullSession<C, F> {
    /// A session whose answers a script gives, on a clock that is handed in.
    pub const fn scripted(clock: C, script: F) -> Self {
        Self { clock, script, executed: 0 }
    }
}

/// A session that waits `delay_ns` and fails every `fail_every`-th operation (0: none).
pub fn steady(delay_ns: i64, fail_every: u64) -> impl Session {
    NullSession::scripted(MonotonicClock, move |number| Answer {
        delay_ns,
        fails: fail_every != 0 && (number + 1).is_multiple_of(fail_every),
    })
}

impl<C: Clock, F: FnMut(u64) -> Answer> NullSession<C, F> {
    fn answer(&mut self) -> Result<(), SessionError> {
        let answer = (self.script)(self.executed);
        self.executed += 1;
        if answer.delay_ns > 0 {
            let until_ns = self.clock.now_ns() + answer.delay_ns;
            while self.clock.now_ns() < until_ns {
                self.clock.sleep_until(until_ns);
            }
        }
        if answer.fails {
            return Err(SessionError {
                class: "null_failure".into(),
                message: "the null engine was told to fail here".into(),
                retryable: true,
            });
        }
        Ok(())
    }
}

impl<C: Clock + Send, F: FnMut(u64) -> Answer + Send> Session for NullSession<C, F> {
    fn execute(&mut self, _operation: u16) -> Result<(), SessionError> {
        self.answer()
    }

    fn fetched(&mut self) -> Result<Fetched, SessionError> {
        Ok(Fetched::default())
    }

    fn keep(&mut self, _path: &Path) -> Result<(), SessionError> {
        Ok(())
    }
}
