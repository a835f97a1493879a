//! What can go wrong while observing, with the place where it did.

use std::io;
use std::path::{Path, PathBuf};

use assay_kernel::KernelError;
use assay_record::StreamError;

use crate::probe::ProbeKind;

/// An error of this crate. Each names the file it is about.
#[derive(Debug, thiserror::Error)]
pub enum ObserveError {
    /// A file of the kernel could not be read, or looks otherwise than documented.
    #[error(transparent)]
    Kernel(#[from] KernelError),
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
