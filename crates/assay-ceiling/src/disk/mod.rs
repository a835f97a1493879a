//! Trials of the disk, on a file of our own.

mod blocking;
mod buffer;
mod device;
mod file;
mod flush;
mod latencies;
mod offsets;
mod ring;

use std::time::{Duration, Instant};

use serde::Deserialize;

pub use device::DeviceCounters;
pub use file::{DIRECT_ALIGN_MAX, TrialFile};
pub use latencies::Latencies;
pub use ring::refusal as ring_refusal;

use crate::CeilingError;
use crate::usage::Usage;

/// Beyond that a request's buffers alone would take gigabytes.
const DEPTH_MAX: u32 = 1024;
const SIZE_MAX: u64 = 64 << 20;

/// What a trial does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// Reads.
    Read,
    /// Writes over what is there.
    Write,
    /// Writes through the page cache, each with fsync(2) behind it.
    Fsync,
    /// Writes through the page cache, each with fdatasync(2) behind it.
    Fdatasync,
}

/// Where the next request lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pattern {
    /// Behind the one before, from a random begin.
    Sequential,
    /// Anywhere in the file, at a multiple of the size.
    Random,
}

/// Whether the page cache lies between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cache {
    /// `O_DIRECT`.
    Direct,
    /// Through the page cache, which holds nothing of the file when the trial begins.
    Buffered,
}

/// How requests are handed to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Method {
    /// pread(2) and pwrite(2), as many threads as the depth.
    #[serde(rename = "pread")]
    Calls,
    /// A ring, by one thread.
    #[serde(rename = "io_uring")]
    Ring,
}

/// One trial, as it is asked for.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskTrial {
    /// The round it belongs to, from 1.
    pub round: u32,
    /// What it does.
    pub operation: Operation,
    /// Where.
    pub pattern: Pattern,
    /// Through what.
    pub cache: Cache,
    /// By which calls.
    pub method: Method,
    /// Requests under way at once.
    pub depth: u32,
    /// Bytes of a request.
    pub size_bytes: u64,
    /// For how long.
    pub time_ns: u64,
}

/// What a trial counted.
#[derive(Clone, Debug)]
pub struct Counted {
    /// Requests that ended within the time, and how long each took.
    pub latencies: Latencies,
    /// Requests that were made beside those: before the queue was full, and those that were under way
    /// when the time was over.
    pub outside: u64,
    /// From the begin to the end of the last of them.
    pub elapsed: Duration,
    /// CPU time of the threads that made them.
    pub usage: Usage,
    /// Of a ring: whether its buffers were registered.
    pub registered: Option<bool>,
}

impl Operation {
    /// The word of the record.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Fsync => "fsync",
            Self::Fdatasync => "fdatasync",
        }
    }
}

impl Pattern {
    /// The word of the record.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::Random => "random",
        }
    }
}

impl Cache {
    /// The word of the record.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Buffered => "buffered",
        }
    }
}

impl Method {
    /// The word of the record.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Calls => "pread",
            Self::Ring => "io_uring",
        }
    }
}

impl DiskTrial {
    fn flushes(&self) -> bool {
        matches!(self.operation, Operation::Fsync | Operation::Fdatasync)
    }

    fn check(&self, file: &TrialFile) -> Result<(), CeilingError> {
        let reason = if self.size_bytes == 0 || self.size_bytes > SIZE_MAX {
            format!("requests have 1 to {SIZE_MAX} bytes, not {}", self.size_bytes)
        } else if self.depth == 0 || self.depth > DEPTH_MAX {
            format!("1 to {DEPTH_MAX} requests are under way at once, not {}", self.depth)
        } else if self.cache == Cache::Direct
            && !self.flushes()
            && !self.size_bytes.is_multiple_of(file.direct_align_bytes())
        {
            let align = file.direct_align_bytes();
            format!("O_DIRECT here takes multiples of {align} bytes, not {}", self.size_bytes)
        } else if u64::from(self.depth) * self.size_bytes > file.size_bytes() {
            format!(
                "{} requests of {} bytes are more than the file has",
                self.depth, self.size_bytes
            )
        } else if self.flushes() && (self.depth != 1 || self.cache == Cache::Direct) {
            "what is flushed is written through the page cache, one at a time".to_owned()
        } else if self.method == Method::Ring && (self.flushes() || self.cache == Cache::Buffered) {
            "the ring is for O_DIRECT".to_owned()
        } else {
            return Ok(());
        };
        Err(CeilingError::Trial(reason))
    }
}

/// Makes a trial. What it wrote is on the device when this returns.
///
/// # Errors
/// If the kernel refuses a request, or the trial cannot be made of this file.
pub fn play(file: &TrialFile, trial: &DiskTrial, seed: u64) -> Result<Counted, CeilingError> {
    trial.check(file)?;
    if trial.cache == Cache::Buffered && !trial.flushes() {
        file.evict()?;
    }
    let counted = if trial.flushes() {
        flush::play(file, trial, seed)
    } else {
        match trial.method {
            Method::Calls => blocking::play(file, trial, seed),
            Method::Ring => ring::play(file, trial, seed),
        }
    };
    if trial.operation != Operation::Read {
        file.sync()?;
    }
    counted
}

fn deadline(begun: Instant, trial: &DiskTrial) -> Instant {
    begun + Duration::from_nanos(trial.time_ns)
}

#[cfg(test)]
mod tests;
