//! One operation as it happened, and the stream it is kept in.

use crate::outcome::Outcome;
use crate::table::{Column, Kind, Table};

/// One ended operation. Fixed size, so that the driver's loop copies it without allocating.
///
/// `latency = finished - scheduled`, `service time = finished - started`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Number of the operation in the whole run, in the order in which operations were issued.
    pub sequence: u64,
    /// Index of the phase in the plan.
    pub phase: u16,
    /// Pass over the order, from 0; always 0 where operations are drawn from a mix.
    pub pass: u32,
    /// Session that issued it.
    pub session: u32,
    /// Index of the operation in the plan.
    pub operation: u16,
    /// When it was due, CLOCK_MONOTONIC.
    pub scheduled_ns: i64,
    /// When its first attempt was sent; `None` for a skipped one.
    pub started_ns: Option<i64>,
    /// When its last row had been fetched or its error received; `None` for a skipped one.
    pub finished_ns: Option<i64>,
    /// How it ended.
    pub outcome: Outcome,
    /// Index into the driver's list of error classes, for a failed one.
    pub error: Option<u16>,
    /// Attempts beyond the first.
    pub retries: u32,
    /// Rows fetched.
    pub rows: Option<u64>,
    /// Order-insensitive digest of the rows; `None` also where a program read them.
    pub digest: Option<u64>,
    /// What a program noted of the operation: a number whose bits the program names.
    pub marks: Option<u32>,
    /// How much of its latency the driver was busy with other operations; `None` for a skipped one.
    pub lag_ns: Option<u64>,
}

/// One answered statement of an operation that has several, or a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementEvent {
    /// Number of the operation in the run.
    pub sequence: u64,
    /// Index of the operation in the plan.
    pub operation: u16,
    /// Index of the statement in its operation.
    pub statement: u16,
    /// When it was sent, or the answer before it had come.
    pub started_ns: i64,
    /// When its answer had come.
    pub finished_ns: i64,
    /// Rows that it returned or changed.
    pub rows: u32,
}

/// One failed attempt of an operation that was made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptEvent {
    /// Number of the operation in the run.
    pub sequence: u64,
    /// Index of the operation in the plan.
    pub operation: u16,
    /// From 0.
    pub attempt: u32,
    /// When it was sent.
    pub started_ns: i64,
    /// When its error had come.
    pub finished_ns: i64,
    /// Index into the driver's list of error classes.
    pub error: u16,
    /// Statements that were answered before its error; 0 of operations with one alone.
    pub statements: u32,
}

/// Integers that a receipt has at most.
pub const RECEIPT_VALUES_MAX: usize = 4;

/// What tells an operation that succeeded apart from all others in the database: integers, such as
/// the key of the row that it made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    values: [i64; RECEIPT_VALUES_MAX],
    count: u8,
}

impl Receipt {
    /// A receipt of these values.
    ///
    /// # Panics
    /// If there are more than [`RECEIPT_VALUES_MAX`]: an error of the program's author.
    pub fn new(given: &[i64]) -> Self {
        let mut values = [0; RECEIPT_VALUES_MAX];
        values[..given.len()].copy_from_slice(given);
        Self { values, count: given.len() as u8 }
    }

    /// Its values.
    pub fn values(&self) -> &[i64] {
        &self.values[..usize::from(self.count)]
    }
}

/// The receipt of one operation whose success was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiptEvent {
    /// Number of the operation in the run.
    pub sequence: u64,
    /// Index of the operation in the plan.
    pub operation: u16,
    /// When its last answer had come.
    pub finished_ns: i64,
    /// What is to be found in the database from then on.
    pub receipt: Receipt,
}

/// The stream of receipts; no rows of operations that leave nothing to be found.
pub static RECEIPTS: Table = Table {
    file: "receipts.arrows",
    about: "One row an operation whose success was answered and that left something to be found.",
    columns: &[
        Column::needed("sequence", Kind::UInt64, "number of its operation, as in events"),
        Column::needed("operation", Kind::Word, "name of the operation"),
        Column::needed("finished_ns", Kind::Int64, "when its last answer had come"),
        Column::needed(
            "values",
            Kind::Int64List,
            "what is to be found: `workload.receipt` of run.json names them",
        ),
    ],
};

