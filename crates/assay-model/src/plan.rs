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
}

impl Arrival {
    /// How many sessions take part.
    pub const fn sessions(&self) -> u32 {
        match self {
            Self::Closed { clients } | Self::Open { clients, .. } => *clients,
            Self::Power => 1,
        }
    }

    /// When operation `number` is due, in ns after the phase began; `None`: once a session is free.
    pub fn due_ns(&self, number: u64) -> Option<i64> {
        match self {
            Self::Open { rate_per_s, .. } => Some((number as f64 / rate_per_s * 1e9) as i64),
            Self::Closed { .. } | Self::Power => None,
        }
    }
}

/// One part of a run: a warm-up, or the measured part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Name in the record.
    pub name: String,
    /// Load shape.
    pub arrival: Arrival,
    /// Indices of operations: the order of a pass, or what the mix draws from.
    pub operations: Vec<u16>,
    /// Weights of the mix, as many as operations; empty: equal.
    #[serde(default)]
    pub weights: Vec<u32>,
    /// Passes over the order at least (power order only).
    #[serde(default = "one")]
    pub passes_min: u32,
    /// The phase goes on to the first pass (or operation) that begins after this many ns.
    #[serde(default)]
    pub duration_ns: i64,
    /// Operations at most, over all sessions; 0: no limit.
    #[serde(default)]
    pub operations_max: u64,
    /// An operation that is later than this is skipped; 0: never.
    #[serde(default)]
    pub late_limit_ns: i64,
}

const fn one() -> u32 {
    1
}

/// Everything the driver needs to know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Names of operations.
    pub operations: Vec<String>,
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
        for phase in &self.phases {
            let name = &phase.name;
            if phase.operations.is_empty() {
                return fail(format!("phase {name} has no operation"));
            }
            if let Some(index) =
                phase.operations.iter().find(|index| usize::from(**index) >= self.operations.len())
            {
                return fail(format!("phase {name} names operation {index}, which is not there"));
            }
            if !phase.weights.is_empty() && phase.weights.len() != phase.operations.len() {
                return fail(format!("phase {name} has as many weights as operations, or none"));
            }
            if !phase.weights.is_empty() && phase.weights.iter().all(|weight| *weight == 0) {
                return fail(format!("phase {name} has only weights of 0"));
            }
            if phase.arrival.sessions() == 0 {
                return fail(format!("phase {name} has no client"));
            }
            if let Arrival::Open { rate_per_s, .. } = phase.arrival
                && !(rate_per_s.is_finite() && rate_per_s > 0.0)
            {
                return fail(format!("phase {name} has rate {rate_per_s}; it must be above 0"));
            }
            let endless = phase.duration_ns <= 0 && phase.operations_max == 0;
            if phase.arrival != Arrival::Power && endless {
                return fail(format!(
                    "phase {name} has neither a duration nor a number of operations"
                ));
            }
        }
        Ok(())
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
            phases: vec![Phase {
                name: "measured".into(),
                arrival,
                operations: vec![0],
                weights: vec![],
                passes_min: 1,
                duration_ns: 1,
                operations_max: 0,
                late_limit_ns: 0,
            }],
            seed: 0,
            operation_deadline_ns: 0,
            run_deadline_ns: 0,
            retries_max: 0,
            results_kept: 1,
            sessions_per_worker: 1,
        }
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
    fn an_unknown_key_is_an_error() {
        let text = r#"{"operations":[],"phases":[],"seed":1,"sead":2}"#;
        assert!(serde_json::from_str::<Plan>(text).unwrap_err().to_string().contains("sead"));
    }
}
