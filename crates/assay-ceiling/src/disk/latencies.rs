//! How long requests took.

use std::time::Duration;

use hdrhistogram::Histogram;

use crate::CeilingError;

/// Percentiles are right to one part in a thousand.
const DIGITS: u8 = 3;
/// A request that takes longer counts as one of that length.
const LONGEST_NS: u64 = 600_000_000_000;

/// Times of requests, counted in buckets.
#[derive(Clone, Debug)]
pub struct Latencies(Histogram<u64>);

impl Latencies {
    /// None yet.
    pub fn new() -> Result<Self, CeilingError> {
        Histogram::new_with_bounds(1, LONGEST_NS, DIGITS)
            .map(Self)
            .map_err(|error| CeilingError::Trial(error.to_string()))
    }

    /// Counts one.
    pub fn record(&mut self, took: Duration) {
        self.0.saturating_record(took.as_nanos() as u64);
    }

    /// Counts all of another's.
    pub fn add(&mut self, other: &Self) -> Result<(), CeilingError> {
        self.0.add(&other.0).map_err(|error| CeilingError::Trial(error.to_string()))
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.0.reset();
    }

    /// How many were counted.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The shortest; 0 where none was counted.
    pub fn min_ns(&self) -> u64 {
        if self.0.is_empty() { 0 } else { self.0.min() }
    }

    /// The longest.
    pub fn max_ns(&self) -> u64 {
        self.0.max()
    }

    /// The mean.
    pub fn mean_ns(&self) -> u64 {
        self.0.mean() as u64
    }

    /// A quantile, of 0 to 1.
    pub fn quantile_ns(&self, quantile: f64) -> u64 {
        self.0.value_at_quantile(quantile)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_what_was_counted() {
        let (mut low, mut high) = (Latencies::new().unwrap(), Latencies::new().unwrap());
        (1..=500).for_each(|us| low.record(Duration::from_micros(us)));
        (501..=1000).for_each(|us| high.record(Duration::from_micros(us)));
        low.add(&high).unwrap();
        assert_eq!(low.count(), 1000);
        for (quantile, us) in [(0.5, 500.0), (0.9, 900.0), (0.99, 990.0)] {
            let quantile_us = low.quantile_ns(quantile) as f64 / 1e3;
            assert!((quantile_us / us - 1.0).abs() < 2e-3, "{quantile}: {quantile_us}");
        }
        assert!(low.min_ns().abs_diff(1_000) <= 1);
    }

    #[test]
    fn one_that_never_ended_counts_as_the_longest() {
        let mut latencies = Latencies::new().unwrap();
        latencies.record(Duration::from_secs(100_000));
        assert_eq!(latencies.count(), 1);
        assert!(latencies.max_ns() >= LONGEST_NS);
    }
}
