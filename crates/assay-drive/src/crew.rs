//! The loop of a worker that owns several sessions: one thread, one epoll, no waiting but there.
//! It keeps the same books as the loop for one session, and the same order: an operation is timed
//! from just before it is sent to just after its last byte was read.

mod connecting;
mod member;

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use std::thread::Scope;

use assay_model::Plan;
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

use self::connecting::Connecting;
pub use self::member::Member;
use self::member::{Departure, Left, Part, Running, Watched};
use crate::books::{Books, Ended, Issue, Sink};
use crate::clock::Clock;
use crate::deck::Hand;
use crate::drive::{Shared, again, lag_of_start};
use crate::error::DriveError;
use crate::schedule::{Schedule, Ticket};
use crate::session::{SessionError, Step};
use crate::terminal::{Turn, Turns};

/// How long the thread sleeps at most before it looks whether it was asked to stop.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
/// A session that could not connect anew is left alone for this long.
const REFUSED_PAUSE_NS: i64 = 100_000_000;
/// Operations that are skipped at once, before running ones are looked at again.
const SKIPS_MAX: usize = 64;
/// Token of the timer; sessions have their place as token.
const TIMER: u64 = u64::MAX;
/// Token of the bell that rings when a session has connected anew.
const BELL: u64 = u64::MAX - 1;

/// Several sessions of one thread.
pub struct Crew<'a, C, K> {
    clock: &'a C,
    members: Vec<Member<'a>>,
    running: Vec<Option<Running>>,
    watched: Vec<Option<Watched>>,
    /// Members that are free, in phases without waits.
    idle: VecDeque<usize>,
    /// Turns of members that are free, in phases with waits.
    turns: Turns,
    /// Operations under way.
    busy: usize,
    /// Until when a member is left alone, because it found no server.
    resting_ns: Vec<i64>,
    /// Since when a member has nothing to do.
    free_ns: Vec<i64>,
    /// When the epoll was last looked at.
    looked_ns: i64,
    /// Taken from the schedule and not due yet.
    waiting: Option<Ticket>,
    /// The phase's cards.
    hand: Hand,
    poll: OwnedFd,
    timer: OwnedFd,
    /// What the timer is set to.
    timer_ns: i64,
    connecting: Connecting<'a>,
    /// Members that have no connection, and an operation to begin or to go on with.
    leaving: Vec<(usize, Departure)>,
    /// What is kept of operations.
    pub books: Books<K>,
}

fn system(error: Errno) -> DriveError {
    DriveError::System { what: "epoll", reason: error.to_string() }
}

