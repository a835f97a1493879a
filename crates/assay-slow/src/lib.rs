//! Makes a resource slower for an engine, and for nobody else: its processes are looked at twice a
//! millisecond and stopped for a time in proportion to what they just took of the resource. So any
//! mixture of computing, waiting for disks and waiting for others is slowed by its own parts,
//! however fine it is.
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
pub use slower::{Slower, SlowerConfig, SlowerReport};
