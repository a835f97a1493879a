//! Parsers of foreign input, each behind one function that takes bytes.
//!
//! Two programs call these functions. The quick test of `cargo test` gives them the stored corpus and
//! some thousand changed inputs. The campaign (`benchmarks/bench_fuzz.py`) has libFuzzer look for
//! inputs that execute new code, and adds them to the corpus.
//!
//! Invariant: a parser may refuse any input. It never panics, never takes more memory than its target
//! allows, and agrees with an independent parser where a target compares the two.

pub mod allocations;
pub mod mutation;
mod peer;
mod targets;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub use targets::TARGETS;

#[global_allocator]
static ALLOCATOR: allocations::Counting = allocations::Counting;

/// One parser, or a few that read the same format.
#[derive(Clone, Copy)]
pub struct Target {
    /// Name, which is also that of its folder in `corpus/`.
    pub name: &'static str,
    /// Has the parser read an input. Panics if it breaks its promise.
    pub read: fn(&[u8]),
    /// No longer input is given.
    pub bytes_max: usize,
    /// The parser may hold no more memory at once.
    pub memory_bytes_max: usize,
    /// The crate of the parser.
    pub crate_name: &'static str,
    /// Whether a whole session reads the input from a socket, which takes some 50 us each time.
    pub is_session: bool,
}

impl Target {
    /// Has the parser read an input.
    ///
    /// # Panics
    /// If the parser panics, holds more memory than it may, or disagrees with an independent one.
    pub fn execute(&self, input: &[u8]) {
        let input = &input[..input.len().min(self.bytes_max)];
        let peak = allocations::peak_bytes(|| (self.read)(input));
        assert!(
            peak <= self.memory_bytes_max,
            "{}: {peak} bytes of memory for an input of {} bytes",
            self.name,
            input.len()
        );
    }

    /// The folder of its corpus.
    pub fn corpus_dir(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(self.name)
    }

    /// The inputs of its corpus, by name.
    ///
    /// # Errors
    /// If the folder or a file of it cannot be read.
    pub fn corpus(&self) -> io::Result<Vec<(String, Vec<u8>)>> {
        let mut inputs = Vec::new();
        for entry in fs::read_dir(self.corpus_dir())? {
            let entry = entry?;
            inputs
                .push((entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path())?));
        }
        inputs.sort();
        Ok(inputs)
    }
}
