//! An attempt to connect, which another thread can end at any time, such as the watchdog of the run.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::net::{Shutdown, shutdown};

#[derive(Debug, Default)]
struct State {
    is_given_up: bool,
    /// The line that is dialled, or over which the client logs in.
    line: Option<OwnedFd>,
}

/// An attempt to connect. Its clones are the same attempt.
#[derive(Clone, Debug, Default)]
pub struct Attempt(Arc<Mutex<State>>);

impl Attempt {
    /// Ends the attempt: its line is shut down, and it dials no other address.
    pub fn give_up(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.is_given_up = true;
        if let Some(line) = &state.line {
            let _: rustix::io::Result<()> = shutdown(line, Shutdown::Both);
        }
    }

    /// Whether the attempt was given up.
    pub fn is_given_up(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_given_up
    }

    /// An error if the attempt was given up.
    pub fn check(&self) -> io::Result<()> {
        if self.is_given_up() {
            return Err(io::Error::other("the attempt to connect was given up"));
        }
        Ok(())
    }

    /// Takes the line that is used from now on, instead of the one before.
    pub fn hold(&self, line: impl AsFd) -> io::Result<()> {
        let line = line.as_fd().try_clone_to_owned()?;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).line = Some(line);
        self.check()
    }
}
