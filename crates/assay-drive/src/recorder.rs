//! Takes events from the workers and writes them down. Each worker owns a ring that only it fills
//! and only the recorder empties, so the loop neither locks nor allocates, and what happened is on
//! disk within a second even while an operation lasts minutes.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use assay_model::counters::TASKS;
use assay_model::event::{
    ATTEMPTS, AttemptEvent, BACKENDS, CONNECTIONS, EVENTS, RECEIPTS, ReceiptEvent, SERVERS,
    STATEMENTS, StatementEvent,
};
use assay_model::{Cell, Edge, Event, Outcome, Plan, TaskCounters};
use assay_record::Stream;
use rtrb::{Consumer, Producer, RingBuffer};
use serde::Serialize;

use crate::books::Sink;
use crate::clock::{Clock, MonotonicClock};
use crate::error::DriveError;
use crate::session::{Backend, SessionError};

/// Events a worker can be ahead of the recorder by. At ten looks a second: 650,000 operations a
/// second and worker before it has to wait, were the recorder always on time.
const RING_EVENTS: usize = 1 << 16;
/// Statements: an operation has some twenty at most.
const RING_STATEMENTS: usize = 1 << 17;
/// Receipts: an operation has one at most.
const RING_RECEIPTS: usize = RING_EVENTS;
/// Failed attempts that are made again.
const RING_ATTEMPTS: usize = 1 << 14;
/// Readings of tasks happen in serial tests only.
const RING_READINGS: usize = 1 << 13;
/// Rows in a record batch at most.
const BATCH_ROWS: usize = 1 << 16;

/// A class of errors with the first message that was seen of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ErrorClass {
    /// Class, as the session names it.
    pub class: String,
    /// Operation it was first seen in.
    pub operation: u16,
    /// First message.
    pub message: String,
}

/// A session's new connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Connected {
    time_ns: i64,
    session: u32,
    backend: Backend,
}

/// A session's new connection to a server that it chose.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Chosen {
    time_ns: i64,
    session: u32,
    server: String,
}

/// What workers tell rarely: a new class of errors, a new connection, a full ring.
#[derive(Clone, Default)]
pub struct Notes {
    errors: Arc<Mutex<Vec<ErrorClass>>>,
    connected: Arc<Mutex<Vec<Connected>>>,
    chosen: Arc<Mutex<Vec<Chosen>>>,
    waits: Arc<AtomicU64>,
}

impl Notes {
    /// The number of a class and operation; a new one is added with this message.
    pub fn number(&self, operation: u16, error: &SessionError) -> u16 {
        let mut errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |k: &ErrorClass| k.class == error.class && k.operation == operation;
        if let Some(number) = errors.iter().position(same) {
            return number as u16;
        }
        errors.push(ErrorClass {
            class: error.class.clone(),
            operation,
            message: error.message.clone(),
        });
        (errors.len() - 1) as u16
    }

