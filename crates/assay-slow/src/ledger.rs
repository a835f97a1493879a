//! How long the engine has to stand still for what it took, and for how long it stood.

use crate::SlowError;
use crate::task::Taken;

const FACTOR_MAX: f64 = 100.0;

/// How many times as long each resource is to take. 1 leaves it as it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factors {
    cpu: f64,
    disk: f64,
}

impl Factors {
    /// # Errors
    /// If a factor is below 1, or beyond all sense.
    pub fn new(cpu: f64, disk: f64) -> Result<Self, SlowError> {
        let is_strange = |factor: &f64| !(1.0..=FACTOR_MAX).contains(factor);
        [cpu, disk]
            .iter()
            .find(|factor| is_strange(factor))
            .map_or(Ok(Self { cpu, disk }), |it| Err(SlowError::Factor(*it)))
    }

    /// For how long one stands still who took this.
    pub(crate) fn owed_ns(self, taken: Taken) -> i64 {
        let owed = (self.cpu - 1.0) * taken.cpu_ns as f64;
        (owed + (self.disk - 1.0) * taken.disk_ns as f64) as i64
    }
}

/// What tasks that worked side by side took of the time that went by: what adds up to no more than
/// that time. It is as long as what the busiest of them took, or as the CPUs needed for all that was
/// computed, and shared out as their sums are.
pub(crate) fn together(tasks: impl Iterator<Item = Taken>, cpus: u32) -> Taken {
    let (mut sum, mut longest_ns) = (Taken::default(), 0);
    for task in tasks {
        sum.cpu_ns += task.cpu_ns;
        sum.disk_ns += task.disk_ns;
        longest_ns = longest_ns.max(task.cpu_ns + task.disk_ns);
    }
    let total_ns = sum.cpu_ns + sum.disk_ns;
    let busy_ns = longest_ns.max(sum.cpu_ns / i64::from(cpus.max(1)));
    if busy_ns >= total_ns || total_ns <= 0 {
        return sum;
    }
    let cpu_ns = (busy_ns as f64 * sum.cpu_ns as f64 / total_ns as f64) as i64;
    Taken { cpu_ns, disk_ns: busy_ns - cpu_ns }
}

/// Everything that was taken and paid for so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ledger {
    pub taken: Taken,
    /// The CPU time of all tasks, of those that worked side by side, too.
    pub all_cpu_ns: i64,
    pub owed_ns: i64,
    pub stopped_ns: i64,
}

impl Ledger {
    /// What is still to be paid.
    pub fn due_ns(&self) -> i64 {
        self.owed_ns - self.stopped_ns
    }

    /// Writes down what was taken.
    pub fn add(&mut self, taken: Taken, all_cpu_ns: i64, factors: Factors) {
        self.taken.cpu_ns += taken.cpu_ns;
        self.taken.disk_ns += taken.disk_ns;
        self.all_cpu_ns += all_cpu_ns;
        self.owed_ns += factors.owed_ns(taken);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn taken(cpu_ns: i64, disk_ns: i64) -> Taken {
        Taken { cpu_ns, disk_ns }
    }

    fn of(tasks: &[Taken], cpus: u32) -> Taken {
        together(tasks.iter().copied(), cpus)
    }

    #[test]
    fn one_alone_took_what_it_took() {
        assert_eq!(of(&[taken(300, 200)], 2), taken(300, 200));
        assert_eq!(of(&[], 2), taken(0, 0));
    }

    #[test]
    fn two_side_by_side_took_the_time_of_one() {
        assert_eq!(of(&[taken(500, 0), taken(500, 0)], 2), taken(500, 0));
        assert_eq!(of(&[taken(300, 200), taken(300, 200)], 2), taken(300, 200));
    }

    #[test]
    fn many_on_few_cpus_took_what_the_cpus_needed() {
        assert_eq!(of(&[taken(250, 0); 4], 2), taken(500, 0));
        assert_eq!(of(&[taken(500, 0); 2], 1), taken(1000, 0));
    }

    #[test]
    fn only_factors_that_slow_are_factors() {
        assert!(Factors::new(0.5, 1.0).is_err());
        assert!(Factors::new(1.0, f64::NAN).is_err());
        assert!(Factors::new(1.0, 1e9).is_err());
        let factors = Factors::new(2.0, 1.5).unwrap();
        assert_eq!(factors.owed_ns(taken(1000, 400)), 1200);
    }

    #[test]
    fn what_was_paid_is_not_due() {
        let mut ledger = Ledger::default();
        ledger.add(taken(1000, 0), 1500, Factors::new(3.0, 1.0).unwrap());
        ledger.stopped_ns += 1500;
        assert_eq!((ledger.due_ns(), ledger.taken, ledger.all_cpu_ns), (500, taken(1000, 0), 1500));
    }

    proptest! {
        #[test]
        fn nobody_took_more_than_all_and_less_than_the_busiest(
            parts in prop::collection::vec((0_i64..1 << 40, 0_i64..1 << 40), 0..20),
            cpus in 1_u32..64,
        ) {
            let tasks: Vec<Taken> = parts.iter().map(|(cpu, disk)| taken(*cpu, *disk)).collect();
            let all: i64 = parts.iter().map(|(cpu, disk)| cpu + disk).sum();
            let busiest = parts.iter().map(|(cpu, disk)| cpu + disk).max().unwrap_or(0);
            let total = of(&tasks, cpus);
            prop_assert!(total.cpu_ns >= 0 && total.disk_ns >= 0);
            prop_assert!((busiest..=all).contains(&(total.cpu_ns + total.disk_ns)));
        }
    }
}
