//! Latency and service time of each operation, as HDR histograms with three significant digits.

use hdrhistogram::Histogram;
use serde::Serialize;

/// Above an hour every value counts as an hour.
const VALUE_MAX_NS: u64 = 3_600_000_000_000;
/// Three significant digits: errors below 0.1 %.
const SIGNIFICANT_DIGITS: u8 = 3;

/// Latency and service time of the operations that one worker played. A histogram is allocated with
/// its first value, so a worker has none of the operations and kinds of load that it did not play.
pub struct LatencyBook {
    operations: Vec<OperationTimes>,
}

/// The histograms of one operation.
#[derive(Default)]
struct OperationTimes {
    /// Latency and service time of operations in which they are the same: all of a closed load.
    same: LazyHistogram,
    latency: LazyHistogram,
    service: LazyHistogram,
}

/// A histogram that takes no memory before its first value.
#[derive(Clone, Default)]
struct LazyHistogram(Option<Histogram<u32>>);

/// Count and quantiles of one histogram, in nanoseconds.
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
    /// A book for `operations` operations, without histograms.
    pub fn new(operations: usize) -> Self {
        Self { operations: (0..operations).map(|_| OperationTimes::default()).collect() }
    }

    /// Adds one ended operation.
    pub fn record(&mut self, operation: u16, latency_ns: i64, service_ns: i64) {
        let times = &mut self.operations[usize::from(operation)];
        if latency_ns == service_ns {
            times.same.record(service_ns);
        } else {
            times.latency.record(latency_ns);
            times.service.record(service_ns);
        }
    }

    /// Forgets all values, as at the start of a phase. Histograms stay allocated.
    pub fn reset(&mut self) {
        for times in &mut self.operations {
            times.all_mut().into_iter().for_each(LazyHistogram::reset);
        }
    }

    /// Adds the values of another worker.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.operations.iter_mut().zip(&other.operations) {
            let pairs = mine.all_mut().into_iter().zip(theirs.all());
            pairs.for_each(|(mine, theirs)| mine.merge(theirs));
        }
    }

    /// Latency (from the schedule) of one operation; `None` if it never ended.
    pub fn latency(&self, operation: u16) -> Option<Quantiles> {
        let times = &self.operations[usize::from(operation)];
        times.same.with(&times.latency).quantiles()
    }

    /// Service time (from the start) of one operation; `None` if it never ended.
    pub fn service(&self, operation: u16) -> Option<Quantiles> {
        let times = &self.operations[usize::from(operation)];
        times.same.with(&times.service).quantiles()
    }

    /// How many histograms are allocated.
    pub fn histograms(&self) -> usize {
        let allocated = |times: &OperationTimes| times.all().map(|h| usize::from(h.0.is_some()));
        self.operations.iter().flat_map(allocated).sum()
    }
}

impl OperationTimes {
    const fn all(&self) -> [&LazyHistogram; 3] {
        [&self.same, &self.latency, &self.service]
    }

    const fn all_mut(&mut self) -> [&mut LazyHistogram; 3] {
        [&mut self.same, &mut self.latency, &mut self.service]
    }
}

impl LazyHistogram {
    fn record(&mut self, time_ns: i64) {
        let histogram = self.0.get_or_insert_with(empty_histogram);
        histogram.saturating_record(time_ns.max(0) as u64);
    }

    fn reset(&mut self) {
        // Most of a histogram's pages were never written: clearing one without values would.
        if let Some(histogram) = self.0.as_mut().filter(|histogram| !histogram.is_empty()) {
            histogram.reset();
        }
    }

    fn merge(&mut self, other: &Self) {
        if let Some(theirs) = other.0.as_ref().filter(|theirs| !theirs.is_empty()) {
            let mine = self.0.get_or_insert_with(empty_histogram);
            mine.add(theirs).expect("all histograms have the same bounds");
        }
    }

    fn with(&self, other: &Self) -> Self {
        let mut sum = self.clone();
        sum.merge(other);
        sum
    }

    fn quantiles(&self) -> Option<Quantiles> {
        self.0.as_ref().and_then(Quantiles::of)
    }
}

fn empty_histogram() -> Histogram<u32> {
    Histogram::new_with_bounds(1, VALUE_MAX_NS, SIGNIFICANT_DIGITS)
        .expect("the bounds and digits are constants that the library takes")
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

    #[test]
    fn a_histogram_is_allocated_with_its_first_value_and_kept() {
        let mut book = LatencyBook::new(5);
        assert_eq!(book.histograms(), 0);
        book.record(3, 7, 7);
        assert_eq!(book.histograms(), 1);
        book.record(3, 9, 7);
        assert_eq!(book.histograms(), 3);
        book.reset();
        assert_eq!((book.histograms(), book.latency(3)), (3, None));
        let mut sum = LatencyBook::new(5);
        sum.merge(&book);
        assert_eq!(sum.histograms(), 0);
    }

    #[test]
    fn merged_books_have_the_values_of_both() {
        let (mut one, mut other) = (LatencyBook::new(1), LatencyBook::new(1));
        one.record(0, 10, 10);
        other.record(0, 30, 20);
        one.merge(&other);
        let (latency, service) = (one.latency(0).unwrap(), one.service(0).unwrap());
        assert_eq!((latency.count, latency.p50_ns, latency.max_ns), (2, 10, 30));
        assert_eq!((service.count, service.p50_ns, service.max_ns), (2, 10, 20));
    }
}
