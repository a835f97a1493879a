//! Records the operations of one worker: events, latencies, outcomes and results.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use assay_model::event::{AttemptEvent, ReceiptEvent, StatementEvent};
use assay_model::{Edge, Event, Outcome, OutcomeCounts, Plan, TaskCounters};

use crate::error::DriveError;
use crate::latency::LatencyBook;
use crate::schedule::Ticket;
use crate::session::{Backend, Fetched, Session, SessionError};

/// Receives what the loop saw.
pub trait Sink {
    /// One ended operation.
    fn event(&mut self, event: &Event);
    /// One answered statement of an operation that ended well.
    fn statement(&mut self, event: &StatementEvent);
    /// One operation that left something to be found in the database.
    fn receipt(&mut self, event: &ReceiptEvent);
    /// One failed attempt that is made again.
    fn attempt(&mut self, event: &AttemptEvent);
    /// One reading of the engine's tasks.
    fn reading(&mut self, sequence: u64, edge: Edge, counters: &TaskCounters);
    /// The number by which events refer to a class of errors; keeps the first message.
    fn error_class(&mut self, operation: u16, error: &SessionError) -> u16;
    /// A session has a connection, served by this.
    fn connected(&mut self, session: u32, backend: Backend);
    /// A session has a connection to the server with this address.
    fn chose(&mut self, session: u32, server: String);
}

/// Keeps the rows of each distinct result once; the same rows in another order are another result.
pub struct Results {
    directory: PathBuf,
    kept: Vec<Vec<(u64, u64)>>,
    kept_max: usize,
}

impl Results {
    /// Keeps up to `kept_max` distinct results of each of `operations` operations.
    pub fn new(directory: PathBuf, operations: usize, kept_max: u32) -> Self {
        let kept_max = kept_max as usize;
        let kept = (0..operations).map(|_| Vec::with_capacity(kept_max)).collect();
        Self { directory, kept, kept_max }
    }

    /// The file that a result not seen before is to be written to.
    fn place(&mut self, plan: &Plan, operation: u16, fetched: Fetched) -> Option<PathBuf> {
        let Fetched { digest: Some(digest), ordered_digest, .. } = fetched else { return None };
        let kept = &mut self.kept[usize::from(operation)];
        if kept.len() >= self.kept_max || kept.contains(&(digest, ordered_digest)) {
            return None;
        }
        kept.push((digest, ordered_digest));
        let name = &plan.operations[usize::from(operation)];
        let path = self.directory.join(format!("{name}-{digest:016x}-{ordered_digest:016x}.arrow"));
        // Another worker may have kept the same result.
        (!path.exists()).then_some(path)
    }
}

/// An operation that was taken from the schedule.
#[derive(Clone, Copy, Debug)]
pub struct Issue {
    /// Number of the operation in the run.
    pub sequence: u64,
    /// Index of the phase.
    pub phase: u16,
    /// Session that issues it.
    pub session: u32,
    /// What the schedule said.
    pub ticket: Ticket,
}

/// How one operation ended.
#[derive(Debug)]
pub struct Ended {
    /// When its first attempt was sent.
    pub started_ns: i64,
    /// When its last row or its error had come.
    pub finished_ns: i64,
    /// Attempts beyond the first.
    pub retries: u32,
    /// How much of its latency the driver was busy with other operations.
    pub lag_ns: u64,
    /// What the session said of the last attempt.
    pub result: Result<(), SessionError>,
}

/// The books of one worker.
pub struct Books<K> {
    /// Where events go.
    pub sink: K,
    /// Where rows of results are kept, if they are.
    pub results: Option<Results>,
    /// Latencies of the phase.
    pub latencies: LatencyBook,
    /// Outcomes of the phase.
    pub counts: Vec<OutcomeCounts>,
}

impl<K: Sink> Books<K> {
    /// Empty books.
    pub fn new(sink: K, results: Option<Results>, operations: usize) -> Self {
        let counts = vec![OutcomeCounts::default(); operations];
        Self { sink, results, latencies: LatencyBook::new(operations), counts }
    }

    /// Starts a phase.
    pub fn clear(&mut self) {
        self.latencies.reset();
        self.counts.fill(OutcomeCounts::default());
    }

    /// Ends a phase.
    pub fn check(&self) {
        assert!(
            self.counts.iter().all(OutcomeCounts::balanced),
            "scheduled = ok + skipped + failed"
        );
    }

    /// Records a new connection, if the session has one.
    pub fn note_backend<S: Session + ?Sized>(&mut self, session: &mut S, number: u32) {
        if let Some(backend) = session.take_backend() {
            self.sink.connected(number, backend);
        }
        if let Some(server) = session.take_server() {
            self.sink.chose(number, server);
        }
    }

