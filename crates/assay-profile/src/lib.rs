//! CPU samples of an engine's processes: perf_event rings, mappings, unwinding, symbols.
//!
//! Invariant: rings have a fixed size, and what finds no room in them is counted. Memory grows with
//! the places and stacks that differ, not with samples; a process that ended is forgotten.

mod attach;
mod elf;
mod error;
mod family;
pub mod foreign;
mod frame_pointers;
mod modules;
mod naming;
mod perf;
mod requests;
mod rows;
mod sampler;
mod space;
pub mod symbols;
mod tables;
mod tree;
mod unwind;
mod vdso;
mod watch;

pub use attach::{Granted, Wish};
pub use error::ProfileError;
pub use perf::{Attr, Stacks};
pub use requests::{PROBE_REQUESTS, REQUESTS, RequestTracer};
pub use rows::PROBE_PROFILE;
pub use sampler::Profiler;
pub use tables::TABLES;
pub use watch::Counts;

/// What a profile took and cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfilerReport {
    /// What was counted.
    pub counts: Counts,
    /// CPU time of the sampler's thread until sampling ended.
    pub cpu_ns: u64,
    /// Longest time that it read rings without a pause.
    pub longest_ns: u64,
    /// Why some functions have no name, a sentence each.
    pub notes: Vec<String>,
    /// Why it ended early; `None`: it did not.
    pub error: Option<String>,
}
