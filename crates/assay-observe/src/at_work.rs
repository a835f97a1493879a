//! Which tasks were at work during an interval, and which only answered a timer.

use std::time::Duration;

/// A task that wanted a CPU for less than this in an interval answered a timer, not a query.
const AT_WORK_MIN: Duration = Duration::from_millis(1);
/// Nor was one at work that wanted a CPU for less than this part (1 %) of the interval.
const AT_WORK_WALL_DIVISOR: u64 = 100;

/// Tasks that were busy for long enough, but at least one if any was busy at all.
pub(crate) fn count_at_work(busy_ns: impl Iterator<Item = u64>, wall_ns: u64) -> u64 {
    let least_ns = (AT_WORK_MIN.as_nanos() as u64).max(wall_ns / AT_WORK_WALL_DIVISOR);
    let (mut busy, mut at_work) = (0, 0);
    for busy_ns in busy_ns {
        busy += u64::from(busy_ns > 0);
        at_work += u64::from(busy_ns >= least_ns);
    }
    at_work.max(busy.min(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS_NS: u64 = 1_000_000;

    fn at_work(busy_ns: &[u64], wall_ns: u64) -> u64 {
        count_at_work(busy_ns.iter().copied(), wall_ns)
    }

    #[test]
    fn a_task_is_at_work_from_a_millisecond_on() {
        assert_eq!(at_work(&[MS_NS, MS_NS - 1, 5 * MS_NS], 10 * MS_NS), 2);
    }

    #[test]
    fn in_a_long_interval_it_takes_one_percent_of_it() {
        assert_eq!(at_work(&[99 * MS_NS, 100 * MS_NS], 10_000 * MS_NS), 1);
    }

    #[test]
    fn something_ran_is_at_least_one_and_nothing_ran_is_none() {
        assert_eq!(at_work(&[0, 7], MS_NS), 1);
        assert_eq!(at_work(&[0, 0], MS_NS), 0);
        assert_eq!(at_work(&[], MS_NS), 0);
    }
}
