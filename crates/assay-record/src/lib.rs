//! The streams of a record on disk: Arrow IPC, append-only, one writer each. What was flushed
//! survives the writer's end, however it comes.

mod cost;
mod stream;

pub use cost::{COST_ABOUT, COST_COLUMNS};
pub use stream::{Stream, StreamError};
