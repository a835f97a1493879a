//! Makes a resource slower for one engine only. The engine's processes are looked at twice a
//! millisecond, and stopped for a time in proportion to the CPU or disk time that they just used.
//! So an engine that alternates quickly between computing and waiting is slowed in the right parts.
//!
//! Invariant: whatever ends a `Slower`, what it has stopped goes on.

mod device;
mod error;
mod family;
mod ledger;
mod process;
mod slower;
pub mod tables;
mod task;
mod worker;

pub use error::SlowError;
pub use ledger::Factors;
pub use slower::{Root, Slower, SlowerConfig, SlowerReport};
