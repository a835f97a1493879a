//! The requests that block devices are given, one by one, as the kernel's tracepoint
//! `block_rq_issue` tells them: after merging and scheduling, in the order in which a driver gets
//! them.

mod format;
mod sample;
mod tables;
mod tracefs;
mod tracer;

pub use format::Format;
pub use sample::parse as parse_request;
pub use tables::{PROBE_REQUESTS, REQUESTS};
pub use tracer::RequestTracer;
