//! Which operation is next, and when. All sessions of a phase draw from one schedule, whose only
//! shared state is a counter.

pub mod passes;

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use assay_model::{Arrival, Due, Phase, Wait, split_mix};

use crate::deck::Hand;
use passes::{Passed, Passes};

/// One operation that became due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// Number within the phase.
    pub number: u64,
    /// Index of the operation in the plan.
    pub operation: u16,
    /// Pass over the order.
    pub pass: u32,
    /// When it is due; `None`: as soon as the session is free.
    pub due_ns: Option<i64>,
    /// Which row of its values it has; `None`: values are drawn.
    pub row: Option<u32>,
}

/// Which of a plan's sessions are driven here, where several hosts drive it together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Number of the first of them, among all.
    pub first: u32,
    /// How many they are.
    pub sessions: u32,
}

impl Share {
    /// All sessions there can be.
    pub const ALL: Self = Self { first: 0, sessions: u32::MAX };

    /// What is left of it in a phase with so many sessions.
    fn of(self, sessions: u32) -> Self {
        let first = self.first.min(sessions);
        Self { first, sessions: self.sessions.min(sessions - first) }
    }

    /// Which number of a phase with so many sessions is taken here after `taken` others: numbers go
    /// round by session, so that shares have none in common and leave none out.
    fn number(self, taken: u64, sessions: u32) -> u64 {
        let here = u64::from(self.sessions.max(1));
        taken / here * u64::from(sessions) + u64::from(self.first) + taken % here
    }
}

/// The schedule of one phase.
pub struct Schedule<'a> {
    phase: &'a Phase,
    share: Share,
    phase_seed: u64,
    weight_total: u64,
    begun_ns: AtomicI64,
    next: AtomicU64,
    /// Places of the sessions in their orders, where each has its own.
    places: Vec<AtomicU64>,
    passes: Passes<'a>,
}

impl<'a> Schedule<'a> {
    /// The schedule of `phase`, whose mix is drawn from `phase_seed`.
    pub fn new(phase: &'a Phase, phase_seed: u64) -> Self {
        Self::shared(phase, phase_seed, Share::ALL)
    }

    /// A share of it: what other hosts play is left to them.
    pub fn shared(phase: &'a Phase, phase_seed: u64, share: Share) -> Self {
        let weight_total = phase.weights.iter().copied().map(u64::from).sum();
        let share = share.of(phase.arrival.sessions());
        Self {
            phase,
            share,
            phase_seed,
            weight_total,
            begun_ns: AtomicI64::new(0),
            next: AtomicU64::new(0),
            places: phase.orders.iter().map(|_| AtomicU64::new(0)).collect(),
            passes: Passes::new(phase, share),
        }
    }

    /// Starts the phase's time.
    pub fn begin(&self, now_ns: i64) {
        self.begun_ns.store(now_ns, Ordering::Relaxed);
        self.passes.begin(now_ns);
    }

    /// When the phase began.
    pub fn begun_ns(&self) -> i64 {
        self.begun_ns.load(Ordering::Relaxed)
    }

    /// When no more operations become due; the power order goes on to the end of its pass.
    pub fn end_ns(&self) -> i64 {
        self.begun_ns().saturating_add(self.phase.duration_ns)
    }

    /// The phase's cards, for one worker.
    pub fn hand(&self) -> Hand {
        if self.phase.deck { Hand::new(&self.phase.weights) } else { Hand::default() }
    }

