//! Texts of words that no language has: 65,536 of them, three to fifteen letters long, as often as
//! words of a list of English ones are.

use std::collections::HashSet;
use std::sync::OnceLock;

use crate::random::{SplitMix, uniform};

/// Words there are: sixteen random bits name one.
const WORDS: usize = 1 << 16;
/// Bytes that a word takes, with the blanks that follow it.
const SLOT: usize = 16;
/// How many of a thousand words are three letters long, four, and so on.
const LENGTHS: [i64; 13] = [4, 14, 48, 94, 152, 185, 159, 116, 84, 62, 42, 25, 15];
const LENGTH_LEAST: usize = 3;
const CONSONANTS: &[u8; 20] = b"bcddfghkllmnnprrsttv";
const VOWELS: &[u8; 8] = b"aaeeioou";
/// Of so many letters, one follows its like: two consonants or two vowels.
const DOUBLES: i64 = 5;

/// A text: a number of words, each drawn from its own random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    start: u64,
    word_count: u16,
}

/// A word and the blanks behind it, and its length with the first of these.
struct Words {
    slots: Vec<[u8; SLOT]>,
    lengths: Vec<u8>,
}

impl Text {
    /// A text of as many words as are drawn from these.
    pub fn draw(random: &mut SplitMix, word_range: (i64, i64)) -> Self {
        Self { word_count: uniform(random, word_range) as u16, start: random.next_u64() }
    }

    /// Adds the text to a buffer: small letters, and a blank between words.
    pub fn write(self, out: &mut Vec<u8>) {
        let dictionary = dictionary();
        let begin = out.len();
        let word_count = usize::from(self.word_count);
        out.resize(begin + word_count * SLOT, b' ');
        let mut random = SplitMix::new(self.start);
        let (mut at, mut left) = (begin, word_count);
        while left > 0 {
            let mut bits = random.next_u64();
            for _ in 0..left.min(4) {
                let word = usize::from(bits as u16);
                out[at..at + SLOT].copy_from_slice(&dictionary.slots[word]);
                at += usize::from(dictionary.lengths[word]);
                bits >>= 16;
            }
            left = left.saturating_sub(4);
        }
        out.truncate(at - 1);
    }

    /// How many words it has.
    pub const fn word_count(self) -> u16 {
        self.word_count
    }

    /// The text by itself.
    pub fn text(self) -> String {
        let mut out = Vec::new();
        self.write(&mut out);
        String::from_utf8(out).expect("words are of ASCII letters")
    }
}

/// The words: the same ones for every seed.
fn dictionary() -> &'static Words {
    static WORDS_ONCE: OnceLock<Words> = OnceLock::new();
    WORDS_ONCE.get_or_init(|| {
        let mut random = SplitMix::new(0x6273_626d);
        let mut made = Words { slots: Vec::new(), lengths: Vec::new() };
        let mut drawn_slots = HashSet::new();
        while made.slots.len() < WORDS {
            let length = word_length(uniform(&mut random, (0, 999)));
            let slot = word(&mut random, length);
            if drawn_slots.insert(slot) {
                made.slots.push(slot);
                made.lengths.push(length as u8 + 1);
            }
        }
        made
    })
}

fn word_length(drawn: i64) -> usize {
    let mut below = 0;
    let longer = LENGTHS.iter().take_while(|&&of_thousand| {
        below += of_thousand;
        below <= drawn
    });
    LENGTH_LEAST + longer.count()
}

fn word(random: &mut SplitMix, length: usize) -> [u8; SLOT] {
    let mut slot = [b' '; SLOT];
    let mut vowel = uniform(random, (0, 2)) == 0;
    for letter in &mut slot[..length] {
        *letter = if vowel {
            VOWELS[uniform(random, (0, VOWELS.len() as i64 - 1)) as usize]
        } else {
            CONSONANTS[uniform(random, (0, CONSONANTS.len() as i64 - 1)) as usize]
        };
        vowel = vowel == (uniform(random, (0, DOUBLES - 1)) == 0);
    }
    slot
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_its_words() {
        let mut random = SplitMix::new(5);
        for _ in 0..1_000 {
            let text = Text::draw(&mut random, (1, 9));
            let written = text.text();
            assert_eq!(written.split(' ').count(), usize::from(text.word_count()), "{written}");
            assert!(written.bytes().all(|byte| byte == b' ' || byte.is_ascii_lowercase()));
            assert!(written.split(' ').all(|word| (3..=15).contains(&word.len())), "{written}");
        }
    }

    #[test]
    fn words_are_as_long_as_english_ones() {
        assert_eq!(LENGTHS.iter().sum::<i64>(), 1_000);
        let lengths = dictionary().lengths.iter().map(|&length| f64::from(length) - 1.0);
        let mean = lengths.sum::<f64>() / WORDS as f64;
        assert!((8.7..9.0).contains(&mean), "{mean}");
    }
}
