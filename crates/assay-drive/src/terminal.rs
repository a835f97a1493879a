//! What a session waits as a person at a terminal does: it thinks, chooses an operation, keys it,
//! and then the operation is due. No clock is read here: loops tell what has come.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use assay_model::{Phase, SplitMix};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::deck::Hand;
use crate::schedule::{Schedule, Ticket};

/// A wait is at most so many times its mean.
const CUT: f64 = 10.0;

/// What comes next at a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// It has not begun yet.
    Begins,
    /// An operation is chosen at that time.
    Chooses(i64),
    /// The operation that was chosen is due.
    Sends(Ticket, i64),
}

/// What a terminal does when its time has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It goes on waiting, until another time.
    Waits,
    /// It sends an operation.
    Sends(Ticket),
    /// There is no operation left in the phase.
    Over,
}

/// One terminal, the same through all phases: what it waits for as a phase ends goes on in the next
/// one, so that a warm-up leaves terminals as apart as they are in the long run.
#[derive(Clone, Debug)]
pub struct Terminal {
    session: u32,
    thinking: SplitMix,
    next: Next,
}

impl Terminal {
    /// The terminal of a session, whose waits are drawn from the run's seed.
    pub fn new(seed: u64, session: u32) -> Self {
        let stream = xxh3_64_with_seed(format!("{session}/think").as_bytes(), seed);
        Self { session, thinking: SplitMix::new(stream), next: Next::Begins }
    }

    /// Enters a phase that began at `begun_ns`. Nobody is late for what became due between phases.
    pub fn enter(&mut self, phase: &Phase, begun_ns: i64) {
        self.next = match self.next {
            Next::Chooses(at_ns) => Next::Chooses(at_ns.max(begun_ns)),
            Next::Sends(ticket, due_ns) if phase.operations.contains(&ticket.operation) => {
                sends(ticket, due_ns.max(begun_ns))
            }
            Next::Begins | Next::Sends(..) => {
                Next::Chooses(begun_ns + self.thinks_ns(mean_think_ns(phase)))
            }
        };
    }

    /// When it has its turn.
    pub const fn turn_ns(&self) -> i64 {
        match self.next {
            Next::Begins => 0,
            Next::Chooses(at_ns) | Next::Sends(_, at_ns) => at_ns,
        }
    }

    /// Has its turn. An operation is due when its keying has ended, counted from when it was to be
    /// chosen: a worker that comes late makes it no later.
    pub fn turn(&mut self, schedule: &Schedule<'_>, hand: &mut Hand) -> Turn {
        match self.next {
            Next::Sends(ticket, _) => Turn::Sends(ticket),
            Next::Begins | Next::Chooses(_) => {
                let at_ns = self.turn_ns();
                let Some(ticket) = schedule.next(self.session, at_ns, hand) else {
                    return Turn::Over;
                };
                self.next = sends(ticket, at_ns + schedule.wait(ticket.operation).keying_ns);
                Turn::Waits
            }
        }
    }

    /// Its operation has ended, or was skipped: it thinks.
    pub fn ended(&mut self, schedule: &Schedule<'_>, operation: u16, now_ns: i64) {
        let mean_ns = schedule.wait(operation).think_mean_ns as f64;
        self.next = Next::Chooses(now_ns + self.thinks_ns(mean_ns));
    }

