//! Reads the kernel of this host: files of procfs with their parsers, clocks, CPU time and units.
//! The name of the user is read here, too.
//!
//! Invariant: a file of procfs is parsed in one place, below [`parse`]. What the kernel does not
//! print is `None`, never zero, and no parser panics, whatever the text.

pub mod clock;
mod error;
pub mod file;
pub mod parse;
mod regular;
mod root;
pub mod text;
mod units;
pub mod usage;
pub mod user;

pub use error::KernelError;
pub use regular::open_regular;
pub use root::{ProcRoot, SysRoot, numbers_in};
pub use units::Units;
