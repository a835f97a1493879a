//! CPU samples of an engine's processes: perf_event rings, mappings, unwinding, symbols.

pub mod symbols;
mod tables;

pub use tables::TABLES;
