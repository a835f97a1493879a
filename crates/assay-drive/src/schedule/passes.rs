//! Passes over the order of a phase: which one each session plays, and when no more of them begin.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use assay_model::{Phase, Steady};

use super::{Share, Ticket};

/// How far the passes of a phase are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// Passes that ended.
    pub passes: u64,
    /// When the last of them did; until then when the phase began.
    pub ended_ns: i64,
}

/// Of a session that has begun no pass yet.
const NO_PASS: u64 = u64::MAX;

/// A session that plays the order by itself.
struct Playing {
    /// Its place in the order.
    place: AtomicU64,
    /// The number of its pass.
    pass: AtomicU64,
}

/// The passes of one phase.
pub(super) struct Passes<'a> {
    phase: &'a Phase,
    share: Share,
    /// The sessions, where all play one order by themselves.
    sessions: Vec<Playing>,
    /// Passes that sessions began.
    begun: AtomicU64,
    /// When passes began, where their times decide on the end.
    begun_ns: Mutex<Vec<i64>>,
    /// Passes that ended, where sessions play one order by themselves.
    passed: Mutex<Passed>,
    /// Whether somebody said that the passes are enough.
    enough: AtomicBool,
}

impl<'a> Passes<'a> {
    /// No pass has begun yet.
    pub(super) fn new(phase: &'a Phase, share: Share) -> Self {
        let sessions = if phase.in_order { phase.arrival.sessions() } else { 0 };
        let playing = |_| Playing { place: AtomicU64::new(0), pass: AtomicU64::new(NO_PASS) };
        Self {
            phase,
            share,
            sessions: (0..sessions).map(playing).collect(),
            begun: AtomicU64::new(0),
            begun_ns: Mutex::new(Vec::new()),
            passed: Mutex::new(Passed::default()),
            enough: AtomicBool::new(false),
        }
    }

    /// Starts the phase's time.
    pub(super) fn begin(&self, now_ns: i64) {
        self.counted().ended_ns = now_ns;
    }

    /// How far they are.
    pub(super) fn passed(&self) -> Passed {
        *self.counted()
    }

    /// Says that they are enough.
    pub(super) fn say_enough(&self) {
        self.enough.store(true, Ordering::Relaxed);
    }

    fn counted(&self) -> MutexGuard<'_, Passed> {
        self.passed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next operation of a session that plays the order by itself: passes are taken from one
    /// number, and each is played to its end.
    pub(super) fn next(
        &self,
        number: u64,
        session: u32,
        now_ns: i64,
        end_ns: i64,
    ) -> Option<Ticket> {
        let Playing { place, pass: own } = &self.sessions[session as usize];
        let at = place.load(Ordering::Relaxed) as usize;
        if at == 0 {
            if own.swap(NO_PASS, Ordering::Relaxed) != NO_PASS {
                let mut passed = self.counted();
                passed.passes += 1;
                passed.ended_ns = passed.ended_ns.max(now_ns);
            }
            let begun = self.begun.fetch_add(1, Ordering::Relaxed);
            let pass = self.share.number(begun, self.phase.arrival.sessions());
            if self.are_enough(pass, now_ns, end_ns) {
                return None;
            }
            own.store(pass, Ordering::Relaxed);
        }
        let next = (at + 1) % self.phase.operations.len();
        place.store(next as u64, Ordering::Relaxed);
        let pass = own.load(Ordering::Relaxed) as u32;
        Some(Ticket { number, operation: self.phase.operations[at], pass, due_ns: None, row: None })
    }

    /// Whether no pass begins after `pass` of them.
    pub(super) fn are_enough(&self, pass: u64, now_ns: i64, end_ns: i64) -> bool {
        let enough = pass >= u64::from(self.phase.passes_min) && now_ns >= end_ns;
        if self.phase.passes_max > 0 {
            let most = pass >= u64::from(self.phase.passes_max);
            return enough && (most || self.enough.load(Ordering::Relaxed));
        }
        let Some(steady) = self.phase.steady else { return enough };
        let mut begun_ns = self.begun_ns.lock().unwrap_or_else(PoisonError::into_inner);
        begun_ns.push(now_ns);
        enough && (pass >= u64::from(steady.passes_max) || are_alike(&begun_ns, steady))
    }
}

