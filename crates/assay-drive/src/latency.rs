//! Latency and service time of each operation, as HDR histograms with three significant digits.

use hdrhistogram::Histogram;
use serde::Serialize;

/// Above an hour every value counts as an hour.
const VALUE_MAX_NS: u64 = 3_600_000_000_000;
/// Three significant digits: errors below 0.1 %.
const SIGNIFICANT_DIGITS: u8 = 3;

/// Histograms of one worker, one set an operation of the plan.
pub struct LatencyBook {
    /// Latency and service time of operations in which they are the same: all of a closed load.
    same: Vec<Histogram<u32>>,
    latency: Vec<Histogram<u32>>,
    service: Vec<Histogram<u32>>,
}

/// What is told of one histogram, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Quantiles {
    /// How many values.
    pub count: u64,
    /// Median.
    pub p50_ns: u64,
    /// 90th percentile.
    pub p90_ns: u64,
    /// 95th percentile.
    pub p95_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// 99.9th percentile.
    pub p999_ns: u64,
    /// Largest value.
    pub max_ns: u64,
}

impl LatencyBook {
    /// Empty histograms for `operations` operations. All memory is taken here.
    pub fn new(operations: usize) -> Self {
        let empty = || (0..operations).map(|_| empty_histogram()).collect();
        Self { same: empty(), latency: empty(), service: empty() }
    }

    /// Adds one ended operation.
    pub fn record(&mut self, operation: u16, latency_ns: i64, service_ns: i64) {
        let operation = usize::from(operation);
        if latency_ns == service_ns {
            self.same[operation].saturating_record(service_ns.max(0) as u64);
        } else {
            self.latency[operation].saturating_record(latency_ns.max(0) as u64);
            self.service[operation].saturating_record(service_ns.max(0) as u64);
        }
    }

    /// Forgets all values, as at the start of a phase.
    pub fn reset(&mut self) {
        for histograms in [&mut self.same, &mut self.latency, &mut self.service] {
            histograms.iter_mut().for_each(Histogram::reset);
        }
    }

    /// Adds the values of another worker.
    pub fn merge(&mut self, other: &Self) {
        let all = [
            (&mut self.same, &other.same),
            (&mut self.latency, &other.latency),
            (&mut self.service, &other.service),
        ];
        for (mine, theirs) in all {
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| add(mine, theirs));
        }
    }

    /// Latency (from the schedule) of one operation; `None` if it never ended.
    pub fn latency(&self, operation: u16) -> Option<Quantiles> {
        self.quantiles(&self.latency, operation)
    }

    /// Service time (from the start) of one operation; `None` if it never ended.
    pub fn service(&self, operation: u16) -> Option<Quantiles> {
        self.quantiles(&self.service, operation)
    }

    fn quantiles(&self, own: &[Histogram<u32>], operation: u16) -> Option<Quantiles> {
        let mut all = self.same[usize::from(operation)].clone();
        add(&mut all, &own[usize::from(operation)]);
        Quantiles::of(&all)
    }
}

fn empty_histogram() -> Histogram<u32> {
    Histogram::new_with_bounds(1, VALUE_MAX_NS, SIGNIFICANT_DIGITS)
        .expect("the bounds and digits are constants that the library takes")
}

fn add(mine: &mut Histogram<u32>, theirs: &Histogram<u32>) {
    mine.add(theirs).expect("all histograms have the same bounds");
}

impl Quantiles {
    fn of(histogram: &Histogram<u32>) -> Option<Self> {
        (!histogram.is_empty()).then(|| Self {
            count: histogram.len(),
            p50_ns: histogram.value_at_quantile(0.50),
            p90_ns: histogram.value_at_quantile(0.90),
            p95_ns: histogram.value_at_quantile(0.95),
            p99_ns: histogram.value_at_quantile(0.99),
            p999_ns: histogram.value_at_quantile(0.999),
            max_ns: histogram.max(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_is_none_and_an_hour_is_the_ceiling() {
        let mut book = LatencyBook::new(2);
        assert_eq!(book.latency(0), None);
        book.record(1, i64::MAX, 5);
        let ceiling = book.latency(1).unwrap().max_ns as f64;
        assert!((ceiling / VALUE_MAX_NS as f64 - 1.0).abs() < 0.001, "{ceiling}");
        assert_eq!(book.service(1).unwrap().p50_ns, 5);
    }
}
