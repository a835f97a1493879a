//! What the driver is asked to do. A plan is a value: it is stored in the record as it was used.

use serde::{Deserialize, Serialize};

/// The load shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "shape", rename_all = "snake_case", deny_unknown_fields)]
pub enum Arrival {
    /// A number of sessions; each issues its next operation when the last one has ended.
    Closed {
        /// Sessions.
        clients: u32,
    },
    /// Operations become due at a fixed rate, whether or not a session is free.
    Open {
        /// Operations a second over all sessions.
        rate_per_s: f64,
        /// Sessions that share them.
        clients: u32,
    },
    /// One session plays the order from first to last, pass after pass.
    Power,
    /// A number of sessions, each of which plays an order of its own, once.
    Throughput {
        /// Sessions.
        clients: u32,
    },
}

impl Arrival {
    /// How many sessions take part.
    pub const fn sessions(&self) -> u32 {
        match self {
            Self::Closed { clients }
            | Self::Open { clients, .. }
            | Self::Throughput { clients } => *clients,
            Self::Power => 1,
        }
    }

    /// When operation `number` is due, in ns after the phase began; `None`: once a session is free.
    pub fn due_ns(&self, number: u64) -> Option<i64> {
        match self {
            Self::Open { rate_per_s, .. } => Some((number as f64 / rate_per_s * 1e9) as i64),
            Self::Closed { .. } | Self::Power | Self::Throughput { .. } => None,
        }
    }
}

/// When passes of the power order have become alike.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Steady {
    /// So many passes, the last ones, are compared.
    pub passes: u32,
    /// They are alike if the longest is longer than the shortest by at most this share of it.
    pub within: f64,
    /// The phase ends after so many passes even if they never were.
    pub passes_max: u32,
}

/// How long a terminal waits around one operation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wait {
    /// Before it is due, after it was chosen: what a person types.
    pub keying_ns: i64,
    /// Mean of the wait after it has ended, drawn from an exponential distribution that is cut at
    /// ten times its mean.
    pub think_mean_ns: i64,
}

/// One execution whose moment is known before: ns after the phase began, the operation, and the row
/// of its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Due(pub i64, pub u16, pub u32);

/// One part of a run: a warm-up, or the measured part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Name in the record.
    pub name: String,
    /// Load shape.
    pub arrival: Arrival,
    /// Indices of operations: the order of a pass, or what the mix draws from.
    #[serde(default)]
    pub operations: Vec<u16>,
    /// The order of each session, where each has its own.
    #[serde(default)]
    pub orders: Vec<Vec<u16>>,
    /// Weights of the mix, as many as operations; empty: equal.
    #[serde(default)]
    pub weights: Vec<u32>,
    /// Weights are cards of a deck, which is dealt to its end and shuffled anew; else each operation
    /// is drawn by itself.
    #[serde(default)]
    pub deck: bool,
    /// Each session plays `operations` from first to last, again and again, and ends what it began
    /// (closed loads only). A pass is one that any of them played.
    #[serde(default)]
    pub in_order: bool,
    /// What sessions wait around operations, as many as operations of the plan; empty: nothing. An
    /// operation is due when its session has waited (closed loads only).
    #[serde(default)]
    pub waits: Vec<Wait>,
    /// Passes over the order at least (power order, and sessions that play in order).
    #[serde(default = "one")]
    pub passes_min: u32,
    /// The phase goes on after these until somebody who hears of its passes says that they are
    /// enough, or to so many of them; 0: it does not (sessions that play in order only).
    #[serde(default)]
    pub passes_max: u32,
    /// The phase goes on until its passes are alike (power order only).
    #[serde(default)]
    pub steady: Option<Steady>,
    /// The phase goes on to the first pass (or operation) that begins after this many ns.
    #[serde(default)]
    pub duration_ns: i64,
    /// Operations at most, over all sessions; 0: no limit.
    #[serde(default)]
    pub operations_max: u64,
    /// An operation that is later than this is skipped; 0: never.
    #[serde(default)]
    pub late_limit_ns: i64,
    /// Proportional memory is read after operations: nobody times what is between two of them.
    #[serde(default)]
    pub memory: bool,
    /// What becomes due when, earliest first, instead of what is drawn at a rate (open loads only).
    #[serde(default)]
    pub dues: Vec<Due>,
}

impl Phase {
    /// Whether its operations follow one another, so that it can be told whose work was seen.
    pub const fn is_serial(&self) -> bool {
        matches!(self.arrival, Arrival::Power) || self.in_order && self.arrival.sessions() == 1
    }
}

