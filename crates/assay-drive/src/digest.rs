//! An order-insensitive digest of rows. It tells that something changed; it does not replace the
//! comparison of rows with their tolerances.
//!
//! Beside it there is one that order changes: rows that are right in a wrong order are wrong where an
//! order was asked for, and must not hide behind the first.
//!
//! A row's cells are written in a canonical form (integers and decimals by value, so that 1 and
//! 1.00 agree), hashed with XXH3, and the hashes of all rows are added modulo 2^64.

use xxhash_rust::xxh3::xxh3_64;

/// Odd and without a pattern: the golden ratio in 64 bits.
const CHAIN_MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// Collects rows, cell by cell.
#[derive(Debug, Default)]
pub struct RowDigest {
    row: Vec<u8>,
    sum: u64,
    chain: u64,
    rows: u64,
}

impl RowDigest {
    /// Forgets all rows; the memory stays.
    pub fn clear(&mut self) {
        self.row.clear();
        (self.sum, self.chain, self.rows) = (0, 0, 0);
    }

    /// An absent value.
    pub fn null(&mut self) {
        self.row.push(0);
    }

    /// A truth value.
    pub fn boolean(&mut self, value: bool) {
        self.row.extend_from_slice(&[1, u8::from(value)]);
    }

    /// An exact number `coefficient * 10^-scale`; trailing zeros do not matter.
    pub fn exact(&mut self, mut coefficient: i128, mut scale: i32) {
        while scale > 0 && coefficient % 10 == 0 {
            coefficient /= 10;
            scale -= 1;
        }
        while scale < 0 {
            coefficient = coefficient.wrapping_mul(10);
            scale += 1;
        }
        self.row.push(2);
        self.row.extend_from_slice(&coefficient.to_le_bytes());
        self.row.extend_from_slice(&scale.to_le_bytes());
    }

    /// A binary floating-point number; -0 equals 0, and all NaN are one.
    pub fn float(&mut self, value: f64) {
        let value = if value == 0.0 { 0.0 } else { value };
        let bits = if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() };
        self.row.push(3);
        self.row.extend_from_slice(&bits.to_le_bytes());
    }

    /// Text or bytes.
    pub fn bytes(&mut self, value: &[u8]) {
        self.row.push(4);
        self.row.extend_from_slice(&(value.len() as u64).to_le_bytes());
        self.row.extend_from_slice(value);
    }

    /// A date, in days since 1970-01-01.
    pub fn date(&mut self, days: i32) {
        self.row.push(5);
        self.row.extend_from_slice(&days.to_le_bytes());
    }

    /// A point in time, in microseconds since 1970-01-01.
    pub fn timestamp(&mut self, micros: i64) {
        self.row.push(6);
        self.row.extend_from_slice(&micros.to_le_bytes());
    }

    /// Ends the row.
    pub fn end_row(&mut self) {
        let hash = xxh3_64(&self.row);
        self.sum = self.sum.wrapping_add(hash);
        self.chain = self.chain.wrapping_mul(CHAIN_MULTIPLIER).wrapping_add(hash);
        self.rows += 1;
        self.row.clear();
    }

    /// Rows so far.
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// The digest of the rows so far, whatever their order.
    pub const fn finish(&self) -> u64 {
        self.sum
    }

    /// The digest of the rows so far in their order.
    pub const fn finish_ordered(&self) -> u64 {
        self.chain
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn digest(rows: &[(i64, String)]) -> u64 {
        let mut digest = RowDigest::default();
        for (number, text) in rows {
            digest.exact(i128::from(*number), 0);
            digest.bytes(text.as_bytes());
            digest.end_row();
        }
        digest.finish()
    }

    fn one(cell: impl Fn(&mut RowDigest)) -> u64 {
        let mut digest = RowDigest::default();
        cell(&mut digest);
        digest.end_row();
        digest.finish()
    }

    #[test]
    fn numbers_agree_by_value() {
        assert_eq!(one(|d| d.exact(100, 2)), one(|d| d.exact(1, 0)));
        assert_eq!(one(|d| d.exact(1, -2)), one(|d| d.exact(100, 0)));
        assert_eq!(one(|d| d.float(-0.0)), one(|d| d.float(0.0)));
        assert_ne!(one(RowDigest::null), one(|d| d.exact(0, 0)));
        assert_ne!(one(|d| d.exact(101, 2)), one(|d| d.exact(1, 0)));
    }

    #[test]
    fn a_row_twice_is_not_a_row_once() {
        let row = (1, "a".to_owned());
        assert_ne!(digest(&[row.clone(), row.clone()]), digest(&[row]));
    }

    #[test]
    fn order_changes_only_the_ordered_digest() {
        let of = |numbers: [i128; 2]| {
            let mut digest = RowDigest::default();
            for number in numbers {
                digest.exact(number, 0);
                digest.end_row();
            }
            (digest.finish(), digest.finish_ordered())
        };
        assert_eq!(of([1, 2]).0, of([2, 1]).0);
        assert_ne!(of([1, 2]).1, of([2, 1]).1);
    }

    proptest! {
        #[test]
        fn order_does_not_matter(mut rows in proptest::collection::vec((any::<i64>(), ".{0,8}"), 0..20)) {
            let before = digest(&rows);
            rows.reverse();
            prop_assert_eq!(before, digest(&rows));
        }

        #[test]
        fn any_change_shows(rows in proptest::collection::vec((any::<i64>(), ".{0,8}"), 1..20)) {
            let mut changed = rows.clone();
            changed[0].0 = changed[0].0.wrapping_add(1);
            prop_assert_ne!(digest(&rows), digest(&changed));
        }
    }
}
