//! How one operation ended, and the counts whose identity every record must satisfy.

use serde::{Deserialize, Serialize};

/// How one scheduled operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Every row was fetched.
    Ok,
    /// Was due and never started, because the run ended or it was too late by then.
    Skipped,
    /// Was started and ended in an error, a time-out or a cancellation.
    Failed,
}

impl Outcome {
    /// The word that stands in the record.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
        }
    }
}

/// Outcome counts. Invariant, asserted by the driver and checked again on the record:
/// `scheduled = ok + skipped + failed`. A retried operation counts once; its retries stand beside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeCounts {
    /// Operations that became due.
    pub scheduled: u64,
    /// Operations whose rows were all fetched.
    pub ok: u64,
    /// Operations that were due and never started.
    pub skipped: u64,
    /// Operations that ended in an error.
    pub failed: u64,
    /// Attempts beyond the first, over all operations.
    pub retries: u64,
}

impl OutcomeCounts {
    /// Adds one ended operation.
    pub fn add(&mut self, outcome: Outcome, retries: u32) {
        self.scheduled += 1;
        self.retries += u64::from(retries);
        match outcome {
            Outcome::Ok => self.ok += 1,
            Outcome::Skipped => self.skipped += 1,
            Outcome::Failed => self.failed += 1,
        }
    }

    /// Adds the counts of another session.
    pub fn merge(&mut self, other: &Self) {
        self.scheduled += other.scheduled;
        self.ok += other.ok;
        self.skipped += other.skipped;
        self.failed += other.failed;
        self.retries += other.retries;
    }

    /// Whether the identity holds.
    pub const fn balanced(&self) -> bool {
        self.scheduled == self.ok + self.skipped + self.failed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_identity_holds_and_a_retry_counts_once() {
        let mut counts = OutcomeCounts::default();
        counts.add(Outcome::Ok, 3);
        counts.add(Outcome::Skipped, 0);
        counts.add(Outcome::Failed, 1);
        assert!(counts.balanced());
        assert_eq!((counts.scheduled, counts.retries), (3, 4));
    }
}
