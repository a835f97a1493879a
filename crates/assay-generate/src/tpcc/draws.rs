//! What is drawn: sequences of random numbers of their own, letters and digits, rows out of many.

use assay_model::tpcc::uniform;
use assay_model::{SplitMix, split_mix};

const DIGITS: &[u8; 10] = b"0123456789";
const ALPHANUMERIC: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const PAIRS_LEN: usize = ALPHANUMERIC.len() * ALPHANUMERIC.len();
/// All pairs of letters and digits: one number gives two of them.
static PAIRS: [[u8; 2]; PAIRS_LEN] = pairs();
/// So many pairs come from one number of 64 bits: there are 2^59.5 of them.
const CHARACTERS_A_NUMBER: usize = 10;

const fn pairs() -> [[u8; 2]; PAIRS_LEN] {
    let mut pairs = [[0; 2]; PAIRS_LEN];
    let mut index = 0;
    while index < PAIRS_LEN {
        pairs[index] =
            [ALPHANUMERIC[index / ALPHANUMERIC.len()], ALPHANUMERIC[index % ALPHANUMERIC.len()]];
        index += 1;
    }
    pairs
}

/// Which numbers a sequence is for: no two purposes share one.
#[derive(Clone, Copy)]
pub enum Purpose {
    /// Rows of `item`.
    Item = 1,
    /// Rows of `warehouse`.
    Warehouse = 2,
    /// Rows of `district`.
    District = 3,
    /// Rows of `customer`.
    Customer = 4,
    /// Rows of `history`.
    History = 5,
    /// Rows of `stock`.
    Stock = 6,
    /// Rows of `orders`.
    Order = 7,
    /// How many lines orders have.
    LineCounts = 8,
    /// Rows of `order_line`.
    OrderLine = 9,
}

/// The sequence of a purpose for a place: a warehouse, or 0, and a district or another part of it.
pub const fn sequence(purpose: Purpose, warehouse: i64, part: i64) -> SplitMix {
    let table = split_mix(purpose as u64);
    let place = split_mix(table ^ warehouse.cast_unsigned());
    SplitMix::new(split_mix(place ^ part.cast_unsigned()))
}

/// Fills a text with letters and digits.
pub fn fill_alphanumeric(random: &mut SplitMix, out: &mut [u8]) {
    for some in out.chunks_mut(CHARACTERS_A_NUMBER) {
        let mut rest = random.next_u64();
        for two in some.chunks_mut(2) {
            let scaled = u128::from(rest) * PAIRS_LEN as u128;
            let pair = PAIRS[(scaled >> 64) as usize];
            rest = scaled as u64;
            two[0] = pair[0];
            if let Some(second) = two.get_mut(1) {
                *second = pair[1];
            }
        }
    }
}

/// Fills a text with digits.
pub fn fill_numeric(random: &mut SplitMix, out: &mut [u8]) {
    for some in out.chunks_mut(CHARACTERS_A_NUMBER) {
        let mut rest = random.next_u64();
        for one in some {
            let scaled = u128::from(rest) * DIGITS.len() as u128;
            *one = DIGITS[(scaled >> 64) as usize];
            rest = scaled as u64;
        }
    }
}

/// A tenth of so many rows, each as likely to be of it (Knuth, The Art of Computer Programming,
/// volume 2, 3.4.2, algorithm S).
pub struct Tenth {
    rows_left: i64,
    wanted: i64,
}

impl Tenth {
    /// Of so many rows.
    pub const fn of(rows: i64) -> Self {
        Self { rows_left: rows, wanted: rows / 10 }
    }

    /// Whether the next row is of it.
    pub fn takes(&mut self, random: &mut SplitMix) -> bool {
        let taken = uniform(random, (1, self.rows_left)) <= self.wanted;
        self.rows_left -= 1;
        self.wanted -= i64::from(taken);
        taken
    }
}

/// The numbers from 1 to `count` in random order (Fisher and Yates).
pub fn permutation(random: &mut SplitMix, count: i64) -> Vec<i64> {
    let mut numbers: Vec<i64> = (1..=count).collect();
    for last in (1..numbers.len()).rev() {
        numbers.swap(last, uniform(random, (0, last as i64)) as usize);
    }
    numbers
}
