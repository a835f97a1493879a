//! `/proc/pressure/{cpu,io,memory}`: how long tasks stalled for want of a resource (PSI).

use std::path::Path;

use crate::KernelError;
use crate::text::{Line, lines, words};

const MICROSECOND_NS: u64 = 1_000;

/// Stall time since boot. The kernel's averages are rates, so they are not kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pressure {
    /// Time in which at least one task stalled.
    pub some_ns: Option<u64>,
    /// Time in which all tasks that could run stalled.
    pub full_ns: Option<u64>,
}

impl Pressure {
    /// Reads the text of one pressure file.
    pub fn parse(path: &Path, text: &[u8]) -> Result<Self, KernelError> {
        let mut pressure = Self::default();
        for text in lines(text) {
            let place = match words(text).next() {
                Some(b"some") => &mut pressure.some_ns,
                Some(b"full") => &mut pressure.full_ns,
                _ => continue,
            };
            let total = words(text).find_map(|word| word.strip_prefix(b"total="));
            *place = Some(Line { path, text }.scaled("total", total, MICROSECOND_NS)?);
        }
        Ok(pressure)
    }
}
