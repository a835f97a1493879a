//! `/proc/<pid>/statm`: memory of one process in pages, far cheaper than its `status`.

use std::path::Path;

use crate::text::{Line, words};
use crate::{KernelError, Units};

/// Gauges of resident memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statm {
    /// Resident memory.
    pub rss_bytes: u64,
    /// The part of it that lies in files and in memory shared with other processes.
    pub shared_bytes: u64,
}

impl Statm {
    /// Reads the text of one statm file.
    pub fn parse(path: &Path, text: &[u8], units: &Units) -> Result<Self, KernelError> {
        let line = Line { path, text };
        let mut fields = words(text).skip(1);
        Ok(Self {
            rss_bytes: line.scaled("resident", fields.next(), units.page_bytes)?,
            shared_bytes: line.scaled("shared", fields.next(), units.page_bytes)?,
        })
    }

    /// Resident memory that is the process's alone, or shared since a fork until it is written.
    pub fn private_bytes(&self) -> u64 {
        self.rss_bytes.saturating_sub(self.shared_bytes)
    }
}