impl<'a, C: Clock + Sync, K: Sink> Crew<'a, C, K> {
    /// A crew of sessions that can share a thread.
    pub fn new(
        clock: &'a C,
        mut members: Vec<Member<'a>>,
        books: Books<K>,
    ) -> Result<Self, DriveError> {
        let poll = epoll::create(CreateFlags::CLOEXEC).map_err(system)?;
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags).map_err(system)?;
        epoll::add(&poll, &timer, EventData::new_u64(TIMER), EventFlags::IN).map_err(system)?;
        let connecting = Connecting::new().map_err(system)?;
        let bell = EventData::new_u64(BELL);
        epoll::add(&poll, connecting.bell(), bell, EventFlags::IN).map_err(system)?;
        for member in &mut members {
            member.shared().share().map_err(|error| DriveError::Open {
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
            turns: Turns::new(count),
            busy: 0,
            resting_ns: vec![0; count],
            free_ns: vec![0; count],
            looked_ns: 0,
            members,
            waiting: None,
            hand: Hand::default(),
            poll,
            timer,
            timer_ns: 0,
            connecting,
            leaving: Vec::new(),
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
        let part = &Part { plan, phase, schedule, shared };
        self.enter(part);
        std::thread::scope(|scope| self.attend(part, scope))?;
        self.books.check();
        Ok(())
    }

    /// Attends to members until nothing is left to be started and nothing is under way.
    fn attend<'scope>(
        &mut self,
        part: &Part<'_>,
        scope: &'scope Scope<'scope, 'a>,
    ) -> Result<(), DriveError> {
        let mut events = Vec::with_capacity(self.members.len() + 2);
        loop {
            let left = match part.schedule.with_waits() {
                Some(_) => self.start_turns(part)?,
                None => self.start_due(part)?,
            };
            if left == Left::Nothing && self.busy == 0 {
                break;
            }
            self.send_off(scope);
            let ready_ns = self.poll(&mut events, left)?;
            for (number, event) in events.iter().enumerate() {
                let token = event.data.u64();
                if token == TIMER {
                    self.timer_ns = 0;
                    // Left unread it would wake this thread again and again.
                    let _ = rustix::io::read(&self.timer, &mut [0; 8]);
                } else if token == BELL {
                    self.take_back(part)?;
                } else {
                    let now_ns = if number == 0 { self.looked_ns } else { self.clock.now_ns() };
                    self.advance(part, token as usize, (ready_ns, now_ns))?;
                }
            }
        }
        Ok(())
    }

    /// Waits for sessions that are ready; the earliest time from which on they may be so.
    ///
    /// Those that are ready at once became so while this thread was busy: after the last look. It
    /// sleeps only where there are none, and those that end its sleep are ready since then.
    fn poll(&mut self, events: &mut Vec<epoll::Event>, left: Left) -> Result<i64, DriveError> {
        let mut ready_ns = self.looked_ns;
        self.look(events, NOW)?;
        if events.is_empty() && left != Left::Now {
            self.look(events, LOOK)?;
            ready_ns = i64::MAX;
        }
        self.looked_ns = self.clock.now_ns();
        Ok(ready_ns.min(self.looked_ns))
    }

    fn look(&self, events: &mut Vec<epoll::Event>, patience: Timespec) -> Result<(), DriveError> {
        events.clear();
        match epoll::wait(&self.poll, spare_capacity(events), Some(&patience)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(system(error)),
        }
    }

    /// Members that take part are free, or at their terminals.
    fn enter(&mut self, part: &Part<'_>) {
        self.books.clear();
        let taking_part = part.plan.phases[usize::from(part.phase)].arrival.sessions();
        self.idle.clear();
        self.turns.clear();
        self.waiting = None;
        self.hand = part.schedule.hand();
        self.looked_ns = self.clock.now_ns();
        self.free_ns.fill(self.looked_ns);
        for (place, member) in self.members.iter_mut().enumerate() {
            if let Some(session) = &mut member.session {
                self.books.note_backend(&mut **session, member.number);
            }
            if member.number >= taking_part {
                continue;
            }
            match part.schedule.with_waits() {
                Some(phase) => {
                    member.terminal.enter(phase, part.schedule.begun_ns());
                    self.turns.add(member.terminal.turn_ns(), place);
                }
                None => self.idle.push_back(place),
            }
        }
    }

    /// Has terminals take the turns that have come, as many as there are members at once.
    fn start_turns(&mut self, part: &Part<'_>) -> Result<Left, DriveError> {
        for _ in 0..self.members.len() {
            if part.stopped() {
                return Ok(Left::Nothing);
            }
            let now_ns = self.clock.now_ns();
            let Some(turn_ns) = self.turns.next_ns() else { return Ok(Left::Nothing) };
            if part.schedule.is_over(turn_ns) {
                // Nothing becomes due any more, and the phase lasts as long as it was to.
                if part.schedule.is_over(now_ns) {
                    return Ok(Left::Nothing);
                }
                return self.wake_at(part.schedule.end_ns());
            }
            let Some(place) = self.turns.take(now_ns) else { return self.wake_at(turn_ns) };
            self.take_turn(part, place, now_ns)?;
        }
        Ok(Left::Now)
    }

    fn take_turn(&mut self, part: &Part<'_>, place: usize, now_ns: i64) -> Result<(), DriveError> {
        if self.resting_ns[place] > now_ns {
            self.turns.add(self.resting_ns[place], place);
            return Ok(());
        }
        let member = &mut self.members[place];
        match member.terminal.turn(part.schedule, &mut self.hand) {
            Turn::Over => Ok(()),
            Turn::Waits => {
                self.turns.add(member.terminal.turn_ns(), place);
                Ok(())
            }
            Turn::Sends(ticket) => {
                let issue = part.issue(member.number, ticket);
                match part.too_late(&ticket, now_ns) {
                    None => self.start(part, place, issue, now_ns),
                    Some(due_ns) => {
                        self.skip(part, &issue, due_ns);
                        self.free(part, place, ticket.operation, now_ns);
                        Ok(())
                    }
                }
            }
        }
    }

    /// A member has nothing to do any more.
    fn free(&mut self, part: &Part<'_>, place: usize, operation: u16, now_ns: i64) {
        if part.schedule.with_waits().is_some() {
            let terminal = &mut self.members[place].terminal;
            terminal.ended(part.schedule, operation, now_ns);
            self.turns.add(terminal.turn_ns(), place);
        } else {
            self.idle.push_back(place);
        }
    }

    /// Starts what is due on idle sessions, each of them once.
    fn start_due(&mut self, part: &Part<'_>) -> Result<Left, DriveError> {
        let (mut tries, mut skips) = (self.idle.len(), 0);
        while tries > 0 && skips < SKIPS_MAX {
            if part.stopped() {
                return Ok(Left::Nothing);
            }
            let now_ns = self.clock.now_ns();
            let place = self.idle[0];
            if self.resting_ns[place] > now_ns {
                self.idle.rotate_left(1);
                tries -= 1;
                continue;
            }
            let number = self.members[place].number;
            let waiting = self.waiting.take();
            let Some(ticket) =
                waiting.or_else(|| part.schedule.next(number, now_ns, &mut self.hand))
            else {
                if part.schedule.ends_by_session() {
                    // The others play what they began to its end.
                    self.idle.pop_front();
                    tries -= 1;
                    continue;
                }
                return Ok(Left::Nothing);
            };
            if let Some(due_ns) = ticket.due_ns {
                // What is left over at the end waits until the last operation has ended, whose
                // time would else be ours.
                let left_over = self.busy > 0 && part.schedule.is_cut(now_ns);
                if due_ns > now_ns || left_over {
                    self.waiting = Some(ticket);
                    return if due_ns > now_ns { self.wake_at(due_ns) } else { Ok(Left::Later) };
                }
            }
            let issue = part.issue(self.members[place].number, ticket);
            if let Some(due_ns) = part.too_late(&ticket, now_ns) {
                self.skip(part, &issue, due_ns);
                skips += 1;
            } else {
                self.idle.pop_front();
                self.start(part, place, issue, now_ns)?;
                tries -= 1;
            }
        }
        if self.idle.is_empty() && self.busy == 0 {
            return Ok(Left::Nothing);
        }
        // Sessions that are free again at once have failed, and those that rest are not free.
        let free = self.idle.iter().any(|place| self.resting_ns[*place] == 0);
        Ok(if free { Left::Now } else { Left::Later })
    }

    fn skip(&mut self, part: &Part<'_>, issue: &Issue, due_ns: i64) {
        self.books.skipped(issue, due_ns);
        part.shared.ended.fetch_add(1, Ordering::Relaxed);
    }

    /// Has the timer end this thread's next wait.
    fn wake_at(&mut self, due_ns: i64) -> Result<Left, DriveError> {
        if self.timer_ns != due_ns {
            let due = Timespec { tv_sec: due_ns / 1_000_000_000, tv_nsec: due_ns % 1_000_000_000 };
            let due = Itimerspec { it_interval: NOW, it_value: due };
            timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &due).map_err(system)?;
            self.timer_ns = due_ns;
        }
        Ok(Left::Later)
    }