/// Cards of a deck at most: every worker holds one.
const CARDS_MAX: u64 = 1 << 16;

const fn one() -> u32 {
    1
}

/// Everything the driver needs to know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Names of operations. One that is played with several texts has a place for each.
    pub operations: Vec<String>,
    /// Which of its texts an operation has, for each of `operations`; empty: all have one.
    #[serde(default)]
    pub variants: Vec<u32>,
    /// What the statements of each operation are called, for operations that have several; empty:
    /// they have their numbers, from 1.
    #[serde(default)]
    pub statements: Vec<Vec<String>>,
    /// Phases in order.
    pub phases: Vec<Phase>,
    /// Seed of the mix.
    pub seed: u64,
    /// An operation that takes longer is cancelled and failed; 0: no limit.
    #[serde(default)]
    pub operation_deadline_ns: i64,
    /// The run is stopped after this many ns; 0: no limit.
    #[serde(default)]
    pub run_deadline_ns: i64,
    /// Whether the engine is to be killed while it is driven: an operation that loses its
    /// connection counts as cut short by the end of the run then, and not as failed.
    #[serde(default)]
    pub loses_engine: bool,
    /// Attempts beyond the first for errors that a session calls retryable.
    #[serde(default)]
    pub retries_max: u32,
    /// Distinct results (by digest) of an operation that are kept as rows.
    #[serde(default = "results_kept_default")]
    pub results_kept: u32,
    /// Sessions that one thread of the driver may own, where their protocol lets them share one.
    #[serde(default = "one")]
    pub sessions_per_worker: u32,
}

const fn results_kept_default() -> u32 {
    8
}

/// A plan that cannot be carried out.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("the plan cannot be driven: {0}")]
pub struct PlanError(pub String);

impl Plan {
    /// Refuses what the loop could not carry out.
    pub fn validate(&self) -> Result<(), PlanError> {
        let fail = |reason: String| Err(PlanError(reason));
        if self.phases.is_empty() {
            return fail("it has no phase".into());
        }
        if !self.variants.is_empty() && self.variants.len() != self.operations.len() {
            return fail("it has as many variants as operations, or none".into());
        }
        for phase in &self.phases {
            let name = &phase.name;
            self.check_orders(phase)?;
            self.check_mix(phase)?;
            if phase.arrival.sessions() == 0 {
                return fail(format!("phase {name} has no client"));
            }
            if let Arrival::Open { rate_per_s, .. } = phase.arrival
                && !(rate_per_s.is_finite() && rate_per_s > 0.0)
            {
                return fail(format!("phase {name} has rate {rate_per_s}; it must be above 0"));
            }
            let timed = matches!(phase.arrival, Arrival::Closed { .. } | Arrival::Open { .. });
            let counted = phase.operations_max != 0 || phase.in_order;
            if timed && phase.duration_ns <= 0 && !counted {
                return fail(format!(
                    "phase {name} has neither a duration nor a number of operations"
                ));
            }
        }
        Ok(())
    }

    /// A mix can be drawn, and its sessions can wait around it.
    fn check_mix(&self, phase: &Phase) -> Result<(), PlanError> {
        let fail = |reason: String| Err(PlanError(format!("phase {} {reason}", phase.name)));
        if !phase.weights.is_empty() && phase.weights.len() != phase.operations.len() {
            return fail("has as many weights as operations, or none".into());
        }
        if !phase.weights.is_empty() && phase.weights.iter().all(|weight| *weight == 0) {
            return fail("has only weights of 0".into());
        }
        if phase.deck && phase.weights.is_empty() {
            return fail("has a deck and no weights that say its cards".into());
        }
        let cards: u64 = phase.weights.iter().copied().map(u64::from).sum();
        if phase.deck && cards > CARDS_MAX {
            return fail(format!("has a deck of {cards} cards, not {CARDS_MAX}"));
        }
        let closed = matches!(phase.arrival, Arrival::Closed { .. });
        if phase.in_order && (!closed || !phase.weights.is_empty() || phase.operations_max != 0) {
            return fail(
                "is played in order: by a closed load, without weights, to the end of a pass"
                    .into(),
            );
        }
        let beyond = phase.passes_max != 0;
        if beyond && (!phase.in_order || phase.passes_max < phase.passes_min) {
            return fail(
                "has a greatest number of passes: of sessions that play in order, and no less than \
                 the least"
                    .into(),
            );
        }
        if !phase.waits.is_empty() && (!closed || phase.waits.len() != self.operations.len()) {
            return fail("has waits: of every operation, and of a closed load only".into());
        }
        let open = matches!(phase.arrival, Arrival::Open { .. });
        if !phase.dues.is_empty() && (!open || !phase.dues.is_sorted_by_key(|due| due.0)) {
            return fail("has moments: of an open load only, and the earliest first".into());
        }
        if phase.dues.iter().any(|due| usize::from(due.1) >= self.operations.len()) {
            return fail("has a moment of an operation which is not there".into());
        }
        if phase.waits.iter().any(|wait| wait.keying_ns < 0 || wait.think_mean_ns < 0) {
            return fail("has a wait below 0".into());
        }
        Ok(())
    }

