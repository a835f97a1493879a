//! Texts of letters and digits, and how long they are.

use assay_model::SplitMix;
use assay_model::tpcc::uniform;

use super::draws::{fill_alphanumeric, fill_numeric};
use crate::columns::Texts;

impl Texts {
    /// A text of letters and digits, each as likely, and each length within the bounds, too.
    pub fn alphanumeric(&mut self, random: &mut SplitMix, lengths: (i64, i64)) {
        let length = random_length(random, lengths);
        self.letters(random, length);
    }

    /// A text of so many letters and digits.
    pub fn letters(&mut self, random: &mut SplitMix, length: usize) {
        fill_alphanumeric(random, self.next(length));
    }

    /// A text of letters and digits in which `word` stands somewhere.
    pub fn alphanumeric_with(&mut self, random: &mut SplitMix, lengths: (i64, i64), word: &str) {
        let length = random_length(random, lengths);
        let out = self.next(length);
        fill_alphanumeric(random, out);
        let at = uniform(random, (0, (length - word.len()) as i64)) as usize;
        out[at..at + word.len()].copy_from_slice(word.as_bytes());
    }

    /// A text of so many digits, and what follows them.
    pub fn digits(&mut self, random: &mut SplitMix, length: usize, then: &str) {
        let (drawn, rest) = self.next(length + then.len()).split_at_mut(length);
        fill_numeric(random, drawn);
        rest.copy_from_slice(then.as_bytes());
    }
}

fn random_length(random: &mut SplitMix, lengths: (i64, i64)) -> usize {
    uniform(random, lengths) as usize
}
