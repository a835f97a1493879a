//! The values that every part of the laboratory shares: what is planned, what happened, and how
//! the record's streams are laid out. Nothing here touches the world.
//!
//! Invariant: a column is described once, in [`table`]; writers, readers and the documentation of
//! the record format are derived from that description.

pub mod bsbm;
pub mod civil;
pub mod counters;
pub mod event;
pub mod outcome;
pub mod plan;
pub mod random;
pub mod script;
pub mod table;
pub mod tpcc;

pub use counters::{DeviceCounters, Edge, Meter, TaskCounters};
pub use event::Event;
pub use outcome::{Outcome, OutcomeCounts};
pub use plan::{Arrival, Due, Phase, Plan, PlanError, Steady, Wait};
pub use random::{SplitMix, split_mix};
pub use script::{Draw, Given, Script, ScriptError, ScriptOperation, ScriptStatement};
pub use table::{Cell, Column, Kind, Rows, Table};
