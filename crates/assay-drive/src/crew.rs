//! The loop of a worker that owns several sessions: one thread, one epoll, no waiting but there.
//! It keeps the same books as the loop for one session, and the same order: an operation is timed
//! from just before it is sent to just after its last byte was read.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use assay_model::Plan;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};

use crate::books::{Books, Ended, Issue, Sink};
use crate::clock::Clock;
use crate::drive::{Shared, again};
use crate::error::DriveError;
use crate::schedule::{Schedule, Ticket};
use crate::session::{Session, SessionError, Step};
use crate::watchdog::Watch;

/// How long the thread sleeps at most before it looks whether it was asked to stop.
const LOOK_MS: u16 = 50;
/// A session that could not connect anew is left alone for this long.
const REFUSED_PAUSE_NS: i64 = 100_000_000;
/// Operations that are skipped at once, before running ones are looked at again.
const SKIPS_MAX: usize = 64;
/// Token of the timer; sessions have their place as token.
const TIMER: u64 = u64::MAX;
const EVENTS_MAX: usize = 64;

/// One session of a crew.
pub struct Member<'a> {
    /// Number of the session.
    pub number: u32,
    /// The connection.
    pub session: &'a mut dyn Session,
    /// Tells the watchdog what is running.
    pub watch: &'a Watch,
}

/// An operation under way.
struct Running {
    issue: Issue,
    started_ns: i64,
    /// When the attempt under way was sent.
    begun_ns: i64,
    retries: u32,
}

/// What the epoll knows of a member's connection.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Watched {
    connection: u32,
    writes: bool,
}

/// What is left to be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    /// Nothing: the phase is over, or the run is to stop.
    Nothing,
    /// Something that is not due yet, or has no session that is free for it.
    Later,
    /// Something that is due; running operations are looked at first.
    Now,
}

/// Several sessions of one thread.
pub struct Crew<'a, C, K> {
    clock: &'a C,
    members: Vec<Member<'a>>,
    running: Vec<Option<Running>>,
    watched: Vec<Option<Watched>>,
    idle: VecDeque<usize>,
    /// Until when a member is left alone, because it found no server.
    resting_ns: Vec<i64>,
    taking_part: usize,
    /// Taken from the schedule and not due yet.
    waiting: Option<Ticket>,
    poll: Epoll,
    timer: TimerFd,
    /// What is kept of operations.
    pub books: Books<K>,
}

fn system(error: nix::Error) -> DriveError {
    DriveError::System { what: "epoll", reason: error.to_string() }
}

