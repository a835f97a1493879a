//! Connecting anew beside a crew: names are resolved, servers waited for and passwords proved on a
//! thread of its own, while the crew serves its other sessions.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};
use std::thread::{Builder, Scope};

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;

use super::Crew;
use super::member::{Departure, Part};
use crate::books::Sink;
use crate::clock::Clock;
use crate::error::DriveError;
use crate::session::{Session, SessionError, Step};

/// A session that comes back to its crew.
pub struct Back<'a> {
    /// Its place in the crew.
    pub place: usize,
    /// The session itself.
    pub session: &'a mut dyn Session,
    /// How its operation began or went on.
    pub step: Result<Step, SessionError>,
    /// When that was.
    pub at_ns: i64,
}

/// Where sessions of a crew connect.
pub struct Connecting<'a> {
    done: mpsc::Receiver<Back<'a>>,
    tell: mpsc::Sender<Back<'a>>,
    /// Becomes readable when a session comes back.
    bell: Arc<OwnedFd>,
}

impl<'a> Connecting<'a> {
    /// Nobody connects yet.
    pub fn new() -> Result<Self, Errno> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let (tell, done) = mpsc::channel();
        Ok(Self { done, tell, bell: Arc::new(bell) })
    }

    /// What an epoll can watch.
    pub fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }

    /// Has a session connect and begin its operation, or go on with it, on another thread; here, if
    /// there is none to be had.
    pub fn send<'scope, C: Clock + Sync>(
        &self,
        scope: &'scope Scope<'scope, 'a>,
        clock: &'a C,
        place: usize,
        session: &'a mut dyn Session,
        (operation, departure): (u16, Departure),
    ) {
        let (tell, bell) = (self.tell.clone(), Arc::clone(&self.bell));
        let (hand_over, taken) = mpsc::channel::<&'a mut dyn Session>();
        let begin = move |session: &'a mut dyn Session| {
            let step = connected(session, operation, departure);
            let back = Back { place, session, step, at_ns: clock.now_ns() };
            // The crew waits for each session that it sent.
            let _ = tell.send(back);
            let _ = rustix::io::write(&*bell, &1_u64.to_ne_bytes());
        };
        let here = begin.clone();
        let work = move || taken.recv().map_or((), begin);
        match Builder::new().name("connecting".into()).spawn_scoped(scope, work) {
            Ok(_) => {
                if let Err(mpsc::SendError(session)) = hand_over.send(session) {
                    here(session);
                }
            }
            Err(_) => here(session),
        }
    }

    /// Those that have come back.
    pub fn back(&self) -> impl Iterator<Item = Back<'a>> + '_ {
        let _ = rustix::io::read(&*self.bell, &mut [0; 8]);
        self.done.try_iter()
    }
}

impl<'a, C: Clock + Sync, K: Sink> Crew<'a, C, K> {
    /// Has members that have no connection make one, and begin or go on, on threads of their own.
    pub(super) fn send_off<'scope>(&mut self, scope: &'scope Scope<'scope, 'a>) {
        for (place, departure) in std::mem::take(&mut self.leaving) {
            if let (Some(running), Some(session)) =
                (&self.running[place], self.members[place].session.take())
            {
                let operation = running.issue.ticket.operation;
                let issued = (operation, departure);
                self.connecting.send(scope, self.clock, place, session, issued);
            }
        }
    }

    /// Goes on with members that have tried to connect.
    pub(super) fn take_back(&mut self, part: &Part<'_>) -> Result<(), DriveError> {
        let back: Vec<Back<'a>> = self.connecting.back().collect();
        for Back { place, session, step, at_ns } in back {
            self.members[place].session = Some(session);
            if let Some(running) = &mut self.running[place] {
                running.attended_ns = self.clock.now_ns();
                running.lag_ns += (running.attended_ns - at_ns).max(0) as u64;
            }
            self.after(part, place, step)?;
        }
        Ok(())
    }
}

/// Begins an operation of a session without a connection, which it makes, or goes on with it. A panic
/// is an error: the crew would wait for the session for ever.
fn connected(
    session: &mut dyn Session,
    operation: u16,
    departure: Departure,
) -> Result<Step, SessionError> {
    let go_on = || match (session.shared(), departure) {
        (Some(shared), Departure::Begins) => shared.begin(operation),
        (Some(shared), Departure::GoesOn) => shared.reconnect(),
        (None, _) => Err(SessionError::broken("only sessions that can share have a crew")),
    };
    catch_unwind(AssertUnwindSafe(go_on))
        .unwrap_or_else(|_| Err(SessionError::broken("the driver panicked while connecting")))
}
