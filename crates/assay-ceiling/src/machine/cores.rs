//! How fast a core is, by work that engines do much of, on data that lie near to it.

use std::hint::black_box;

use assay_model::random::{SplitMix, split_mix};

use super::Pass;

/// Steps between two looks at the clock.
const STEPS: u64 = 1 << 14;
const FACTOR: u64 = 0x5851_F42D_4C95_7F2D;
/// Numbers that are sorted at once: 64 KiB.
const SORTED: usize = 8 << 10;
/// Places of the hash table: 512 KiB, half of them taken.
const PLACES: usize = 64 << 10;

/// A chain of multiplications and additions.
pub struct Arithmetic(u64);

impl Arithmetic {
    pub const fn new(number: u64) -> Self {
        Self(number)
    }
}

impl Pass for Arithmetic {
    fn pass(&mut self) -> u64 {
        let mut state = self.0;
        for _ in 0..STEPS {
            // The box keeps several steps from becoming one.
            state = black_box(state.wrapping_mul(FACTOR)).wrapping_add(1);
        }
        self.0 = black_box(state);
        STEPS
    }
}

/// Numbers that are sorted, always the same ones.
pub struct Sort {
    numbers: Vec<u64>,
    sorted: Vec<u64>,
}

impl Sort {
    pub fn new(number: u64) -> Self {
        let mut random = SplitMix::new(number);
        let numbers: Vec<u64> = (0..SORTED).map(|_| random.next_u64()).collect();
        Self { sorted: numbers.clone(), numbers }
    }
}

impl Pass for Sort {
    fn pass(&mut self) -> u64 {
        self.sorted.copy_from_slice(&self.numbers);
        self.sorted.sort_unstable();
        black_box(&self.sorted);
        SORTED as u64
    }
}

/// A table of open places.
pub struct Hash {
    places: Vec<u64>,
    seed: u64,
}

impl Hash {
    pub fn new(number: u64) -> Self {
        Self { places: vec![0; PLACES], seed: number }
    }
}

impl Pass for Hash {
    fn pass(&mut self) -> u64 {
        self.places.fill(0);
        let taken = (PLACES / 2) as u64;
        for number in 0..taken {
            let key = split_mix(self.seed ^ number) | 1;
            let mut place = (key >> 32) as usize % PLACES;
            while self.places[place] != 0 && self.places[place] != key {
                place = (place + 1) % PLACES;
            }
            self.places[place] = key;
        }
        black_box(&self.places);
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_out_sorted_and_all_of_them() {
        let mut sort = Sort::new(5);
        assert_eq!(sort.pass(), SORTED as u64);
        assert!(sort.sorted.is_sorted());
        let mut numbers = sort.numbers.clone();
        numbers.sort_unstable();
        assert_eq!(numbers, sort.sorted);
    }

    #[test]
    fn all_numbers_have_a_place() {
        let mut hash = Hash::new(5);
        let taken = hash.pass();
        assert_eq!(hash.places.iter().filter(|key| **key != 0).count() as u64, taken);
    }
}
