//! The driver: one loop that plays operations against sessions following an arrival, on a clock
//! that is handed in, and writes down every operation.
//!
//! Invariant: for every phase `scheduled = ok + skipped + failed`, and each of them is one event.

pub mod books;
pub mod clock;
pub mod conductor;
pub mod crew;
pub mod deck;
pub mod digest;
pub mod digest_arrow;
pub mod drive;
pub mod error;
pub mod latency;
pub mod program;
pub mod recorder;
pub mod run;
pub mod schedule;
pub mod script;
pub mod session;
pub mod terminal;
pub mod watchdog;

pub use clock::{Clock, MonotonicClock, VirtualClock};
pub use error::DriveError;
pub use run::{CancelFlag, Ended, Progress, RunReport, drive};
pub use session::{Fetched, Session, SessionError};