    /// What is played is there, and each session has what it plays.
    fn check_orders(&self, phase: &Phase) -> Result<(), PlanError> {
        let name = &phase.name;
        let fail = |reason: String| Err(PlanError(format!("phase {name} {reason}")));
        let own = matches!(phase.arrival, Arrival::Throughput { .. });
        if own && self.sessions_per_worker != 1 {
            return fail("has an order for each session, so each session needs its thread".into());
        }
        if own && phase.orders.len() != phase.arrival.sessions() as usize {
            return fail(format!("has {} orders, not one for each session", phase.orders.len()));
        }
        if !own && !phase.orders.is_empty() {
            return fail("has orders of sessions, and its sessions share one".into());
        }
        let orders =
            if own { phase.orders.as_slice() } else { std::slice::from_ref(&phase.operations) };
        if orders.iter().any(Vec::is_empty) {
            return fail("has no operation".into());
        }
        let strange = orders.iter().flatten().find(|i| usize::from(**i) >= self.operations.len());
        strange.map_or(Ok(()), |i| fail(format!("names operation {i}, which is not there")))
    }

    /// Which of its texts an operation has.
    pub fn variant(&self, operation: u16) -> u32 {
        self.variants.get(usize::from(operation)).copied().unwrap_or(0)
    }

    /// What a statement of an operation is called.
    pub fn statement(&self, operation: u16, statement: u16) -> String {
        let names = self.statements.get(usize::from(operation));
        let name = names.and_then(|names| names.get(usize::from(statement)));
        name.cloned().unwrap_or_else(|| (u32::from(statement) + 1).to_string())
    }

