//! Where the random numbers of parameters come from.

use assay_model::SplitMix;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Random numbers of one parameter, or of the parameters of an operation one after another.
pub enum Random {
    /// From a start that a name gives.
    Named(SplitMix),
    /// From a sequence of the generator that TPC-H's reference programs use.
    Sequence(MinimalStandard),
}

impl Random {
    /// The numbers of one parameter.
    pub fn named(seed: u64, stream: u64, operation: &str, name: &str) -> Self {
        let path = format!("{stream}/{operation}/{name}");
        Self::Named(SplitMix::new(xxh3_64_with_seed(path.as_bytes(), seed)))
    }

    /// A number from `low` to `high`, both included. For named numbers by Lemire's multiplication,
    /// whose bias is below 2^-32 for the ranges of parameters.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        let span = i128::from(high) - i128::from(low) + 1;
        match self {
            Self::Named(numbers) => {
                let scaled = (u128::from(numbers.next_u64()) * span.cast_unsigned()) >> 64;
                (i128::from(low) + scaled.cast_signed()) as i64
            }
            Self::Sequence(numbers) => low + (numbers.next_fraction() * span as f64) as i64,
        }
    }

    /// A place in a list of `len`; what is the only one needs no number.
    pub fn place(&mut self, len: usize) -> usize {
        if len == 1 { 0 } else { self.between(0, len as i64 - 1) as usize }
    }
}

/// Park and Miller's minimal standard generator (1988), whose period is a little below 2^31.
pub struct MinimalStandard(u64);

impl MinimalStandard {
    const MULTIPLIER: u64 = 16_807;
    const MODULUS: u64 = 2_147_483_647;

    /// The sequence of this number, from 1, that begins at a seed: its start is so many steps from
    /// there. None if the seed is one from which there are only zeros.
    pub fn sequence(seed: u64, number: u32) -> Option<Self> {
        let mut random = Self(seed % Self::MODULUS);
        for _ in 0..number {
            random.step();
        }
        (random.0 != 0).then_some(random)
    }

    const fn step(&mut self) {
        self.0 = self.0 * Self::MULTIPLIER % Self::MODULUS;
    }

    /// The next number, above 0 and below 1.
    fn next_fraction(&mut self) -> f64 {
        self.step();
        self.0 as f64 / Self::MODULUS as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Park and Miller publish the number after ten thousand steps from 1, so that one can check.
    #[test]
    fn the_generator_is_the_published_one() {
        assert_eq!(MinimalStandard::sequence(1, 10_000).unwrap().0, 1_043_618_065);
    }

    #[test]
    fn a_seed_without_numbers_is_seen() {
        assert!(MinimalStandard::sequence(0, 1).is_none());
        assert!(MinimalStandard::sequence(2 * MinimalStandard::MODULUS, 3).is_none());
        assert!(MinimalStandard::sequence(MinimalStandard::MODULUS + 1, 3).is_some());
    }

    #[test]
    fn the_whole_range_of_64_bits_is_one() {
        let mut random = Random::named(1, 0, "q", "p");
        let drawn: Vec<i64> = (0..64).map(|_| random.between(i64::MIN, i64::MAX)).collect();
        assert!(drawn.iter().any(|&number| number < 0) && drawn.iter().any(|&number| number > 0));
    }
}
