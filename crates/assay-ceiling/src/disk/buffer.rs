//! Memory that `O_DIRECT` takes.

use std::ops::{Deref, DerefMut};

use assay_model::random::SplitMix;

use super::Operation;

/// Memory that begins here may be huge pages, where the kernel grants them unasked: a large request is
/// then one piece of memory to the device. Everything stricter than a device asks for is right.
const ALIGN_BYTES: usize = 2 << 20;

/// Bytes that begin at a multiple of a huge page. Those to be written are random: nothing on the way to
/// the disk makes less of them.
#[derive(Debug)]
pub struct AlignedBuffer {
    memory: Vec<u8>,
    begin: usize,
    length: usize,
}

impl AlignedBuffer {
    /// What an operation needs: only what is written has to have contents. Filling buffers takes time on
    /// a CPU, for which the scheduler would have the trial wait.
    pub fn of(operation: Operation, length: usize, seed: u64) -> Self {
        match operation {
            Operation::Read => Self::zeroed(length),
            _ => Self::random(length, seed),
        }
    }

    /// A buffer of random bytes.
    pub fn random(length: usize, seed: u64) -> Self {
        let mut buffer = Self::zeroed(length);
        let mut random = SplitMix::new(seed);
        for chunk in buffer.chunks_mut(8) {
            let number = random.next_u64().to_le_bytes();
            chunk.copy_from_slice(&number[..chunk.len()]);
        }
        buffer
    }

    fn zeroed(length: usize) -> Self {
        let memory = vec![0; length + ALIGN_BYTES];
        let begin = memory.as_ptr().align_offset(ALIGN_BYTES);
        Self { memory, begin, length }
    }
}

impl Deref for AlignedBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[self.begin..self.begin + self.length]
    }
}

impl DerefMut for AlignedBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.begin..self.begin + self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_begins_at_a_huge_page_and_is_as_long_as_asked() {
        for length in [1, 511, 512, 4096, 1 << 20] {
            let buffer = AlignedBuffer::random(length, 1);
            assert_eq!(buffer.len(), length);
            assert_eq!(buffer.as_ptr().addr() % ALIGN_BYTES, 0);
        }
    }

    #[test]
    fn bytes_are_all_equally_frequent() {
        let buffer = AlignedBuffer::random(1 << 20, 7);
        let mut counts = [0_u32; 256];
        buffer.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
        assert!(counts.iter().all(|count| (3_700..4_500).contains(count)), "{counts:?}");
    }
}