    /// Sessions that the run needs at once.
    pub fn sessions(&self) -> u32 {
        self.phases.iter().map(|phase| phase.arrival.sessions()).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(arrival: Arrival) -> Plan {
        Plan {
            operations: vec!["q01".into()],
            variants: vec![],
            statements: vec![],
            phases: vec![Phase {
                name: "measured".into(),
                arrival,
                operations: vec![0],
                orders: vec![],
                steady: None,
                weights: vec![],
                deck: false,
                in_order: false,
                waits: vec![],
                passes_min: 1,
                passes_max: 0,
                duration_ns: 1,
                operations_max: 0,
                late_limit_ns: 0,
                memory: false,
                dues: vec![],
            }],
            seed: 0,
            operation_deadline_ns: 0,
            run_deadline_ns: 0,
            loses_engine: false,
            retries_max: 0,
            results_kept: 1,
            sessions_per_worker: 1,
        }
    }

    #[test]
    fn operations_follow_one_another_in_the_power_order_and_of_one_client_in_order() {
        let phase = |arrival, in_order| Phase { in_order, ..plan(arrival).phases.remove(0) };
        let clients = |clients| Arrival::Closed { clients };
        assert!(phase(Arrival::Power, false).is_serial());
        assert!(phase(clients(1), true).is_serial());
        assert!(!phase(clients(2), true).is_serial());
        assert!(!phase(clients(1), false).is_serial());
    }

    #[test]
    fn an_open_load_is_due_by_its_rate_and_a_closed_one_when_free() {
        assert_eq!(Arrival::Open { rate_per_s: 100.0, clients: 1 }.due_ns(3), Some(30_000_000));
        assert_eq!(Arrival::Power.due_ns(3), None);
    }

    #[test]
    fn a_plan_that_cannot_be_driven_says_why() {
        assert!(plan(Arrival::Power).validate().is_ok());
        let refused = plan(Arrival::Closed { clients: 0 }).validate().unwrap_err();
        assert!(refused.to_string().contains("no client"));
        let refused = plan(Arrival::Open { rate_per_s: f64::NAN, clients: 1 }).validate();
        assert!(refused.unwrap_err().to_string().contains("rate"));
    }

    #[test]
    fn each_session_of_a_throughput_test_has_an_order() {
        let mut plan = plan(Arrival::Throughput { clients: 2 });
        let refused = |plan: &Plan| plan.validate().unwrap_err().to_string();
        assert!(refused(&plan).contains("0 orders"));
        plan.phases[0].orders = vec![vec![0], vec![]];
        assert!(refused(&plan).contains("no operation"));
        plan.phases[0].orders = vec![vec![0], vec![7]];
        assert!(refused(&plan).contains("operation 7"));
        plan.phases[0].orders = vec![vec![0], vec![0]];
        assert!(plan.validate().is_ok());
        plan.sessions_per_worker = 8;
        assert!(refused(&plan).contains("its thread"));
        plan.phases[0].arrival = Arrival::Power;
        assert!(refused(&plan).contains("share one"));
    }

    #[test]
    fn decks_and_waits_that_cannot_be_say_why() {
        let refused = |change: &dyn Fn(&mut Plan)| {
            let mut plan = plan(Arrival::Closed { clients: 1 });
            change(&mut plan);
            plan.validate().map_err(|error| error.to_string())
        };
        let deck = |plan: &mut Plan, weights: &[u32]| {
            (plan.phases[0].deck, plan.phases[0].weights) = (true, weights.to_vec());
        };
        assert!(refused(&|plan| deck(plan, &[])).unwrap_err().contains("no weights"));
        assert!(refused(&|plan| deck(plan, &[70_000])).unwrap_err().contains("70000 cards"));
        assert_eq!(refused(&|plan| deck(plan, &[23])), Ok(()));
        let wait = Wait { keying_ns: 1, think_mean_ns: 0 };
        let waits = |plan: &mut Plan, waits: &[Wait]| plan.phases[0].waits = waits.to_vec();
        assert_eq!(refused(&|plan| waits(plan, &[wait])), Ok(()));
        assert!(refused(&|plan| waits(plan, &[wait; 2])).unwrap_err().contains("every operation"));
        let below = Wait { keying_ns: -1, ..wait };
        assert!(refused(&|plan| waits(plan, &[below])).unwrap_err().contains("below 0"));
        let open = Arrival::Open { rate_per_s: 1.0, clients: 1 };
        let open = refused(&|plan| {
            plan.phases[0].arrival = open.clone();
            waits(plan, &[wait]);
        });
        assert!(open.unwrap_err().contains("closed load only"));
    }

    #[test]
    fn moments_are_of_an_open_load_and_in_order() {
        let mut plan = plan(Arrival::Open { rate_per_s: 1.0, clients: 1 });
        let refused = |plan: &Plan| plan.validate().unwrap_err().to_string();
        plan.phases[0].dues = vec![Due(0, 0, 4), Due(5, 0, 0)];
        assert_eq!(plan.validate(), Ok(()));
        plan.phases[0].dues = vec![Due(6, 0, 4), Due(5, 0, 0)];
        assert!(refused(&plan).contains("earliest first"));
        plan.phases[0].dues = vec![Due(0, 1, 0)];
        assert!(refused(&plan).contains("not there"));
        plan.phases[0].dues = vec![Due(0, 0, 0)];
        plan.phases[0].arrival = Arrival::Closed { clients: 1 };
        assert!(refused(&plan).contains("open load only"));
    }

    #[test]
    fn a_load_in_order_is_closed_and_has_no_weights() {
        let mut plan = plan(Arrival::Closed { clients: 2 });
        (plan.phases[0].in_order, plan.phases[0].duration_ns) = (true, 0);
        assert_eq!(plan.validate(), Ok(()));
        plan.phases[0].weights = vec![1];
        assert!(plan.validate().unwrap_err().to_string().contains("without weights"));
        plan.phases[0].weights.clear();
        (plan.phases[0].passes_min, plan.phases[0].passes_max) = (3, 2);
        assert!(plan.validate().unwrap_err().to_string().contains("no less than the least"));
        plan.phases[0].passes_max = 3;
        assert_eq!(plan.validate(), Ok(()));
        plan.phases[0].in_order = false;
        assert!(plan.validate().unwrap_err().to_string().contains("greatest number of passes"));
        (plan.phases[0].in_order, plan.phases[0].passes_max) = (true, 0);
        plan.phases[0].arrival = Arrival::Power;
        assert!(plan.validate().unwrap_err().to_string().contains("closed load"));
    }

    #[test]
    fn an_unknown_key_is_an_error() {
        let text = r#"{"operations":[],"phases":[],"seed":1,"sead":2}"#;
        assert!(serde_json::from_str::<Plan>(text).unwrap_err().to_string().contains("sead"));
    }
}
