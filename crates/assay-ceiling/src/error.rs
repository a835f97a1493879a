//! What can go wrong with a trial, and how it is mended.

use std::io;
use std::path::{Path, PathBuf};

use assay_record::StreamError;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum CeilingError {
    /// The file system does not pass the page cache by.
    #[error(
        "{} is on a file system without O_DIRECT ({source}), so reads would come from memory. \
         Name a directory on a disk with --dir.", .directory.display()
    )]
    NoDirect {
        /// Where the file should be.
        directory: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// The disk is full, or the owner's quota is.
    #[error(
        "the disk is full: {} took {written_bytes} of {size_bytes} bytes. They are given back; free \
         some space, or give a smaller --size.", .directory.display()
    )]
    Full {
        /// Where the file is.
        directory: PathBuf,
        /// What it has taken.
        written_bytes: u64,
        /// What it should take.
        size_bytes: u64,
    },
    /// The file could not be made, read or written.
    #[error("{what} in {}: {source}", .directory.display())]
    File {
        /// What was to be done.
        what: &'static str,
        /// Where the file is.
        directory: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// A system call that is about no file failed.
    #[error("{what}: {source}")]
    System {
        /// What was to be done.
        what: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// A trial that cannot be made.
    #[error("no such trial: {0}")]
    Trial(String),
    /// A stream of the record could not be written.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// A thread of a trial ended by a panic: a defect of this crate.
    #[error("a thread of a trial panicked")]
    Panicked,
}

impl CeilingError {
    pub(crate) fn file(what: &'static str, directory: &Path, source: io::Error) -> Self {
        Self::File { what, directory: directory.to_owned(), source }
    }

    pub(crate) fn system(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { what, source }
    }
}
