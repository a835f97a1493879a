//! One connection of the driver. One file a protocol; `null` answers at once.

pub mod null;

use std::path::Path;

/// Rows of the last operation, counted and digested after the clock was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fetched {
    /// Rows.
    pub rows: u64,
    /// Order-insensitive digest, see [`crate::digest`].
    pub digest: u64,
    /// Digest in the order in which rows came.
    pub ordered_digest: u64,
}

/// Why an operation failed, in the engine's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{class}: {message}")]
pub struct SessionError {
    /// Class that errors are counted by: an SQLSTATE, or the engine's name of the error.
    pub class: String,
    /// What the engine said.
    pub message: String,
    /// Whether the same operation may succeed when it is sent again.
    pub retryable: bool,
}

/// Ends what a session is executing, from another thread.
pub type Canceller = Box<dyn Fn() + Send + Sync>;

/// One connection: executes operations by their number in the plan.
pub trait Session: Send {
    /// Sends the operation and fetches every row. This is what is timed.
    fn execute(&mut self, operation: u16) -> Result<(), SessionError>;

    /// Counts and digests the rows of the last `execute`. Not timed.
    fn fetched(&mut self) -> Result<Fetched, SessionError>;

    /// Writes the rows of the last `execute` as an Arrow file. Not timed.
    fn keep(&mut self, path: &Path) -> Result<(), SessionError>;

    /// Lets go of the rows of the last `execute`, so that freeing them is not timed either.
    fn release(&mut self) {}

    /// What ends a running `execute`, if the protocol knows such a thing.
    fn canceller(&self) -> Option<Canceller> {
        None
    }
}