    fn start(
        &mut self,
        part: &Part<'_>,
        place: usize,
        issue: Issue,
        now_ns: i64,
    ) -> Result<(), DriveError> {
        self.busy += 1;
        self.running[place] = Some(Running {
            issue,
            started_ns: now_ns,
            begun_ns: now_ns,
            retries: 0,
            lag_ns: lag_of_start(&issue.ticket, self.free_ns[place], now_ns),
            attended_ns: now_ns,
        });
        self.begin(part, place)
    }

    /// Sends the operation of a member, for the first time or again. One that has no connection is
    /// to make it where it holds nobody up.
    fn begin(&mut self, part: &Part<'_>, place: usize) -> Result<(), DriveError> {
        let Some(running) = &self.running[place] else { return Ok(()) };
        let member = &mut self.members[place];
        member.watch.begin(running.started_ns);
        let operation = running.issue.ticket.operation;
        member.session().choose(running.issue.ticket.row);
        if member.shared().connection().is_none() {
            self.leaving.push((place, Departure::Begins));
            return Ok(());
        }
        let step = member.shared().begin(operation);
        self.after(part, place, step)
    }

    fn advance(
        &mut self,
        part: &Part<'_>,
        place: usize,
        (ready_ns, now_ns): (i64, i64),
    ) -> Result<(), DriveError> {
        let Some(running) = &mut self.running[place] else {
            // An idle connection that becomes readable was closed, or carries a notice: the next
            // operation will meet it. Watching it on would wake this thread again and again.
            return self.forget(place);
        };
        // What was found ready became so in the middle of the time in which it may have.
        let earliest_ns = ready_ns.max(running.attended_ns).min(self.looked_ns);
        let ready_ns = i64::midpoint(earliest_ns, self.looked_ns);
        running.lag_ns += (now_ns - ready_ns).max(0) as u64;
        running.attended_ns = now_ns;
        if self.members[place].session.is_none() {
            return Ok(());
        }
        let step = self.members[place].shared().advance();
        self.after(part, place, step)
    }

