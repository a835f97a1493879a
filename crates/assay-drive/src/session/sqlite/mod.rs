//! SQLite, in the process of the driver: each session is a connection to the file, whose statements
//! are prepared once. A transaction that an operation left open or broken is rolled back before
//! the operation ends, within its time.

pub mod config;
pub mod counts;
pub mod held;
pub mod hooks;
pub mod library;
pub mod load;
pub mod values;

use std::path::Path;
use std::sync::Arc;

use assay_model::Script;
use rusqlite::{Connection, InterruptHandle, Statement};

use self::config::{Config, failure};
use self::counts::{Counting, Counts};
use self::held::{Column, Held};
use super::{Canceller, Fetched, HELD_BYTES_MAX, Session, SessionError, rows};
use crate::conductor::Conductor;
use crate::digest::RowDigest;

/// Rows that the last operation returned.
#[derive(Default)]
struct Results {
    held: Held,
    digest: RowDigest,
    dropped: bool,
}

impl Results {
    fn clear(&mut self) {
        self.held.clear();
        self.digest.clear();
        self.dropped = false;
    }

    /// Keeps what is held within its limit.
    fn hold(&mut self) {
        if self.held.size_bytes() >= HELD_BYTES_MAX {
            self.held.digest(&mut self.digest);
            self.dropped = true;
        }
    }
}

/// One connection to a database file.
pub struct SqliteSession {
    config: Config,
    conductor: Conductor,
    connection: Connection,
    interrupt: Arc<InterruptHandle>,
    /// Columns of each statement of each operation, once it was executed.
    described: Vec<Vec<Option<Arc<[Column]>>>>,
    results: Results,
    counting: Counting,
    counts: Arc<Counts>,
}

impl SqliteSession {
    /// Opens session number `number` of a run.
    ///
    /// # Errors
    /// If the file cannot be opened, or refuses what `config` has it set up with.
    pub fn open(
        config: Config,
        script: Arc<Script>,
        seed: u64,
        number: u32,
    ) -> Result<Self, SessionError> {
        let mut connection = config.open()?;
        let counts = Arc::default();
        hooks::install(&mut connection, &counts).map_err(|error| config.session_error(error))?;
        let described: Vec<Vec<_>> =
            script.operations.iter().map(|asked| vec![None; asked.statements.len()]).collect();
        let statements = described.iter().map(Vec::len).sum();
        connection.set_prepared_statement_cache_capacity(statements);
        Ok(Self {
            config,
            conductor: Conductor::new(script, seed, number)?,
            interrupt: Arc::new(connection.get_interrupt_handle()),
            connection,
            described,
            results: Results::default(),
            counting: Counting::default(),
            counts,
        })
    }

    /// What the connection counts, for readers in other threads.
    pub fn counts(&self) -> Arc<Counts> {
        Arc::clone(&self.counts)
    }

    fn play(&mut self) -> Result<(), SessionError> {
        while let Some(statement) = self.conductor.next_statement()? {
            let rows = self.played(statement)?;
            self.conductor.answered(statement, rows)?;
        }
        Ok(())
    }

    /// Executes a statement; how many rows it returned or changed.
    fn played(&mut self, statement: usize) -> Result<u64, SessionError> {
        let Self { config, conductor, connection, described, results, .. } = self;
        let columns = &mut described[conductor.operation()][statement];
        let text = &conductor.statement().text;
        let failed = |error| config.session_error(error);
        if conductor.script().prepared {
            let mut prepared = connection.prepare_cached(text).map_err(failed)?;
            executed(config, connection, conductor, statement, &mut prepared, columns, results)
        } else {
            let mut prepared = connection.prepare(text).map_err(failed)?;
            executed(config, connection, conductor, statement, &mut prepared, columns, results)
        }
    }

    /// Leaves no transaction to the next operation.
    fn roll_back(&mut self, played: Result<(), SessionError>) -> Result<(), SessionError> {
        if self.connection.is_autocommit() {
            return played;
        }
        let ended = self.connection.execute_batch("rollback");
        played?;
        ended.map_err(|error| self.config.session_error(error))?;
        Err(SessionError::open_transaction())
    }
}

/// Executes a prepared statement with the conductor's values.
fn executed(
    config: &Config,
    connection: &Connection,
    conductor: &mut Conductor,
    number: usize,
    statement: &mut Statement<'_>,
    described: &mut Option<Arc<[Column]>>,
    results: &mut Results,
) -> Result<u64, SessionError> {
    for (place, value) in (1..).zip(conductor.values()) {
        values::bind(statement, place, value).map_err(|error| config.session_error(error))?;
    }
    let width = statement.column_count();
    if width == 0 {
        let before = connection.total_changes();
        let changed = statement.raw_execute().map_err(|error| config.session_error(error))?;
        // What it tells is of the last statement that changed any.
        return Ok(if connection.total_changes() == before { 0 } else { changed as u64 });
    }
    let program_reads = conductor.reads_rows();
    if !program_reads {
        let columns = match described {
            Some(columns) if columns.len() == width => Arc::clone(columns),
            _ => Arc::clone(described.insert(held::described(statement))),
        };
        results.held.begin(columns);
    }
    let (mut rows, mut count) = (statement.raw_query(), 0);
    while let Some(row) = rows.next().map_err(|error| config.session_error(error))? {
        count += 1;
        for index in 0..width {
            let value = row.get_ref(index).map_err(|error| config.session_error(error))?;
            if program_reads {
                conductor.cell(number, index, &values::read(value))?;
            } else {
                results.held.push(index, value);
            }
        }
        if program_reads {
            conductor.end_row(number)?;
        } else {
            results.hold();
        }
    }
    Ok(count)
}

impl Session for SqliteSession {
    fn execute(&mut self, operation: u16) -> Result<(), SessionError> {
        self.results.clear();
        self.conductor.begin(operation);
        let played = self.play();
        self.roll_back(played)
    }

    fn fetched(&mut self) -> Result<Fetched, SessionError> {
        if let Some(fetched) = Fetched::read_by(&self.conductor) {
            return Ok(fetched);
        }
        let Results { held, digest, .. } = &mut self.results;
        held.digest_kept(digest);
        Ok(Fetched::of(digest))
    }

    /// Keeps the rows of the last statement that returns any.
    fn keep(&mut self, path: &Path) -> Result<(), SessionError> {
        if self.results.dropped {
            return Ok(());
        }
        let Some((columns, values)) = self.results.held.last() else { return Ok(()) };
        rows::write(path, &columns, &values).map_err(|error| failure("result", error.to_string()))
    }

    fn conductor(&self) -> Option<&Conductor> {
        Some(&self.conductor)
    }

    fn release(&mut self) {
        self.conductor.release();
        self.counting.tell(&self.connection, &self.counts);
    }

    fn canceller(&self) -> Option<Canceller> {
        let interrupt = Arc::clone(&self.interrupt);
        Some(Box::new(move || interrupt.interrupt()))
    }
}
