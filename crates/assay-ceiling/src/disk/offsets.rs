//! Where the next request lies.

use std::sync::atomic::{AtomicU64, Ordering};

use assay_model::random::split_mix;

use super::Pattern;

/// Places of requests in a file, for all threads of a trial.
#[derive(Debug)]
pub struct Offsets {
    pattern: Pattern,
    size_bytes: u64,
    places: u64,
    first: u64,
    seed: u64,
    drawn: AtomicU64,
}

impl Offsets {
    /// Places at multiples of the request's size that lie whole within the file.
    pub fn new(pattern: Pattern, size_bytes: u64, file_bytes: u64, seed: u64) -> Self {
        let places = (file_bytes / size_bytes).max(1);
        let first = scaled(split_mix(seed), places);
        Self { pattern, size_bytes, places, first, seed, drawn: AtomicU64::new(0) }
    }

    /// The next one, in bytes.
    pub fn draw(&self) -> u64 {
        let number = self.drawn.fetch_add(1, Ordering::Relaxed);
        let place = match self.pattern {
            Pattern::Sequential => (self.first + number) % self.places,
            Pattern::Random => scaled(split_mix(split_mix(self.seed) ^ number), self.places),
        };
        place * self.size_bytes
    }
}

/// A number below `bound` out of 64 random bits, without the bias of a remainder.
fn scaled(random: u64, bound: u64) -> u64 {
    ((u128::from(random) * u128::from(bound)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_request_lies_whole_within_the_file(
            size_power in 9_u32..22, places in 1_u64..1000, rest in 0_u64..512, seed: u64,
        ) {
            let size_bytes = 1_u64 << size_power;
            let file_bytes = size_bytes * places + rest;
            for pattern in [Pattern::Sequential, Pattern::Random] {
                let offsets = Offsets::new(pattern, size_bytes, file_bytes, seed);
                for _ in 0..100 {
                    let offset = offsets.draw();
                    prop_assert_eq!(offset % size_bytes, 0);
                    prop_assert!(offset + size_bytes <= file_bytes);
                }
            }
        }

        #[test]
        fn sequential_requests_follow_each_other(places in 2_u64..1000, seed: u64) {
            let offsets = Offsets::new(Pattern::Sequential, 512, 512 * places, seed);
            let mut before = offsets.draw();
            for _ in 0..places {
                let next = offsets.draw();
                prop_assert_eq!(next, (before + 512) % (512 * places));
                before = next;
            }
        }
    }

    #[test]
    fn random_requests_go_everywhere() {
        let offsets = Offsets::new(Pattern::Random, 1, 16, 3);
        let mut counts = [0_u32; 16];
        (0..16_000).for_each(|_| counts[offsets.draw() as usize] += 1);
        assert!(counts.iter().all(|count| (850..1150).contains(count)), "{counts:?}");
    }
}
