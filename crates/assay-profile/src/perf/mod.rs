//! perf_event_open(2): events, the rings that the kernel fills, and the records in them.

mod attr;
mod merge;
mod record;
mod ring;
mod sys;

pub use attr::{Attr, Stacks};
pub use merge::Rings;
pub use record::{Record, Regs, Sample, parse as parse_record};
pub use ring::Ring;
pub use sys::Event;
