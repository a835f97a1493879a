//! Measures how fast the host's disk, memory and cores are. Each trial is a row of the record, is
//! short and does one thing; the caller says which trials there are, in which order and how often.
//!
//! Invariant: nothing but a file of our own is read or written, and it has no name: it goes with
//! the process, however that ends.

pub mod disk;
mod error;
mod host;
pub mod machine;
mod sweep;
pub mod tables;
mod usage;

pub use error::CeilingError;
pub use sweep::Sweep;
