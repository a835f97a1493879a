//! Random numbers that depend on nothing but a number: the same for every thread, order and run.

/// `SplitMix64`'s step: the golden ratio in 64 bits.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// `SplitMix64` (Steele, Lea, Flood 2014): a number's own random number, whoever asks for it.
pub const fn split_mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(STEP);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// A sequence of such numbers from a start.
#[derive(Clone, Copy, Debug)]
pub struct SplitMix(u64);

impl SplitMix {
    /// The sequence that begins at `start`.
    pub const fn new(start: u64) -> Self {
        Self(start)
    }

    /// The next number.
    pub const fn next_u64(&mut self) -> u64 {
        let number = split_mix(self.0);
        self.0 = self.0.wrapping_add(STEP);
        number
    }
}

/// A number from `low` to `high`, both included, equally likely.
pub fn uniform(random: &mut SplitMix, (low, high): (i64, i64)) -> i64 {
    let span = (high - low + 1) as u128;
    low + ((u128::from(random.next_u64()) * span) >> 64) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of the published generator for seed 1234567.
    #[test]
    fn the_sequence_is_the_published_one() {
        let mut sequence = SplitMix::new(1_234_567);
        let first = [(); 3].map(|()| sequence.next_u64());
        let published =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(first, published);
    }
}