    /// A wait of an exponential distribution, by its inverse.
    fn thinks_ns(&mut self, mean_ns: f64) -> i64 {
        // Above 0, at most 1.
        let share = ((self.thinking.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        (mean_ns * (-share.ln()).min(CUT)) as i64
    }
}

const fn sends(ticket: Ticket, due_ns: i64) -> Next {
    Next::Sends(Ticket { due_ns: Some(due_ns), ..ticket }, due_ns)
}

/// The mean wait before an operation of the mix.
fn mean_think_ns(phase: &Phase) -> f64 {
    let weight = |place: usize| f64::from(phase.weights.get(place).copied().unwrap_or(1));
    let (mut sum, mut weights) = (0.0, 0.0);
    for (place, operation) in phase.operations.iter().enumerate() {
        sum += weight(place) * phase.waits[usize::from(*operation)].think_mean_ns as f64;
        weights += weight(place);
    }
    sum / weights
}

/// When members of a crew have their turns, the next one first.
#[derive(Debug, Default)]
pub struct Turns(BinaryHeap<Reverse<(i64, usize)>>);

impl Turns {
    /// Turns of so many members.
    pub fn new(members: usize) -> Self {
        Self(BinaryHeap::with_capacity(members))
    }

    /// Nobody has a turn any more.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// A member has its turn then.
    pub fn add(&mut self, at_ns: i64, place: usize) {
        self.0.push(Reverse((at_ns, place)));
    }

    /// When the next turn is.
    pub fn next_ns(&self) -> Option<i64> {
        self.0.peek().map(|Reverse((at_ns, _))| *at_ns)
    }

    /// Whose turn has come.
    pub fn take(&mut self, now_ns: i64) -> Option<usize> {
        self.next_ns().filter(|at_ns| *at_ns <= now_ns)?;
        self.0.pop().map(|Reverse((_, place))| place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::Wait;

    const SECOND_NS: i64 = 1_000_000_000;

    fn phase() -> Phase {
        let phase = r#"{"name": "measured", "arrival": {"shape": "closed", "clients": 1},
            "operations": [0, 1], "weights": [3, 1], "duration_ns": 100000000000,
            "waits": [{"keying_ns": 18000000000, "think_mean_ns": 12000000000},
                      {"keying_ns": 2000000000, "think_mean_ns": 4000000000}]}"#;
        serde_json::from_str(phase).unwrap()
    }

    #[test]
    fn sessions_begin_apart_and_the_same_in_every_run() {
        let phase = phase();
        let begins = |seed, session| {
            let mut terminal = Terminal::new(seed, session);
            terminal.enter(&phase, 5);
            terminal.turn_ns()
        };
        let drawn: Vec<i64> = (0..1_000).map(|session| begins(1, session)).collect();
        let mean_s = drawn.iter().sum::<i64>() as f64 / 1e12;
        assert!((9.0..11.0).contains(&mean_s), "{mean_s}: three times 12 s and once 4 s");
        assert!(drawn.iter().all(|at_ns| *at_ns >= 5 && *at_ns <= 5 + 100 * SECOND_NS));
        assert_eq!(begins(1, 7), drawn[7]);
        assert_ne!(begins(2, 7), drawn[7]);
    }

    #[test]
    fn lateness_of_the_worker_makes_no_operation_due_later() {
        let phase = phase();
        let schedule = Schedule::new(&phase, 1);
        let mut hand = schedule.hand();
        let mut terminal = Terminal::new(1, 0);
        terminal.enter(&phase, 0);
        let chosen_ns = terminal.turn_ns();
        assert_eq!(terminal.turn(&schedule, &mut hand), Turn::Waits);
        let Turn::Sends(ticket) = terminal.turn(&schedule, &mut hand) else { panic!() };
        let keying_ns = phase.waits[usize::from(ticket.operation)].keying_ns;
        assert_eq!(ticket.due_ns, Some(chosen_ns + keying_ns));
        assert_eq!(ticket.due_ns, Some(terminal.turn_ns()));
    }

    #[test]
    fn what_was_keyed_as_a_phase_ended_is_sent_in_the_next() {
        let phase = phase();
        let schedule = Schedule::new(&phase, 1);
        let mut terminal = Terminal::new(1, 0);
        terminal.enter(&phase, 0);
        terminal.turn(&schedule, &mut schedule.hand());
        let due_ns = terminal.turn_ns();
        let entered = |begun_ns, phase: &Phase| {
            let mut terminal = terminal.clone();
            terminal.enter(phase, begun_ns);
            terminal.turn_ns()
        };
        assert_eq!(entered(due_ns - 1, &phase), due_ns);
        assert_eq!(entered(due_ns + 9, &phase), due_ns + 9, "nobody is late for a phase");
        let other = Phase { operations: vec![], ..phase.clone() };
        assert_ne!(entered(due_ns - 1, &other), due_ns);
    }

    #[test]
    fn turns_come_in_their_order() {
        let mut turns = Turns::new(3);
        for (at_ns, place) in [(30, 0), (10, 1), (20, 2)] {
            turns.add(at_ns, place);
        }
        assert_eq!((turns.next_ns(), turns.take(9)), (Some(10), None));
        let taken: Vec<usize> = std::iter::from_fn(|| turns.take(25)).collect();
        assert_eq!(taken, [1, 2]);
        assert_eq!(turns.next_ns(), Some(30));
    }

    #[test]
    fn waits_are_of_an_exponential_distribution_that_is_cut() {
        let mut terminal = Terminal::new(1, 0);
        let wait = Wait { keying_ns: 0, think_mean_ns: SECOND_NS };
        let phase = Phase { operations: vec![0], weights: vec![], waits: vec![wait], ..phase() };
        let schedule = Schedule::new(&phase, 1);
        let drawn: Vec<i64> = (0..100_000)
            .map(|_| {
                terminal.ended(&schedule, 0, 0);
                terminal.turn_ns()
            })
            .collect();
        let mean_s = drawn.iter().sum::<i64>() as f64 / 1e14;
        assert!((0.98..1.02).contains(&mean_s), "{mean_s}");
        let longer = drawn.iter().filter(|wait_ns| **wait_ns > SECOND_NS).count();
        assert!((36_000..37_600).contains(&longer), "one in e: {longer}");
        assert!(drawn.iter().all(|wait_ns| (0..=10 * SECOND_NS).contains(wait_ns)));
    }
}