impl<'a, C: Clock, K: Sink> Crew<'a, C, K> {
    /// A crew of sessions that can share a thread.
    pub fn new(
        clock: &'a C,
        mut members: Vec<Member<'a>>,
        books: Books<K>,
    ) -> Result<Self, DriveError> {
        let poll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).map_err(system)?;
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags).map_err(system)?;
        poll.add(&timer, EpollEvent::new(EpollFlags::EPOLLIN, TIMER)).map_err(system)?;
        for member in &mut members {
            let shared = member.session.shared().expect("only sessions that can share have a crew");
            shared.share().map_err(|error| DriveError::Open {
                session: member.number,
                reason: error.to_string(),
            })?;
        }
        let count = members.len();
        Ok(Self {
            clock,
            running: (0..count).map(|_| None).collect(),
            watched: vec![None; count],
            idle: VecDeque::with_capacity(count),
            resting_ns: vec![0; count],
            taking_part: 0,
            members,
            waiting: None,
            poll,
            timer,
            books,
        })
    }

    /// Number of the first session.
    pub fn first_number(&self) -> u32 {
        self.members.first().map_or(u32::MAX, |member| member.number)
    }

    /// Plays one phase to its end with the members that take part in it.
    pub fn play(
        &mut self,
        plan: &Plan,
        phase: u16,
        schedule: &Schedule<'_>,
        shared: &Shared,
    ) -> Result<(), DriveError> {
        self.books.clear();
        let taking_part = plan.phases[usize::from(phase)].arrival.sessions();
        self.idle.clear();
        self.waiting = None;
        for (place, member) in self.members.iter_mut().enumerate() {
            self.books.note_backend(member.session, member.number);
            if member.number < taking_part {
                self.idle.push_back(place);
            }
        }
        self.taking_part = self.idle.len();
        let mut events = [EpollEvent::empty(); EVENTS_MAX];
        loop {
            let left = self.start_due(plan, phase, schedule, shared)?;
            if left == Left::Nothing && self.idle.len() == self.taking_part {
                break;
            }
            let patience_ms = if left == Left::Now { 0 } else { LOOK_MS };
            let count = self
                .poll
                .wait(&mut events, EpollTimeout::from(patience_ms))
                .or_else(|error| if error == nix::Error::EINTR { Ok(0) } else { Err(error) })
                .map_err(system)?;
            for event in &events[..count] {
                if event.data() == TIMER {
                    // Left unread it would wake this thread again and again.
                    let _ = self.timer.wait();
                } else {
                    self.advance(plan, event.data() as usize, shared)?;
                }
            }
        }
        self.books.check();
        Ok(())
    }

    /// Starts what is due on idle sessions, each of them once.
    fn start_due(
        &mut self,
        plan: &Plan,
        phase: u16,
        schedule: &Schedule<'_>,
        shared: &Shared,
    ) -> Result<Left, DriveError> {
        let (mut tries, mut skips) = (self.idle.len(), 0);
        while tries > 0 && skips < SKIPS_MAX {
            if shared.stop.load(Ordering::Relaxed) {
                return Ok(Left::Nothing);
            }
            let now_ns = self.clock.now_ns();
            let place = self.idle[0];
            if self.resting_ns[place] > now_ns {
                self.idle.rotate_left(1);
                tries -= 1;
                continue;
            }
            let Some(ticket) =
                self.waiting.take().or_else(|| schedule.next(self.first_number(), now_ns))
            else {
                return Ok(Left::Nothing);
            };
            let late = ticket.due_ns.is_some_and(|due_ns| schedule.too_late(due_ns, now_ns));
            if let Some(due_ns) = ticket.due_ns {
                // What is left over at the end waits until the last operation has ended, whose
                // time would else be ours.
                let running = self.idle.len() < self.taking_part;
                if due_ns > now_ns || (running && schedule.is_over(now_ns)) {
                    self.waiting = Some(ticket);
                    if due_ns > now_ns {
                        self.wake_at(due_ns)?;
                    }
                    return Ok(Left::Later);
                }
            }
            let sequence = shared.sequence.fetch_add(1, Ordering::Relaxed);
            let issue = Issue { sequence, phase, session: self.members[place].number, ticket };
            match ticket.due_ns {
                Some(due_ns) if late => {
                    self.books.skipped(&issue, due_ns);
                    shared.ended.fetch_add(1, Ordering::Relaxed);
                    skips += 1;
                }
                _ => {
                    self.idle.pop_front();
                    self.running[place] =
                        Some(Running { issue, started_ns: now_ns, begun_ns: now_ns, retries: 0 });
                    self.begin(plan, place, shared)?;
                    tries -= 1;
                }
            }
        }
        // Sessions that are free again at once have failed, and those that rest are not free.
        let free = self.idle.iter().any(|place| self.resting_ns[*place] == 0);
        Ok(if free { Left::Now } else { Left::Later })
    }

    fn wake_at(&self, due_ns: i64) -> Result<(), DriveError> {
        let due = TimeSpec::new(due_ns / 1_000_000_000, due_ns % 1_000_000_000);
        self.timer
            .set(Expiration::OneShot(due), TimerSetTimeFlags::TFD_TIMER_ABSTIME)
            .map_err(system)
    }

    /// Sends the operation of a member, for the first time or again.
    fn begin(&mut self, plan: &Plan, place: usize, shared: &Shared) -> Result<(), DriveError> {
        let Some(running) = &self.running[place] else { return Ok(()) };
        let member = &mut self.members[place];
        member.watch.begin(running.started_ns);
        let operation = running.issue.ticket.operation;
        let step = shareable(member.session).begin(operation);
        self.after(plan, place, step, shared)
    }

    fn advance(&mut self, plan: &Plan, place: usize, shared: &Shared) -> Result<(), DriveError> {
        if self.running[place].is_none() {
            // An idle connection that becomes readable was closed, or carries a notice: the next
            // operation will meet it. Watching it on would wake this thread again and again.
            return self.forget(place);
        }
        let step = shareable(self.members[place].session).advance();
        self.after(plan, place, step, shared)
    }

    fn after(
        &mut self,
        plan: &Plan,
        place: usize,
        step: Result<Step, SessionError>,
        shared: &Shared,
    ) -> Result<(), DriveError> {
        let result = match step {
            Ok(Step::Ended) => Ok(()),
            Err(error) => Err(error),
            Ok(step) => return self.watch(place, step == Step::Writes),
        };
        let finished_ns = self.clock.now_ns();
        let Some(mut running) = self.running[place].take() else { return Ok(()) };
        let member = &mut self.members[place];
        let result = member.watch.judge(plan, running.started_ns, finished_ns, result);
        if let Err(error) = &result
            && again(plan, running.retries, error)
        {
            let times = (running.begun_ns, finished_ns);
            self.books.again(&running.issue, running.retries, times, error);
            running.retries += 1;
            running.begun_ns = self.clock.now_ns();
            self.running[place] = Some(running);
            return self.begin(plan, place, shared);
        }
        let Running { issue, started_ns, retries, .. } = running;
        let lost = result.is_err() && shareable(member.session).connection().is_none();
        self.resting_ns[place] = if lost { finished_ns + REFUSED_PAUSE_NS } else { 0 };
        let ended = Ended { started_ns, finished_ns, retries, result };
        self.books.ended(plan, member.session, &issue, ended)?;
        shared.ended.fetch_add(1, Ordering::Relaxed);
        self.idle.push_back(place);
        Ok(())
    }

    /// Makes sure that the epoll knows what the member waits for.
    fn watch(&mut self, place: usize, writes: bool) -> Result<(), DriveError> {
        let session = shareable(self.members[place].session);
        let Some((descriptor, connection)) = session.connection() else { return Ok(()) };
        let wanted = Watched { connection, writes };
        let known = self.watched[place];
        if known == Some(wanted) {
            return Ok(());
        }
        let both = EpollFlags::EPOLLIN | EpollFlags::EPOLLOUT;
        let flags = if writes { both } else { EpollFlags::EPOLLIN };
        let mut event = EpollEvent::new(flags, place as u64);
        match known {
            // A closed descriptor left the epoll by itself.
            Some(known) if known.connection == connection => {
                self.poll.modify(descriptor, &mut event).map_err(system)?;
            }
            _ => self.poll.add(descriptor, event).map_err(system)?,
        }
        self.watched[place] = Some(wanted);
        Ok(())
    }

    fn forget(&mut self, place: usize) -> Result<(), DriveError> {
        let session = shareable(self.members[place].session);
        if let (Some((descriptor, connection)), Some(known)) =
            (session.connection(), self.watched[place])
            && known.connection == connection
        {
            self.poll.delete(descriptor).map_err(system)?;
        }
        self.watched[place] = None;
        Ok(())
    }
}

fn shareable(session: &mut dyn Session) -> &mut dyn crate::session::SharedSession {
    session.shared().expect("only sessions that can share have a crew")
}
