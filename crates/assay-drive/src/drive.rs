//! The loop of a worker that owns one session. It reads an arrival, a clock and a session, and
//! tells its books what happened. It takes no lock and calls nothing but those, as long as no
//! operation fails, and it allocates only the histogram of an operation that ends for the first time.
//! Workers with several sessions have the loop in [`crate::crew`].

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use assay_model::{Arrival, Edge, Meter, Plan};

use crate::books::{Books, Ended, Issue, Sink};
use crate::clock::Clock;
use crate::deck::Hand;
use crate::error::DriveError;
use crate::schedule::{Schedule, Ticket};
use crate::session::{Session, SessionError};
use crate::terminal::{Terminal, Turn};
use crate::watchdog::Watch;

/// State that all sessions of a run share. Counters only.
#[derive(Default)]
pub struct Shared {
    /// Set when the run must stop: Ctrl-C or deadline.
    pub stop: AtomicBool,
    /// Next event's number.
    pub sequence: AtomicU64,
    /// Operations that ended.
    pub ended: AtomicU64,
}

/// Looks at the engine just outside each operation of a serial run.
pub type Observer = Box<dyn FnMut(u64, Edge) + Send>;

/// One session at work, with its own books.
pub struct Worker<'a, C, S: ?Sized, K> {
    /// Number of the session.
    pub number: u32,
    /// Source of time.
    pub clock: &'a C,
    /// The connection.
    pub session: &'a mut S,
    /// What it waits around operations, in phases that have waits.
    pub terminal: Terminal,
    /// Reads the engine's tasks outside the timed interval, in serial tests.
    pub meter: Option<Box<dyn Meter + Send>>,
    /// Operations of which proportional memory was read.
    pub weighed: Vec<bool>,
    /// Reads the engine's own counters there.
    pub observer: Option<Observer>,
    /// Tells the watchdog what is running.
    pub watch: &'a Watch,
    /// Since when the session has nothing to do.
    pub free_ns: i64,
    /// What is kept of operations.
    pub books: Books<K>,
}

