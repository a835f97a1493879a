//! Errors of reading the kernel's files. Each names its file.

use std::io;
use std::path::{Path, PathBuf};

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// A line of a kernel file does not look as documented in proc(5).
    #[error("{}: cannot read {field} as a number in line {line:?}", path.display())]
    BadField {
        /// The file.
        path: PathBuf,
        /// The field, in the kernel's words.
        field: String,
        /// The line, shortened to what a person reads.
        line: String,
    },
    /// A file could not be opened, read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
}

impl KernelError {
    /// An error of the operating system, about this file.
    pub fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }
}