    /// All classes so far.
    pub fn errors(&self) -> Vec<ErrorClass> {
        self.errors.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Times a worker had to wait for the recorder.
    pub fn waits(&self) -> u64 {
        self.waits.load(Ordering::Relaxed)
    }

    fn connected(&self, session: u32, backend: Backend) {
        let connected = Connected { time_ns: MonotonicClock.now_ns(), session, backend };
        self.connected.lock().unwrap_or_else(PoisonError::into_inner).push(connected);
    }

    fn chose(&self, session: u32, server: String) {
        let chosen = Chosen { time_ns: MonotonicClock.now_ns(), session, server };
        self.chosen.lock().unwrap_or_else(PoisonError::into_inner).push(chosen);
    }

    fn take_chosen(&self) -> Vec<Chosen> {
        std::mem::take(&mut self.chosen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn take_connected(&self) -> Vec<Connected> {
        std::mem::take(&mut self.connected.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The worker's end of its rings.
pub struct RingSink {
    events: Producer<Event>,
    statements: Producer<StatementEvent>,
    receipts: Producer<ReceiptEvent>,
    attempts: Producer<AttemptEvent>,
    readings: Producer<(u64, Edge, TaskCounters)>,
    notes: Notes,
}

/// The recorder's end of one worker's rings.
pub struct RingSource {
    events: Consumer<Event>,
    statements: Consumer<StatementEvent>,
    receipts: Consumer<ReceiptEvent>,
    attempts: Consumer<AttemptEvent>,
    readings: Consumer<(u64, Edge, TaskCounters)>,
}

/// A pair of rings for one worker.
pub fn rings(notes: &Notes) -> (RingSink, RingSource) {
    let (events_in, events_out) = RingBuffer::new(RING_EVENTS);
    let (statements_in, statements_out) = RingBuffer::new(RING_STATEMENTS);
    let (receipts_in, receipts_out) = RingBuffer::new(RING_RECEIPTS);
    let (attempts_in, attempts_out) = RingBuffer::new(RING_ATTEMPTS);
    let (readings_in, readings_out) = RingBuffer::new(RING_READINGS);
    let sink = RingSink {
        events: events_in,
        statements: statements_in,
        receipts: receipts_in,
        attempts: attempts_in,
        readings: readings_in,
        notes: notes.clone(),
    };
    let source = RingSource {
        events: events_out,
        statements: statements_out,
        receipts: receipts_out,
        attempts: attempts_out,
        readings: readings_out,
    };
    (sink, source)
}

/// Pushes, waiting while the ring is full: an event is never dropped, and a wait is counted.
fn push<T>(ring: &mut Producer<T>, mut value: T, waits: &AtomicU64) {
    while let Err(rtrb::PushError::Full(back)) = ring.push(value) {
        value = back;
        waits.fetch_add(1, Ordering::Relaxed);
        if ring.is_abandoned() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

impl Sink for RingSink {
    fn event(&mut self, event: &Event) {
        // Operations that are skipped at once have no times that a wait could make longer.
        let uncounted = AtomicU64::new(0);
        let skipped = event.outcome == Outcome::Skipped;
        let waits = if skipped { &uncounted } else { &*self.notes.waits };
        push(&mut self.events, *event, waits);
    }

    fn statement(&mut self, event: &StatementEvent) {
        push(&mut self.statements, *event, &self.notes.waits);
    }

    fn receipt(&mut self, event: &ReceiptEvent) {
        push(&mut self.receipts, *event, &self.notes.waits);
    }

    fn attempt(&mut self, event: &AttemptEvent) {
        push(&mut self.attempts, *event, &self.notes.waits);
    }

    fn reading(&mut self, sequence: u64, edge: Edge, counters: &TaskCounters) {
        push(&mut self.readings, (sequence, edge, *counters), &self.notes.waits);
    }

    fn error_class(&mut self, operation: u16, error: &SessionError) -> u16 {
        self.notes.number(operation, error)
    }

    fn connected(&mut self, session: u32, backend: Backend) {
        self.notes.connected(session, backend);
    }

    fn chose(&mut self, session: u32, server: String) {
        self.notes.chose(session, server);
    }
}

/// Writes the streams of one driver host.
pub struct Recorder<'a> {
    plan: &'a Plan,
    notes: Notes,
    sources: Vec<RingSource>,
    events: Stream,
    statements: Stream,
    receipts: Stream,
    attempts: Stream,
    names: Names,
    backends: Stream,
    connections: Stream,
    servers: Stream,
    tasks: Stream,
}

impl<'a> Recorder<'a> {
    /// Creates the streams in `raw_dir`.
    pub fn create(
        plan: &'a Plan,
        notes: Notes,
        sources: Vec<RingSource>,
        raw_dir: &Path,
    ) -> Result<Self, DriveError> {
        let events = Stream::create(raw_dir, &EVENTS)?;
        let statements = Stream::create(raw_dir, &STATEMENTS)?;
        let receipts = Stream::create(raw_dir, &RECEIPTS)?;
        let attempts = Stream::create(raw_dir, &ATTEMPTS)?;
        let tasks = Stream::create(raw_dir, &TASKS)?;
        let backends = Stream::create(raw_dir, &BACKENDS)?;
        let connections = Stream::create(raw_dir, &CONNECTIONS)?;
        let servers = Stream::create(raw_dir, &SERVERS)?;
        let names = Names::default();
        Ok(Self {
            plan,
            notes,
            sources,
            events,
            statements,
            receipts,
            attempts,
            names,
            backends,
            connections,
            servers,
            tasks,
        })
    }

    /// Writes all that waits in the rings; whether one of them was filling up.
    pub fn drain(&mut self) -> Result<bool, DriveError> {
        let filling = self.sources.iter().any(|source| {
            source.events.slots() > RING_EVENTS / 4
                || source.statements.slots() > RING_STATEMENTS / 4
                || source.receipts.slots() > RING_RECEIPTS / 4
                || source.attempts.slots() > RING_ATTEMPTS / 4
                || source.readings.slots() > RING_READINGS / 4
        });
        for connected in self.notes.take_connected() {
            let (stream, number) = match connected.backend {
                Backend::Process(pid) => (&mut self.backends, pid),
                Backend::Connection(number) => (&mut self.connections, number),
            };
            stream.push(&[
                Cell::Int(connected.time_ns),
                Cell::Count(u64::from(connected.session)),
                Cell::Count(u64::from(number)),
            ]);
        }
        for Chosen { time_ns, session, server } in self.notes.take_chosen() {
            let session = Cell::Count(u64::from(session));
            self.servers.push(&[Cell::Int(time_ns), session, Cell::Text(&server)]);
        }
        let errors = self.notes.errors();
        for source in &mut self.sources {
            while let Ok(event) = source.events.pop() {
                push_event(&mut self.events, self.plan, &errors, &self.notes, &event);
                if self.events.waiting() >= BATCH_ROWS {
                    self.events.flush()?;
                }
            }
            while let Ok(event) = source.statements.pop() {
                push_statement(&mut self.statements, &mut self.names, self.plan, &event);
                if self.statements.waiting() >= BATCH_ROWS {
                    self.statements.flush()?;
                }
            }
            while let Ok(event) = source.receipts.pop() {
                push_receipt(&mut self.receipts, self.plan, &event);
                if self.receipts.waiting() >= BATCH_ROWS {
                    self.receipts.flush()?;
                }
            }
            while let Ok(event) = source.attempts.pop() {
                push_attempt(&mut self.attempts, self.plan, &errors, &self.notes, &event);
                if self.attempts.waiting() >= BATCH_ROWS {
                    self.attempts.flush()?;
                }
            }
            while let Ok((sequence, edge, counters)) = source.readings.pop() {
                push_reading(&mut self.tasks, sequence, edge, &counters);
            }
        }
        self.events.flush()?;
        self.statements.flush()?;
        self.receipts.flush()?;
        self.attempts.flush()?;
        self.backends.flush()?;
        self.connections.flush()?;
        self.servers.flush()?;
        self.tasks.flush()?;
        Ok(filling)
    }

    /// Writes what is left and ends the streams.
    pub fn finish(mut self) -> Result<(), DriveError> {
        self.drain()?;
        self.events.finish()?;
        self.statements.finish()?;
        self.receipts.finish()?;
        self.attempts.finish()?;
        self.backends.finish()?;
        self.connections.finish()?;
        self.servers.finish()?;
        Ok(self.tasks.finish()?)
    }
}

/// The word of a class of errors; one that was added after the list was taken is looked up anew.
fn class_of<'a>(
    errors: &'a [ErrorClass],
    newest: &'a mut Vec<ErrorClass>,
    notes: &Notes,
    number: u16,
) -> &'a str {
    let number = usize::from(number);
    if number >= errors.len() {
        *newest = notes.errors();
        return &newest[number].class;
    }
    &errors[number].class
}

fn push_event(rows: &mut Stream, plan: &Plan, errors: &[ErrorClass], notes: &Notes, event: &Event) {
    let mut newest = Vec::new();
    let class = event
        .error
        .map_or(Cell::Null, |number| Cell::Text(class_of(errors, &mut newest, notes, number)));
    rows.push(&[
        Cell::Count(event.sequence),
        Cell::Text(&plan.phases[usize::from(event.phase)].name),
        Cell::Count(u64::from(event.pass)),
        Cell::Count(u64::from(event.session)),
        Cell::Text(&plan.operations[usize::from(event.operation)]),
        Cell::Count(u64::from(plan.variant(event.operation))),
        Cell::Int(event.scheduled_ns),
        event.started_ns.map_or(Cell::Null, Cell::Int),
        event.finished_ns.map_or(Cell::Null, Cell::Int),
        Cell::Text(event.outcome.word()),
        class,
        Cell::Count(u64::from(event.retries)),
        event.rows.into(),
        event.digest.into(),
        event.marks.map(u64::from).into(),
        event.lag_ns.into(),
    ]);
}

fn push_statement(rows: &mut Stream, names: &mut Names, plan: &Plan, event: &StatementEvent) {
    rows.push(&[
        Cell::Count(event.sequence),
        Cell::Text(&plan.operations[usize::from(event.operation)]),
        Cell::Text(names.of(plan, event.operation, event.statement)),
        Cell::Int(event.started_ns),
        Cell::Int(event.finished_ns),
        Cell::Count(u64::from(event.rows)),
    ]);
}

fn push_receipt(rows: &mut Stream, plan: &Plan, event: &ReceiptEvent) {
    rows.push(&[
        Cell::Count(event.sequence),
        Cell::Text(&plan.operations[usize::from(event.operation)]),
        Cell::Int(event.finished_ns),
        Cell::Ints(event.receipt.values()),
    ]);
}

fn push_attempt(
    rows: &mut Stream,
    plan: &Plan,
    errors: &[ErrorClass],
    notes: &Notes,
    event: &AttemptEvent,
) {
    let mut newest = Vec::new();
    rows.push(&[
        Cell::Count(event.sequence),
        Cell::Text(&plan.operations[usize::from(event.operation)]),
        Cell::Count(u64::from(event.attempt)),
        Cell::Int(event.started_ns),
        Cell::Int(event.finished_ns),
        Cell::Text(class_of(errors, &mut newest, notes, event.error)),
        Cell::Count(u64::from(event.statements)),
    ]);
}

/// Names of statements, made once each.
#[derive(Default)]
struct Names(Vec<Vec<Option<String>>>);

impl Names {
    fn of(&mut self, plan: &Plan, operation: u16, statement: u16) -> &str {
        let (place, number) = (usize::from(operation), usize::from(statement));
        if self.0.len() <= place {
            self.0.resize(place + 1, Vec::new());
        }
        let names = &mut self.0[place];
        if names.len() <= number {
            names.resize(number + 1, None);
        }
        names[number].get_or_insert_with(|| plan.statement(operation, statement))
    }
}

fn push_reading(rows: &mut Stream, sequence: u64, edge: Edge, counters: &TaskCounters) {
    let device = &counters.device;
    rows.push(&[
        Cell::Count(sequence),
        Cell::Text(match edge {
            Edge::Start => "start",
            Edge::End => "end",
        }),
        Cell::Int(counters.time_ns),
        counters.user_ns.into(),
        counters.system_ns.into(),
        counters.on_cpu_ns.into(),
        counters.run_delay_ns.into(),
        counters.block_delay_ns.into(),
        counters.read_bytes.into(),
        counters.write_bytes.into(),
        counters.minor_faults.into(),
        counters.major_faults.into(),
        counters.voluntary_switches.into(),
        counters.involuntary_switches.into(),
        counters.threads.into(),
        counters.threads_at_work.into(),
        counters.rss_bytes.into(),
        counters.rss_peak_bytes.into(),
        counters.pss_bytes.into(),
        device.reads.into(),
        device.reads_merged.into(),
        device.read_bytes.into(),
        device.read_ns.into(),
        device.writes.into(),
        device.write_bytes.into(),
        device.io_ns.into(),
    ]);
}
