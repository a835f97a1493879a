//! What can go wrong while observing, with the place where it did.

use std::io;
use std::path::{Path, PathBuf};

use assay_record::StreamError;

use crate::probe::ProbeKind;

/// An error of this crate. Each names the file it is about.
#[derive(Debug, thiserror::Error)]
pub enum ObserveError {
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
        /// What the operating system said.
        source: io::Error,
    },
    /// A stream of the record could not be written.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// The host did not tell a unit that its counters are printed in.
    #[error("sysconf does not give {0}; counters of /proc cannot be converted")]
    Unit(&'static str),
    /// Processes were given to a probe that looks at the whole host.
    #[error("the {} probe follows no processes; give them to the processes or the waits probe", .0.name())]
    FollowsNothing(ProbeKind),
    /// A sampler was asked for something after it had ended.
    #[error("the {} probe has ended: {reason}", kind.name())]
    Ended {
        /// The probe.
        kind: ProbeKind,
        /// Why it ended.
        reason: String,
    },
    /// The sampler's thread ended by a panic: a defect of this crate.
    #[error("the {} probe panicked; its streams end early", .0.name())]
    Panicked(ProbeKind),
}

impl ObserveError {
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }
}