/// The stream of statements; no rows of operations with one statement.
pub static STATEMENTS: Table = Table {
    file: "statements.arrows",
    about: "One row an answered statement of operations that have several, of their last attempt.",
    columns: &[
        Column::needed("sequence", Kind::UInt64, "number of its operation, as in events"),
        Column::needed("operation", Kind::Word, "name of the operation"),
        Column::needed("statement", Kind::Word, "its name, or its number in the operation from 1"),
        Column::needed("started_ns", Kind::Int64, "when it was sent"),
        Column::needed("finished_ns", Kind::Int64, "when its last row or its count had come"),
        Column::needed("rows", Kind::UInt32, "rows that it returned or changed"),
    ],
};

/// The stream of attempts that failed and were made again.
pub static ATTEMPTS: Table = Table {
    file: "attempts.arrows",
    about: "One row a failed attempt that was made again; the last attempt stands in events.",
    columns: &[
        Column::needed("sequence", Kind::UInt64, "number of its operation, as in events"),
        Column::needed("operation", Kind::Word, "name of the operation"),
        Column::needed("attempt", Kind::UInt32, "from 0"),
        Column::needed("started_ns", Kind::Int64, "when it was sent"),
        Column::needed("finished_ns", Kind::Int64, "when its error had come"),
        Column::needed("error", Kind::Word, "class of the error"),
        Column::needed(
            "statements",
            Kind::UInt32,
            "statements that were answered before it; 0 of operations that have one alone",
        ),
    ],
};

/// The stream of events, one file a driver host.
pub static EVENTS: Table = Table {
    file: "events.arrows",
    about: "One row an operation that was due, in the order in which sessions ended them.",
    columns: &[
        Column::needed("sequence", Kind::UInt64, "number of the operation in the run, as issued"),
        Column::needed("phase", Kind::Word, "phase of the plan, such as warmup or measured"),
        Column::needed("pass", Kind::UInt32, "pass over the order, from 0"),
        Column::needed("session", Kind::UInt32, "session that issued it, from 0"),
        Column::needed("operation", Kind::Word, "name of the operation"),
        Column::needed("variant", Kind::UInt32, "which of its texts: `statements` of run.json"),
        Column::needed("scheduled_ns", Kind::Int64, "when it was due"),
        Column::optional("started_ns", Kind::Int64, "when it was sent; null if skipped"),
        Column::optional(
            "finished_ns",
            Kind::Int64,
            "when its last row was fetched; null if skipped",
        ),
        Column::needed("outcome", Kind::Word, "ok, skipped or failed"),
        Column::optional("error", Kind::Word, "class of the error of a failed one"),
        Column::needed("retries", Kind::UInt32, "attempts beyond the first"),
        Column::optional("rows", Kind::UInt64, "rows fetched; null unless ok"),
        Column::optional(
            "digest",
            Kind::UInt64,
            "order-insensitive digest of the rows; null unless ok, and where a program read them",
        ),
        Column::optional(
            "marks",
            Kind::UInt32,
            "what its program noted: the bits that `marks` of run.json names; null of others",
        ),
        Column::optional(
            "lag_ns",
            Kind::UInt64,
            "how long it waited for a driver that was busy with others; null if skipped",
        ),
    ],
};

/// Which process of a server engine serves which session; no rows where the engine has none.
pub static BACKENDS: Table = Table {
    file: "backends.arrows",
    about: "One row a connection of a session to a server engine, new ones after a loss included.",
    columns: &[
        Column::needed("time_ns", Kind::Int64, "when it was first used"),
        Column::needed("session", Kind::UInt32, "the session"),
        Column::needed("backend_pid", Kind::UInt32, "process of the server that serves it"),
    ],
};

/// Which server each session was connected to; no rows where a session cannot have a choice.
pub static SERVERS: Table = Table {
    file: "servers.arrows",
    about: "One row a connection of a session to a server that it chose, new ones after a loss included.",
    columns: &[
        Column::needed("time_ns", Kind::Int64, "when it was first used"),
        Column::needed("session", Kind::UInt32, "the session"),
        Column::needed(
            "server",
            Kind::Word,
            "address and port of the server, or its socket's file",
        ),
    ],
};

/// Which connection of a server of threads serves which session; no rows of other engines.
pub static CONNECTIONS: Table = Table {
    file: "connections.arrows",
    about: "One row a connection of a session to a server that serves it by a thread.",
    columns: &[
        Column::needed("time_ns", Kind::Int64, "when it was first used"),
        Column::needed("session", Kind::UInt32, "the session"),
        Column::needed("connection", Kind::UInt32, "the server's number of the connection"),
    ],
};
