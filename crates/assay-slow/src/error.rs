//! What can keep an engine from being slowed.

use std::io;
use std::path::{Path, PathBuf};

use assay_record::StreamError;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum SlowError {
    /// A factor that slows nothing.
    #[error("a factor of {0}: it must be 1 or more, and no more than 100")]
    Factor(f64),
    /// None of the processes is there.
    #[error("none of the processes {0:?} is there; nothing to slow")]
    NoProcess(Vec<u32>),
    /// The kernel lets us not stop a process.
    #[error("process {pid} cannot be stopped ({source}): run as its user, or as root")]
    Refused {
        /// The process.
        pid: u32,
        /// What the operating system said.
        source: io::Error,
    },
    /// A file of the kernel could not be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The record could not be written.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// The thread ended by a panic: a defect of this crate.
    #[error("the thread that slows the engine panicked; its streams end early")]
    Panicked,
}

impl SlowError {
    pub(crate) fn io(path: &Path, source: impl Into<io::Error>) -> Self {
        Self::Io { path: path.to_owned(), source: source.into() }
    }
}
