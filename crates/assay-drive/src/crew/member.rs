//! One session of a crew, what it has under way, and the part of a plan that a crew plays.

use std::sync::atomic::Ordering;

use assay_model::Plan;

use crate::books::Issue;
use crate::drive::Shared;
use crate::schedule::{Schedule, Ticket};
use crate::session::{Session, SharedSession};
use crate::terminal::Terminal;
use crate::watchdog::Watch;

/// One session of a crew.
pub struct Member<'a> {
    /// Number of the session.
    pub number: u32,
    /// The connection; `None` while it is made anew.
    pub session: Option<&'a mut dyn Session>,
    /// What it waits around operations, in phases that have waits.
    pub terminal: Terminal,
    /// Tells the watchdog what is running.
    pub watch: &'a Watch,
}

impl Member<'_> {
    /// Its session, which is not connecting.
    pub(super) fn session(&mut self) -> &mut dyn Session {
        &mut **self.session.as_mut().expect("a session that connects is left alone")
    }

    pub(super) fn shared(&mut self) -> &mut dyn SharedSession {
        self.session().shared().expect("only sessions that can share have a crew")
    }
}

/// An operation under way.
pub(super) struct Running {
    pub(super) issue: Issue,
    pub(super) started_ns: i64,
    /// When the attempt under way was sent.
    pub(super) begun_ns: i64,
    pub(super) retries: u32,
    /// How long it waited until now for the thread, which was busy with other members.
    pub(super) lag_ns: u64,
    /// When the session was last attended to: no answer that is read later came before.
    pub(super) attended_ns: i64,
}

/// How a member that has no connection goes on, on a thread of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Departure {
    /// It connects and begins its operation.
    Begins,
    /// It connects and goes on with its operation.
    GoesOn,
}

/// What the epoll knows of a member's connection.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Watched {
    pub(super) connection: u32,
    pub(super) writes: bool,
}

/// What is left to be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// Nothing: the phase is over, or the run is to stop.
    Nothing,
    /// Something that is not due yet, or has no session that is free for it.
    Later,
    /// Something that is due; running operations are looked at first.
    Now,
}

/// What is played.
#[derive(Clone, Copy)]
pub(super) struct Part<'p> {
    pub(super) plan: &'p Plan,
    pub(super) phase: u16,
    pub(super) schedule: &'p Schedule<'p>,
    pub(super) shared: &'p Shared,
}

impl Part<'_> {
    pub(super) fn stopped(&self) -> bool {
        self.shared.stop.load(Ordering::Relaxed)
    }

    /// When an operation was due that is too late to be started.
    pub(super) fn too_late(&self, ticket: &Ticket, now_ns: i64) -> Option<i64> {
        ticket.due_ns.filter(|due_ns| self.schedule.too_late(*due_ns, now_ns))
    }

    /// The operation of a session, with the number that is next.
    pub(super) fn issue(&self, session: u32, ticket: Ticket) -> Issue {
        let sequence = self.shared.sequence.fetch_add(1, Ordering::Relaxed);
        Issue { sequence, phase: self.phase, session, ticket }
    }
}