impl<C: Clock, S: Session + ?Sized, K: Sink> Worker<'_, C, S, K> {
    /// Plays one phase to its end.
    pub fn play(
        &mut self,
        plan: &Plan,
        phase: u16,
        schedule: &Schedule<'_>,
        shared: &Shared,
    ) -> Result<(), DriveError> {
        self.books.clear();
        self.weighed.resize(plan.operations.len(), false);
        self.books.note_backend(self.session, self.number);
        let waits = schedule.with_waits();
        if let Some(phase) = waits {
            self.terminal.enter(phase, schedule.begun_ns());
        }
        let mut hand = schedule.hand();
        let mut now_ns = self.clock.now_ns();
        self.free_ns = now_ns;
        while !shared.stop.load(Ordering::Relaxed) {
            let ticket = if waits.is_some() {
                self.await_turn(schedule, &mut hand, shared)
            } else {
                let next = schedule.next(self.number, now_ns, &mut hand);
                next.filter(|ticket| self.await_due(ticket.due_ns, shared))
            };
            let Some(ticket) = ticket else { break };
            let sequence = shared.sequence.fetch_add(1, Ordering::Relaxed);
            let issue = Issue { sequence, phase, session: self.number, ticket };
            // The end of an operation is early enough for what is next to be looked up by.
            now_ns = match ticket.due_ns {
                Some(due_ns) if schedule.too_late(due_ns, self.clock.now_ns()) => {
                    self.books.skipped(&issue, due_ns);
                    self.clock.now_ns()
                }
                _ => {
                    self.free_ns = self.issue(plan, &issue)?;
                    self.free_ns
                }
            };
            if waits.is_some() {
                self.terminal.ended(schedule, ticket.operation, now_ns);
            }
            shared.ended.fetch_add(1, Ordering::Relaxed);
        }
        self.books.check();
        Ok(())
    }

    /// Waits until the session's terminal sends an operation; `None`: it sends none any more before
    /// the end of the phase, for which it waits, or of the run.
    fn await_turn(
        &mut self,
        schedule: &Schedule<'_>,
        hand: &mut Hand,
        shared: &Shared,
    ) -> Option<Ticket> {
        loop {
            let turn_ns = self.terminal.turn_ns();
            if schedule.is_over(turn_ns) {
                self.await_due(Some(schedule.end_ns()), shared);
                return None;
            }
            if !self.await_due(Some(turn_ns), shared) {
                return None;
            }
            match self.terminal.turn(schedule, hand) {
                Turn::Waits => {}
                Turn::Sends(ticket) => return Some(ticket),
                Turn::Over => return None,
            }
        }
    }

    /// Waits until the operation is due; false if the run was stopped before.
    fn await_due(&self, due_ns: Option<i64>, shared: &Shared) -> bool {
        let Some(due_ns) = due_ns else { return true };
        while self.clock.now_ns() < due_ns {
            if shared.stop.load(Ordering::Relaxed) {
                return false;
            }
            self.clock.sleep_until(due_ns);
        }
        true
    }

    /// Carries out an operation; when it ended.
    fn issue(&mut self, plan: &Plan, issue: &Issue) -> Result<i64, DriveError> {
        // Beside other sessions nobody could tell whose work was seen.
        let alone = plan.phases[usize::from(issue.phase)].is_serial();
        if let Some(observe) = self.observer.as_mut().filter(|_| alone) {
            observe(issue.sequence, Edge::Start);
        }
        self.read_meter(plan, issue, Edge::Start);
        let ended = self.attempt(plan, issue);
        self.read_meter(plan, issue, Edge::End);
        let finished_ns = ended.finished_ns;
        self.books.ended(plan, self.session, issue, ended)?;
        if let Some(observe) = self.observer.as_mut().filter(|_| alone) {
            // A server that goes silent here is interrupted, too.
            self.watch.begin(self.clock.now_ns());
            self.session.settle();
            let _ = self.watch.end();
            observe(issue.sequence, Edge::End);
        }
        Ok(finished_ns)
    }

    /// Sends the operation until it succeeds, may not be retried, or was retried often enough.
    fn attempt(&mut self, plan: &Plan, issue: &Issue) -> Ended {
        let started_ns = self.clock.now_ns();
        let lag_ns = lag_of_start(&issue.ticket, self.free_ns, started_ns);
        let (mut retries, mut begun_ns) = (0, started_ns);
        loop {
            self.watch.begin(started_ns);
            self.session.choose(issue.ticket.row);
            let result = self.session.execute(issue.ticket.operation);
            let finished_ns = self.clock.now_ns();
            let result = self.watch.judge(plan, started_ns, finished_ns, result);
            match &result {
                Err(error) if again(plan, retries, error) => {
                    let answered = self.session.statements().len();
                    let times = (begun_ns, finished_ns);
                    self.books.again(issue, retries, answered, times, error);
                    retries += 1;
                    begun_ns = self.clock.now_ns();
                }
                _ => return Ended { started_ns, finished_ns, retries, lag_ns, result },
            }
        }
    }

    fn read_meter(&mut self, plan: &Plan, issue: &Issue, edge: Edge) {
        let phase = &plan.phases[usize::from(issue.phase)];
        let alone = phase.arrival == Arrival::Power;
        let Some(meter) = self.meter.as_mut().filter(|_| alone) else { return };
        let mut counters = meter.read(edge);
        if edge == Edge::End && phase.memory {
            let weighed = &mut self.weighed[usize::from(issue.ticket.operation)];
            counters.pss_bytes = meter.read_pss_bytes(!*weighed);
            *weighed |= counters.pss_bytes.is_some();
        }
        self.books.sink.reading(issue.sequence, edge, &counters);
    }
}

/// How late an operation was started because of the driver: not due to a session that was not free.
pub(crate) fn lag_of_start(ticket: &Ticket, free_ns: i64, started_ns: i64) -> u64 {
    let could_ns = ticket.due_ns.map_or(started_ns, |due_ns| due_ns.max(free_ns));
    (started_ns - could_ns).max(0) as u64
}

/// Whether a failed attempt is made again.
pub(crate) const fn again(plan: &Plan, retries: u32, error: &SessionError) -> bool {
    error.retryable && retries < plan.retries_max
}
