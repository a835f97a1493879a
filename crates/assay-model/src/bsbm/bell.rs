//! Normal distributions that are cut off at both ends, drawn by their quantiles.

/// Parts of equal probability that a distribution is cut into.
const QUANTILES: usize = 4096;
/// Steps of the integration that finds them.
const STEPS: u32 = 1 << 16;

/// A normal distribution of variance 1 between two bounds. Only basic arithmetic makes and draws
/// it, so that every machine has the same numbers.
pub struct Bell {
    quantiles: Vec<f64>,
}

impl Bell {
    /// The distribution around `mean`, cut off at `low` and at `high`.
    pub fn new(mean: f64, low: f64, high: f64) -> Self {
        let width = (high - low) / f64::from(STEPS);
        let at = |step: u32| width.mul_add_plain(f64::from(step), low);
        let weight = |step: u32| density(at(step) + width / 2.0 - mean);
        let whole: f64 = (0..STEPS).map(weight).sum();
        let (mut quantiles, mut below) = (vec![low], 0.0);
        for step in 0..STEPS {
            let here = weight(step);
            while quantiles.len() < QUANTILES {
                let wanted = whole * quantiles.len() as f64 / QUANTILES as f64;
                if below + here < wanted {
                    break;
                }
                quantiles.push(at(step) + width * ((wanted - below) / here));
            }
            below += here;
        }
        quantiles.push(high);
        Self { quantiles }
    }

    /// The value of a random number, from `low` to below `high`.
    pub fn value(&self, random: u64) -> f64 {
        let part = (random >> 52) as usize;
        let within = ((random << 12) >> 11) as f64 / (1_u64 << 53) as f64;
        let (from, to) = (self.quantiles[part], self.quantiles[part + 1]);
        from + (to - from) * within
    }

    /// The value of a random number as one of `count` numbers from 1, the bounds being their ends.
    pub fn number(&self, random: u64, count: u32) -> u32 {
        let (low, high) = (self.quantiles[0], self.quantiles[QUANTILES]);
        let share = (self.value(random) - low) / (high - low);
        ((share * f64::from(count)) as u32).min(count - 1) + 1
    }
}

/// `a * b + c` in two roundings: one rounding is not what every machine does.
trait MulAddPlain {
    fn mul_add_plain(self, by: f64, plus: f64) -> f64;
}

impl MulAddPlain for f64 {
    #[expect(clippy::suboptimal_flops, reason = "each machine rounds this alike")]
    fn mul_add_plain(self, by: f64, plus: f64) -> f64 {
        self * by + plus
    }
}

/// Density of the standard normal distribution, but for its constant: e to the power of -x²/2, from
/// the power series of a thousandth of it.
fn density(x: f64) -> f64 {
    let small = -x * x / 2.0 / 1024.0;
    let mut series = 1.0;
    for term in (1..=8).rev() {
        series = 1.0 + series * small / f64::from(term);
    }
    (0..10).fold(series, |power, _| power * power)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix;

    #[test]
    fn the_density_is_that_of_the_normal_distribution() {
        for x in [0.0, 0.5, 1.0, 2.0, 4.0] {
            assert!((density(x) - f64::exp(-x * x / 2.0)).abs() < 1e-12, "{x}");
        }
    }

    #[test]
    fn mean_and_spread_are_those_of_the_distribution() {
        let bell = Bell::new(3.0, 0.0, 7.0);
        let mut random = SplitMix::new(1);
        let drawn: Vec<f64> = (0..200_000).map(|_| bell.value(random.next_u64())).collect();
        let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
        let variance = drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / drawn.len() as f64;
        assert!((mean - 3.004).abs() < 0.01, "{mean}");
        assert!((variance - 0.987).abs() < 0.02, "{variance}");
    }

    #[test]
    fn numbers_keep_within_their_count() {
        let bell = Bell::new(0.0, 0.0, 2.0);
        assert_eq!((bell.number(0, 7), bell.number(u64::MAX, 7)), (1, 7));
        assert_eq!((bell.number(0, 1), bell.number(u64::MAX, 1)), (1, 1));
    }
}
