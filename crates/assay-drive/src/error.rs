//! What can end a run from inside the driver.

use std::path::PathBuf;

use assay_model::PlanError;
use assay_record::StreamError;

/// An error of the measuring path. It ends the run; it is never counted as an operation's.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// The plan could not be carried out.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A session could not be opened.
    #[error("session {session} could not be opened: {reason}")]
    Open {
        /// Which one.
        session: u32,
        /// What the engine said.
        reason: String,
    },
    /// The record could not be written.
    #[error("{}: cannot write the record: {reason}", path.display())]
    Record {
        /// Which file.
        path: PathBuf,
        /// The operating system's error text.
        reason: String,
    },
    /// A stream of the record could not be written.
    #[error("cannot write the record: {0}")]
    Stream(#[from] StreamError),
    /// The system refused the driver something.
    #[error("the system refused {what}: {reason}")]
    System {
        /// What was asked for.
        what: &'static str,
        /// The operating system's error text.
        reason: String,
    },
    /// A driver thread ended in a panic: a defect of ours.
    #[error("the driver's {0} thread broke down; this is a defect of the driver")]
    Thread(&'static str),
}

impl DriveError {
    /// An error of writing `path`.
    pub fn record(path: impl Into<PathBuf>, reason: impl std::fmt::Display) -> Self {
        Self::Record { path: path.into(), reason: reason.to_string() }
    }
}
