//! How long one load takes: each tells where the next one is, so none can begin before.

use std::hint::black_box;

use assay_model::random::SplitMix;

use super::Pass;

/// Words of a line of the cache: neighbours would come along with each other.
const LINE_WORDS: usize = 8;
/// Loads between two looks at the clock.
const LOADS: u64 = 1 << 14;

/// An array whose lines are one circle.
pub struct Chase {
    next: Vec<u64>,
    at: u64,
}

impl Chase {
    pub fn new(word_count: usize) -> Self {
        let lines = (word_count / LINE_WORDS).max(2);
        let mut next = vec![0; lines * LINE_WORDS];
        for (line, to) in one_circle(lines, 1).into_iter().enumerate() {
            next[line * LINE_WORDS] = u64::from(to) * LINE_WORDS as u64;
        }
        Self { next, at: 0 }
    }
}

impl Pass for Chase {
    fn pass(&mut self) -> u64 {
        let mut at = self.at;
        for _ in 0..LOADS {
            at = self.next[at as usize];
        }
        self.at = black_box(at);
        LOADS
    }
}

/// A random permutation that is one circle (Sattolo 1986), so that all lines are visited.
fn one_circle(lines: usize, seed: u64) -> Vec<u32> {
    let mut random = SplitMix::new(seed);
    let mut next: Vec<u32> = (0..lines as u32).collect();
    for last in (1..lines).rev() {
        let other = (u128::from(random.next_u64()) * last as u128) >> 64;
        next.swap(last, other as usize);
    }
    next
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn all_lines_are_visited_before_the_first_one_again(lines in 2_usize..2000, seed: u64) {
            let next = one_circle(lines, seed);
            let mut at = 0;
            for visited in 1..=lines {
                at = next[at as usize];
                prop_assert_eq!(at == 0, visited == lines);
            }
        }
    }

    #[test]
    fn a_pass_goes_along_the_circle() {
        let mut chase = Chase::new(64);
        assert_eq!(chase.pass(), LOADS);
        assert_eq!(chase.at % LINE_WORDS as u64, 0);
        assert!((chase.at as usize) < chase.next.len());
    }
}
