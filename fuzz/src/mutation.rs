//! Changes to inputs of a corpus, for the quick test. The campaign has libFuzzer's own.

use assay_model::SplitMix;

/// Bytes that are limits of something in most formats.
const LIMITS: [u8; 12] = [0, 1, 0x7f, 0x80, 0xff, 0xfb, 0xfe, b'0', b'9', b'-', b' ', b'\n'];
/// No more changes are made to one input.
const CHANGES_MAX: u64 = 4;
/// No longer part is copied or removed.
const PART_BYTES_MAX: u64 = 32;

/// Numbers by chance, the same for the same seed.
pub struct Numbers(SplitMix);

impl Numbers {
    /// The numbers of a seed.
    pub const fn new(seed: u64) -> Self {
        Self(SplitMix::new(seed))
    }

    /// The next number.
    pub const fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

/// An input of `corpus`, changed at one place or several, of at most `bytes_max` bytes.
pub fn changed(corpus: &[Vec<u8>], numbers: &mut Numbers, bytes_max: usize) -> Vec<u8> {
    let mut bytes = corpus.get(numbers.below(corpus.len().max(1))).cloned().unwrap_or_default();
    for _ in 0..=numbers.next() % CHANGES_MAX {
        change(&mut bytes, corpus, numbers);
    }
    bytes.truncate(bytes_max);
    bytes
}

fn change(bytes: &mut Vec<u8>, corpus: &[Vec<u8>], numbers: &mut Numbers) {
    if bytes.is_empty() {
        bytes.extend((0..=numbers.next() % PART_BYTES_MAX).map(|_| numbers.next() as u8));
        return;
    }
    let at = numbers.below(bytes.len());
    match numbers.next() % 8 {
        0 => bytes[at] ^= 1 << (numbers.next() % 8),
        1 => bytes[at] = LIMITS[numbers.below(LIMITS.len())],
        2 => bytes[at] = bytes[at].wrapping_add([1, 0xff][numbers.below(2)]),
        3 => bytes.truncate(at),
        4 => {
            let end = part_end(bytes, at, numbers);
            bytes.drain(at..end);
        }
        5 => {
            let part = bytes[at..part_end(bytes, at, numbers)].to_vec();
            let place = numbers.below(bytes.len());
            bytes.splice(place..place, part);
        }
        6 => {
            let limit = LIMITS[numbers.below(LIMITS.len())];
            let end = (at + [2, 4, 8][numbers.below(3)]).min(bytes.len());
            bytes[at..end].fill(limit);
        }
        _ => {
            let other = &corpus[numbers.below(corpus.len())];
            let from = numbers.below(other.len().max(1)).min(other.len());
            bytes.truncate(at);
            bytes.extend_from_slice(&other[from..]);
        }
    }
}

fn part_end(bytes: &[u8], at: usize, numbers: &mut Numbers) -> usize {
    (at + 1 + (numbers.next() % PART_BYTES_MAX) as usize).min(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_differ_and_are_the_same_again_for_the_same_seed() {
        let corpus = [b"a line of text\n".to_vec(), vec![0; 40]];
        let drawn = |seed| {
            let mut numbers = Numbers::new(seed);
            (0..200).map(|_| changed(&corpus, &mut numbers, 48)).collect::<Vec<_>>()
        };
        let mut different = drawn(1);
        assert_eq!(different, drawn(1));
        assert!(different.iter().all(|input| input.len() <= 48));
        different.sort();
        different.dedup();
        assert!(different.len() > 150, "{}", different.len());
    }
}