    /// The phase, where its sessions wait around operations.
    pub fn with_waits(&self) -> Option<&'a Phase> {
        (!self.phase.waits.is_empty()).then_some(self.phase)
    }

    /// How long a session waits around an operation.
    pub fn wait(&self, operation: u16) -> Wait {
        self.phase.waits[usize::from(operation)]
    }

    /// Whether the phase is over for one session, and not for all, where `next` has none for it.
    pub const fn ends_by_session(&self) -> bool {
        self.phase.in_order
    }

    /// How many passes ended; `None`: sessions play no order by themselves.
    pub fn passed(&self) -> Option<Passed> {
        self.phase.in_order.then(|| self.passes.passed())
    }

    /// Says that the passes are enough: where the phase goes on until then, none begins any more
    /// once there are as many as there have to be.
    pub fn say_enough(&self) {
        self.passes.say_enough();
    }

    /// Takes the next operation of a session, or `None` when the phase is over at `now_ns`.
    pub fn next(&self, session: u32, now_ns: i64, hand: &mut Hand) -> Option<Ticket> {
        let number = self.number(self.next.fetch_add(1, Ordering::Relaxed));
        if self.phase.operations_max != 0 && number >= self.phase.operations_max {
            return None;
        }
        match self.phase.arrival {
            Arrival::Power => self.next_in_order(number, now_ns),
            Arrival::Throughput { .. } => self.next_of_session(number, session),
            Arrival::Closed { .. } if self.phase.in_order => {
                self.passes.next(number, session, now_ns, self.end_ns())
            }
            Arrival::Closed { .. } => {
                let over = self.timed() && now_ns >= self.end_ns();
                (!over).then(|| self.drawn(number, None, hand))
            }
            Arrival::Open { .. } if !self.phase.dues.is_empty() => {
                let Due(at_ns, operation, row) = *self.phase.dues.get(number as usize)?;
                let due_ns = Some(self.begun_ns() + at_ns);
                Some(Ticket { number, operation, pass: 0, due_ns, row: Some(row) })
            }
            Arrival::Open { .. } => {
                let due_ns = self.begun_ns() + self.phase.arrival.due_ns(number)?;
                let over = self.timed() && due_ns >= self.end_ns();
                (!over).then(|| self.drawn(number, Some(due_ns), hand))
            }
        }
    }

    /// The number among all hosts' of what is taken here after `taken` others. Of an open load it
    /// says when an operation is due; cards that are dealt as fast as they are played belong to one
    /// host deck by deck, so that their shares stay exact.
    fn number(&self, taken: u64) -> u64 {
        let sessions = self.phase.arrival.sessions();
        if self.phase.deck && matches!(self.phase.arrival, Arrival::Closed { .. }) {
            let size = self.weight_total.max(1);
            return self.share.number(taken / size, sessions) * size + taken % size;
        }
        self.share.number(taken, sessions)
    }

    /// Whether the phase's time is over.
    pub fn is_over(&self, now_ns: i64) -> bool {
        self.timed() && now_ns >= self.end_ns()
    }

    /// Whether what has not begun is left out from now on. Of what was recorded nothing is: it is played
    /// to its end, however late.
    pub fn is_cut(&self, now_ns: i64) -> bool {
        self.phase.dues.is_empty() && self.is_over(now_ns)
    }

    /// Whether an operation that is due at `due_ns` is too late to be started at `now_ns`.
    pub fn too_late(&self, due_ns: i64, now_ns: i64) -> bool {
        let limit_ns = self.phase.late_limit_ns;
        self.is_cut(now_ns) || (limit_ns > 0 && now_ns - due_ns > limit_ns)
    }

    const fn timed(&self) -> bool {
        self.phase.duration_ns > 0
    }

    fn next_in_order(&self, number: u64, now_ns: i64) -> Option<Ticket> {
        let length = self.phase.operations.len() as u64;
        let (pass, place) = (number / length, number % length);
        if place == 0 && self.passes.are_enough(pass, now_ns, self.end_ns()) {
            return None;
        }
        let operation = self.phase.operations[place as usize];
        Some(Ticket { number, operation, pass: pass as u32, due_ns: None, row: None })
    }

    fn next_of_session(&self, number: u64, session: u32) -> Option<Ticket> {
        let place = self.places[session as usize].fetch_add(1, Ordering::Relaxed) as usize;
        let operation = *self.phase.orders[session as usize].get(place)?;
        Some(Ticket { number, operation, pass: 0, due_ns: None, row: None })
    }

    fn drawn(&self, number: u64, due_ns: Option<i64>, hand: &mut Hand) -> Ticket {
        let place = if self.phase.deck {
            hand.card(number, self.phase_seed, &self.phase.weights)
        } else {
            self.place(split_mix(self.phase_seed ^ split_mix(number)))
        };
        Ticket { number, operation: self.phase.operations[place], pass: 0, due_ns, row: None }
    }

    fn place(&self, random: u64) -> usize {
        if self.phase.weights.is_empty() {
            return (random % self.phase.operations.len() as u64) as usize;
        }
        let mut rest = random % self.weight_total;
        for (place, weight) in self.phase.weights.iter().enumerate() {
            match rest.checked_sub(u64::from(*weight)) {
                Some(left) => rest = left,
                None => return place,
            }
        }
        unreachable!("the rest is below the sum of the weights")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn phase(arrival: Arrival, duration_ns: i64) -> Phase {
        Phase {
            name: "measured".into(),
            arrival,
            operations: vec![0, 1, 2],
            orders: vec![],
            steady: None,
            weights: vec![],
            deck: false,
            in_order: false,
            waits: vec![],
            passes_min: 2,
            passes_max: 0,
            duration_ns,
            operations_max: 0,
            late_limit_ns: 0,
            memory: false,
            dues: vec![],
        }
    }

    #[test]
    fn the_power_order_always_ends_its_pass() {
        let phase = phase(Arrival::Power, 10);
        let schedule = Schedule::new(&phase, 0);
        schedule.begin(0);
        let played: Vec<(u32, u16)> =
            std::iter::from_fn(|| schedule.next(0, 1_000, &mut schedule.hand()))
                .map(|ticket| (ticket.pass, ticket.operation))
                .collect();
        assert_eq!(played, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]);
    }

    #[test]
    fn each_stream_plays_its_own_order_once() {
        let mut phase = phase(Arrival::Throughput { clients: 2 }, 0);
        phase.orders = vec![vec![2, 0, 1], vec![1]];
        let schedule = Schedule::new(&phase, 0);
        let next = |session| {
            schedule.next(session, 0, &mut schedule.hand()).map(|ticket| ticket.operation)
        };
        let played = [next(0), next(1), next(0), next(1), next(0), next(0)];
        assert_eq!(played, [Some(2), Some(1), Some(0), None, Some(1), None]);
    }

    #[test]
    fn the_mix_follows_its_weights_and_its_seed() {
        let mut phase = phase(Arrival::Closed { clients: 1 }, 0);
        phase.operations_max = 10_000;
        phase.weights = vec![1, 0, 3];
        let play = |seed| {
            let schedule = Schedule::new(&phase, seed);
            let drawn = std::iter::from_fn(|| schedule.next(0, 0, &mut schedule.hand()))
                .map(|t| t.operation);
            drawn.collect::<Vec<u16>>()
        };
        let drawn = play(7);
        let count = |wanted| drawn.iter().filter(|operation| **operation == wanted).count();
        assert_eq!(count(1), 0);
        assert!((2_300..2_700).contains(&count(0)), "{}", count(0));
        assert_eq!(drawn, play(7));
        assert_ne!(drawn, play(8));
    }

    #[test]
    fn workers_deal_from_the_same_decks() {
        let mut phase = phase(Arrival::Closed { clients: 2 }, 0);
        (phase.weights, phase.deck, phase.operations_max) = (vec![2, 0, 5], true, 700);
        let schedule = Schedule::new(&phase, 3);
        let mut hands = [schedule.hand(), schedule.hand()];
        let mut counts = [0; 3];
        for number in 0.. {
            // One of the two takes a number more often than the other.
            let Some(ticket) = schedule.next(0, 0, &mut hands[usize::from(number % 3 == 0)]) else {
                break;
            };
            counts[usize::from(ticket.operation)] += 1;
        }
        assert_eq!(counts, [200, 0, 500]);
    }

    /// Numbers and operations that two hosts take of a phase with three sessions, in order.
    fn taken_by_two(phase: &Phase) -> Vec<(u64, u16, Option<i64>)> {
        let shares = [Share { first: 0, sessions: 2 }, Share { first: 2, sessions: 1 }];
        let mut taken = Vec::new();
        for share in shares {
            let schedule = Schedule::shared(phase, 3, share);
            schedule.begin(0);
            let mut hand = schedule.hand();
            taken.extend(
                std::iter::from_fn(|| schedule.next(share.first, 0, &mut hand))
                    .map(|ticket| (ticket.number, ticket.operation, ticket.due_ns)),
            );
        }
        taken.sort_unstable();
        taken
    }

    #[test]
    fn hosts_of_an_open_load_play_together_what_one_would() {
        let mut phase = phase(Arrival::Open { rate_per_s: 1e9, clients: 3 }, 400);
        (phase.weights, phase.deck) = (vec![2, 1, 4], true);
        let alone = Schedule::new(&phase, 3);
        alone.begin(0);
        let mut hand = alone.hand();
        let played: Vec<_> = std::iter::from_fn(|| alone.next(0, 0, &mut hand))
            .map(|ticket| (ticket.number, ticket.operation, ticket.due_ns))
            .collect();
        assert_eq!(played.len(), 400);
        assert_eq!(taken_by_two(&phase), played);
    }

    #[test]
    fn hosts_of_a_closed_load_deal_whole_decks_of_their_own() {
        let mut phase = phase(Arrival::Closed { clients: 3 }, 0);
        (phase.weights, phase.deck, phase.operations_max) = (vec![2, 0, 5], true, 21 * 7);
        let taken = taken_by_two(&phase);
        assert!(taken.iter().map(|(number, ..)| *number).eq(0..21 * 7));
        let firsts = taken.iter().filter(|(_, operation, _)| *operation == 0).count();
        assert_eq!(firsts, 2 * 21);
        phase.deck = false;
        assert!(taken_by_two(&phase).iter().map(|(number, ..)| *number).eq(0..21 * 7));
    }

    #[test]
    fn a_recorded_load_has_its_own_moments_operations_and_rows() {
        let mut phase = phase(Arrival::Open { rate_per_s: 1.0, clients: 2 }, 40);
        phase.dues = vec![Due(0, 2, 7), Due(0, 0, 1), Due(39, 2, 0)];
        let taken = |share| {
            let schedule = Schedule::shared(&phase, 0, share);
            schedule.begin(100);
            std::iter::from_fn(|| schedule.next(share.first, 0, &mut schedule.hand()))
                .map(|ticket| (ticket.due_ns, ticket.operation, ticket.row))
                .collect::<Vec<_>>()
        };
        let all = [(Some(100), 2, Some(7)), (Some(100), 0, Some(1)), (Some(139), 2, Some(0))];
        assert_eq!(taken(Share::ALL), all);
        assert!(
            !Schedule::new(&phase, 0).too_late(39, 1_000),
            "what is due before is, however late"
        );
        assert_eq!(taken(Share { first: 0, sessions: 1 }), [all[0], all[2]]);
        assert_eq!(taken(Share { first: 1, sessions: 1 }), [all[1]]);
    }

    #[test]
    fn an_open_load_ends_with_the_last_due_operation() {
        let phase = phase(Arrival::Open { rate_per_s: 1e9, clients: 1 }, 5);
        let schedule = Schedule::new(&phase, 0);
        schedule.begin(100);
        let due: Vec<i64> = std::iter::from_fn(|| schedule.next(0, 0, &mut schedule.hand()))
            .filter_map(|ticket| ticket.due_ns)
            .collect();
        assert_eq!(due, [100, 101, 102, 103, 104]);
    }
}
