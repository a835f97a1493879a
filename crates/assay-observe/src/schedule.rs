//! When samples are due: at whole intervals from the start, so that a late sample moves no other.

/// A fixed grid of times on the record's clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    start_ns: i64,
    interval_ns: i64,
}

impl Schedule {
    pub fn new(start_ns: i64, interval_ns: i64) -> Self {
        Self { start_ns, interval_ns: interval_ns.max(1) }
    }

    /// The same start with another time between samples.
    pub fn with_interval(self, interval_ns: i64) -> Self {
        Self::new(self.start_ns, interval_ns)
    }

    /// The first due time after `now_ns`. Ticks that were missed are left out, not made up for.
    pub fn due_after(&self, now_ns: i64) -> i64 {
        let elapsed_ns = now_ns.saturating_sub(self.start_ns).max(0);
        let ticks = elapsed_ns / self.interval_ns + 1;
        self.start_ns.saturating_add(ticks.saturating_mul(self.interval_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_sample_moves_no_other() {
        let schedule = Schedule::new(1_000, 100);
        assert_eq!(schedule.due_after(1_000), 1_100);
        assert_eq!(schedule.due_after(1_099), 1_100);
        assert_eq!(schedule.due_after(1_130), 1_200);
    }

    #[test]
    fn missed_ticks_are_skipped() {
        assert_eq!(Schedule::new(1_000, 100).due_after(1_570), 1_600);
    }

    #[test]
    fn the_edges_of_time_do_not_overflow() {
        assert_eq!(Schedule::new(0, 0).due_after(0), 1);
        assert_eq!(Schedule::new(1, i64::MAX).due_after(i64::MAX), i64::MAX);
    }
}
