//! What a host can do: trials of its disk, of its memory and of its cores, a row of the record
//! each. A trial is short and does one thing; which trials there are, in which order and how often,
//! is its caller's to say.
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