    /// An operation that came too late to be started.
    pub fn skipped(&mut self, issue: &Issue, due_ns: i64) {
        self.enter(&Event {
            sequence: issue.sequence,
            phase: issue.phase,
            pass: issue.ticket.pass,
            session: issue.session,
            operation: issue.ticket.operation,
            scheduled_ns: due_ns,
            started_ns: None,
            finished_ns: None,
            outcome: Outcome::Skipped,
            error: None,
            retries: 0,
            rows: None,
            digest: None,
            marks: None,
            lag_ns: None,
        });
    }

    /// An operation that ended: its rows are counted, digested, kept and let go.
    pub fn ended<S: Session + ?Sized>(
        &mut self,
        plan: &Plan,
        session: &mut S,
        issue: &Issue,
        mut ended: Ended,
    ) -> Result<(), DriveError> {
        let operation = issue.ticket.operation;
        let fetched = self.fetched(plan, session, issue, &mut ended)?;
        let marks = session.marks().filter(|_| ended.result.is_ok());
        if ended.result.is_ok() {
            if let Some(receipt) = session.receipt() {
                let (sequence, finished_ns) = (issue.sequence, ended.finished_ns);
                let event = ReceiptEvent { sequence, operation, finished_ns, receipt };
                self.sink.receipt(&event);
            }
            for time in session.statements() {
                self.sink.statement(&StatementEvent {
                    sequence: issue.sequence,
                    operation,
                    statement: time.statement,
                    started_ns: time.started_ns,
                    finished_ns: time.finished_ns,
                    rows: time.rows,
                });
            }
        }
        session.release();
        let scheduled_ns = issue.ticket.due_ns.unwrap_or(ended.started_ns);
        let error = match &ended.result {
            Ok(()) => None,
            Err(error) => Some(self.sink.error_class(operation, error)),
        };
        if error.is_none() {
            let latency_ns = ended.finished_ns - scheduled_ns;
            self.latencies.record(operation, latency_ns, ended.finished_ns - ended.started_ns);
        }
        self.note_backend(session, issue.session);
        self.enter(&Event {
            sequence: issue.sequence,
            phase: issue.phase,
            pass: issue.ticket.pass,
            session: issue.session,
            operation,
            scheduled_ns,
            started_ns: Some(ended.started_ns),
            finished_ns: Some(ended.finished_ns),
            outcome: if error.is_none() { Outcome::Ok } else { Outcome::Failed },
            error,
            retries: ended.retries,
            rows: fetched.map(|fetched| fetched.rows),
            digest: fetched.and_then(|fetched| fetched.digest),
            marks,
            lag_ns: Some(ended.lag_ns),
        });
        Ok(())
    }

    /// An attempt that failed after so many statements and is made again, from `started_ns` to
    /// `finished_ns`.
    pub fn again(
        &mut self,
        issue: &Issue,
        attempt: u32,
        statements: usize,
        (started_ns, finished_ns): (i64, i64),
        error: &SessionError,
    ) {
        let operation = issue.ticket.operation;
        let error = self.sink.error_class(operation, error);
        self.sink.attempt(&AttemptEvent {
            sequence: issue.sequence,
            operation,
            attempt,
            started_ns,
            finished_ns,
            error,
            statements: u32::try_from(statements).unwrap_or(u32::MAX),
        });
    }

    fn enter(&mut self, event: &Event) {
        self.counts[usize::from(event.operation)].add(event.outcome, event.retries);
        self.sink.event(event);
    }

    /// Counts, digests and keeps the rows. An error while looking at rows fails the operation.
    fn fetched<S: Session + ?Sized>(
        &mut self,
        plan: &Plan,
        session: &mut S,
        issue: &Issue,
        ended: &mut Ended,
    ) -> Result<Option<Fetched>, DriveError> {
        if ended.result.is_err() {
            return Ok(None);
        }
        let fetched = match session.fetched() {
            Ok(fetched) => fetched,
            Err(error) => {
                ended.result = Err(error);
                return Ok(None);
            }
        };
        let place =
            self.results.as_mut().and_then(|r| r.place(plan, issue.ticket.operation, fetched));
        if let Some(path) = place {
            keep(session, &path, issue.session)?;
        }
        Ok(Some(fetched))
    }
}

/// Has the rows written to a file that appears when it is whole. Sessions of several workers may
/// keep the same result at the same moment, so each writes a file of its own first.
fn keep<S: Session + ?Sized>(session: &mut S, path: &Path, number: u32) -> Result<(), DriveError> {
    let partial = path.with_extension(format!("{number}.partial"));
    session.keep(&partial).map_err(|error| DriveError::record(&partial, error.message))?;
    match std::fs::rename(&partial, path) {
        // A session keeps nothing of a result that was too large to be held.
        Err(error) if error.kind() != ErrorKind::NotFound => Err(DriveError::record(path, error)),
        _ => Ok(()),
    }
}