/// Whether the last passes, told by when each began and the last one ended, took about as long.
fn are_alike(begun_ns: &[i64], steady: Steady) -> bool {
    let Some(first) = begun_ns.len().checked_sub(steady.passes as usize + 1) else { return false };
    let lengths = begun_ns[first..].windows(2).map(|pair| pair[1] - pair[0]);
    let (shortest, longest) =
        lengths.fold((i64::MAX, 0), |(low, high), length| (length.min(low), length.max(high)));
    (longest - shortest) as f64 <= steady.within * shortest as f64
}

#[cfg(test)]
mod tests {
    use assay_model::Arrival;

    use super::super::Schedule;
    use super::super::tests::phase;
    use super::*;
    use crate::deck::Hand;

    #[test]
    fn sessions_that_play_in_order_share_the_number_of_passes() {
        let mut phase = phase(Arrival::Closed { clients: 2 }, 0);
        (phase.in_order, phase.passes_min, phase.operations) = (true, 3, vec![4, 5]);
        let schedule = Schedule::new(&phase, 0);
        let next = |session| {
            let ticket = schedule.next(session, 0, &mut Hand::default());
            ticket.map(|ticket| (ticket.pass, ticket.operation))
        };
        assert_eq!([next(0), next(1)], [Some((0, 4)), Some((1, 4))]);
        assert_eq!([next(1), next(1), next(1)], [Some((1, 5)), Some((2, 4)), Some((2, 5))]);
        assert_eq!([next(1), next(0), next(0)], [None, Some((0, 5)), None]);
    }

    #[test]
    fn passes_go_on_until_somebody_says_that_they_are_enough() {
        let mut phase = phase(Arrival::Closed { clients: 1 }, 0);
        (phase.in_order, phase.passes_min, phase.passes_max) = (true, 2, 9);
        let passes = |enough_after: u64| {
            let schedule = Schedule::new(&phase, 0);
            let mut now_ns = 0;
            while schedule.next(0, now_ns, &mut Hand::default()).is_some() {
                now_ns += 10;
                if schedule.passed().unwrap().passes >= enough_after {
                    schedule.say_enough();
                }
            }
            schedule.passed().unwrap()
        };
        // It is said once the next pass has begun, which is played to its end.
        assert_eq!(passes(4), Passed { passes: 5, ended_ns: 150 });
        assert_eq!(passes(0), Passed { passes: 2, ended_ns: 60 }, "no fewer than there have to be");
        assert_eq!(passes(99), Passed { passes: 9, ended_ns: 270 }, "the most there may be");
    }

    #[test]
    fn passes_go_on_until_they_are_alike() {
        let mut phase = phase(Arrival::Power, 0);
        phase.steady = Some(Steady { passes: 3, within: 0.1, passes_max: 20 });
        let passes = |lengths: &[i64]| {
            let schedule = Schedule::new(&phase, 0);
            let (mut now_ns, mut pass) = (0, 0);
            while let Some(ticket) = schedule.next(0, now_ns, &mut schedule.hand()) {
                pass = ticket.pass as usize;
                // The first operation of a pass takes as long as the pass.
                now_ns +=
                    if ticket.operation == 0 { lengths[pass.min(lengths.len() - 1)] } else { 0 };
            }
            pass + 1
        };
        assert_eq!(passes(&[100]), 3, "alike from the beginning");
        assert_eq!(passes(&[300, 120, 100, 109, 104]), 5);
        assert_eq!(passes(&[100, 110, 121, 133, 146, 161, 177, 195, 100]), 11);
        let growing: Vec<i64> = (0..40).map(|pass| 100 + 100 * pass).collect();
        assert_eq!(passes(&growing), 20, "the most there may be");
    }

    #[test]
    fn hosts_whose_sessions_play_in_order_share_the_passes() {
        let mut phase = phase(Arrival::Closed { clients: 3 }, 0);
        (phase.in_order, phase.passes_min, phase.operations) = (true, 8, vec![0]);
        let passes = |share: Share| {
            let schedule = Schedule::shared(&phase, 0, share);
            let next = || schedule.next(share.first, 0, &mut Hand::default());
            std::iter::from_fn(next).map(|ticket| ticket.pass).collect::<Vec<_>>()
        };
        assert_eq!(passes(Share { first: 0, sessions: 2 }), [0, 1, 3, 4, 6, 7]);
        assert_eq!(passes(Share { first: 2, sessions: 1 }), [2, 5]);
    }
}
