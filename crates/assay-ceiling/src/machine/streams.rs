//! Threads that stream through arrays, as McCalpin's STREAM does; bytes are counted as there:
//! those that the program reads and writes, not what caches bring in before a write.

use std::hint::black_box;

use super::Pass;

const WORD_BYTES: u64 = 8;
/// Sums that do not need each other, so that none waits for an addition.
const LANES: usize = 16;
const SCALE: f64 = 3.0;

fn bytes(word_count: usize, arrays: u64) -> u64 {
    word_count as u64 * WORD_BYTES * arrays
}

/// One array, added up.
pub struct Read(Vec<u64>);

impl Read {
    pub fn new(word_count: usize) -> Self {
        Self((0..word_count as u64).collect())
    }
}

impl Pass for Read {
    fn pass(&mut self) -> u64 {
        let mut sums = [0_u64; LANES];
        for words in self.0.chunks_exact(LANES) {
            for (sum, word) in sums.iter_mut().zip(words) {
                *sum = sum.wrapping_add(*word);
            }
        }
        black_box(sums);
        bytes(self.0.len(), 1)
    }
}

/// One array, filled.
pub struct Write {
    array: Vec<u64>,
    with: u64,
}

impl Write {
    pub fn new(word_count: usize) -> Self {
        Self { array: vec![1; word_count], with: 1 }
    }
}

impl Pass for Write {
    fn pass(&mut self) -> u64 {
        self.with += 1;
        self.array.fill(self.with);
        black_box(&self.array);
        bytes(self.array.len(), 1)
    }
}

/// One array into another.
pub struct Copy {
    from: Vec<f64>,
    to: Vec<f64>,
}

impl Copy {
    pub fn new(word_count: usize) -> Self {
        Self { from: vec![1.0; word_count], to: vec![2.0; word_count] }
    }
}

impl Pass for Copy {
    fn pass(&mut self) -> u64 {
        self.to.copy_from_slice(&self.from);
        black_box(&self.to);
        bytes(self.to.len(), 2)
    }
}

/// Two arrays into a third.
pub struct Triad {
    first: Vec<f64>,
    second: Vec<f64>,
    to: Vec<f64>,
}

impl Triad {
    pub fn new(word_count: usize) -> Self {
        Self {
            first: vec![1.0; word_count],
            second: vec![2.0; word_count],
            to: vec![0.5; word_count],
        }
    }
}

impl Pass for Triad {
    fn pass(&mut self) -> u64 {
        for ((to, first), second) in self.to.iter_mut().zip(&self.first).zip(&self.second) {
            *to = first + SCALE * second;
        }
        black_box(&self.to);
        bytes(self.to.len(), 3)
    }
}
