//! What can keep a profile from being taken, with what would mend it.

use std::io;
use std::path::PathBuf;

use assay_record::StreamError;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// The kernel does not let us sample.
    #[error("the kernel refuses CPU samples ({source}): {mend}")]
    Refused {
        /// What it said.
        source: io::Error,
        /// What a person can do.
        mend: String,
    },
    /// The kernel does not let us trace requests of block devices.
    #[error("the kernel refuses to trace block requests ({source}): {mend}")]
    NotTraced {
        /// What it said.
        source: io::Error,
        /// What a person can do.
        mend: &'static str,
    },
    /// There was nothing to sample.
    #[error("process {0} is not there; nothing to sample")]
    NoProcess(u32),
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
    /// The sampler's thread ended by a panic: a defect of this crate.
    #[error("the profile probe panicked; its streams end early")]
    Panicked,
}