    fn after(
        &mut self,
        part: &Part<'_>,
        place: usize,
        step: Result<Step, SessionError>,
    ) -> Result<(), DriveError> {
        let result = match step {
            Ok(Step::Ended) => Ok(()),
            Err(error) => Err(error),
            Ok(Step::Connects) => {
                self.leaving.push((place, Departure::GoesOn));
                return Ok(());
            }
            Ok(step) => return self.watch(place, step == Step::Writes),
        };
        let finished_ns = self.clock.now_ns();
        let Some(mut running) = self.running[place].take() else { return Ok(()) };
        let member = &mut self.members[place];
        let result = member.watch.judge(part.plan, running.started_ns, finished_ns, result);
        if let Err(error) = &result
            && again(part.plan, running.retries, error)
        {
            let times = (running.begun_ns, finished_ns);
            let answered = member.session().statements().len();
            self.books.again(&running.issue, running.retries, answered, times, error);
            running.retries += 1;
            running.begun_ns = self.clock.now_ns();
            running.attended_ns = running.begun_ns;
            self.running[place] = Some(running);
            return self.begin(part, place);
        }
        let Running { issue, started_ns, retries, lag_ns, .. } = running;
        let lost = result.is_err() && member.shared().connection().is_none();
        self.resting_ns[place] = if lost { finished_ns + REFUSED_PAUSE_NS } else { 0 };
        self.free_ns[place] = self.resting_ns[place].max(finished_ns);
        let ended = Ended { started_ns, finished_ns, retries, lag_ns, result };
        self.books.ended(part.plan, member.session(), &issue, ended)?;
        part.shared.ended.fetch_add(1, Ordering::Relaxed);
        self.busy -= 1;
        self.free(part, place, issue.ticket.operation, finished_ns);
        Ok(())
    }

    /// Makes sure that the epoll knows what the member waits for.
    fn watch(&mut self, place: usize, writes: bool) -> Result<(), DriveError> {
        let session = self.members[place].shared();
        let Some((descriptor, connection)) = session.connection() else { return Ok(()) };
        let wanted = Watched { connection, writes };
        let watched = self.watched[place];
        if watched == Some(wanted) {
            return Ok(());
        }
        let flags = if writes { EventFlags::IN | EventFlags::OUT } else { EventFlags::IN };
        let token = EventData::new_u64(place as u64);
        match watched {
            // A closed descriptor left the epoll by itself.
            Some(watched) if watched.connection == connection => {
                epoll::modify(&self.poll, descriptor, token, flags).map_err(system)?;
            }
            _ => epoll::add(&self.poll, descriptor, token, flags).map_err(system)?,
        }
        self.watched[place] = Some(wanted);
        Ok(())
    }

    fn forget(&mut self, place: usize) -> Result<(), DriveError> {
        let session = self.members[place].shared();
        if let (Some((descriptor, connection)), Some(watched)) =
            (session.connection(), self.watched[place])
            && watched.connection == connection
        {
            epoll::delete(&self.poll, descriptor).map_err(system)?;
        }
        self.watched[place] = None;
        Ok(())
    }
}
