//! Values to and from SQLite: what is bound, and dates, times and decimals as it keeps them.

use assay_model::civil::civil_from_days;
use rusqlite::types::ValueRef;
use rusqlite::{Error, Statement};

use crate::session::value::{Bound, Value};

const DAY_MICROS: i64 = 86_400_000_000;
const SECOND_MICROS: i64 = 1_000_000;
/// Whole numbers up to here are floating point numbers, too.
const WHOLE_MAX: u128 = 1 << 53;
/// Powers of ten up to here are floating point numbers, too.
const POWER_MAX: u32 = 22;

/// Binds a value to a place of a statement, from 1.
pub fn bind(statement: &mut Statement<'_>, place: usize, value: Bound<'_>) -> Result<(), Error> {
    match value {
        Bound::Null => statement.raw_bind_parameter(place, rusqlite::types::Null),
        Bound::Integer(number) => statement.raw_bind_parameter(place, number),
        Bound::Decimal(coefficient, scale) => {
            statement.raw_bind_parameter(place, nearest(coefficient.into(), scale.into()))
        }
        Bound::Text(text) => statement.raw_bind_parameter(place, text),
        Bound::Timestamp(micros) => {
            let mut text = Moment::default();
            statement.raw_bind_parameter(place, text.of(micros))
        }
    }
}

/// A value as a program reads it.
pub fn read(value: ValueRef<'_>) -> Value<'_> {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Exact(number.into(), 0),
        ValueRef::Real(number) => Value::Float(number),
        ValueRef::Text(text) => Value::Text(text),
        ValueRef::Blob(bytes) => Value::Bytes(bytes),
    }
}

/// The floating point number nearest to `coefficient * 10^-scale`.
pub fn nearest(coefficient: i128, scale: u32) -> f64 {
    if coefficient.unsigned_abs() <= WHOLE_MAX && scale <= POWER_MAX {
        // Both are exact, so their quotient is rounded once.
        return coefficient as f64 / 10_f64.powi(scale as i32);
    }
    // Its digits are read as any decimal number is; there is none that cannot be.
    format!("{coefficient}e-{scale}").parse().unwrap_or(f64::NAN)
}

/// A date or a point in time as ISO 8601 has it, as SQLite keeps both: they sort as text. It is written in
/// place, `YYYY-MM-DD` or `YYYY-MM-DD HH:MM:SS.ffffff`, for years from 0 to 9999.
#[derive(Default)]
pub struct Moment([u8; 26]);

impl Moment {
    /// A point in time, in microseconds since 1970-01-01.
    pub fn of(&mut self, micros: i64) -> &str {
        self.date(micros.div_euclid(DAY_MICROS) as i32);
        let behind = micros.rem_euclid(DAY_MICROS);
        let seconds = behind / SECOND_MICROS;
        self.0[10] = b' ';
        self.put(11, 2, seconds / 3600);
        self.0[13] = b':';
        self.put(14, 2, seconds / 60 % 60);
        self.0[16] = b':';
        self.put(17, 2, seconds % 60);
        self.0[19] = b'.';
        self.put(20, 6, behind % SECOND_MICROS);
        self.text(26)
    }

    /// A date, in days since 1970-01-01.
    pub fn date(&mut self, days: i32) -> &str {
        let (year, month, day) = civil_from_days(days.into());
        self.put(0, 4, year);
        self.0[4] = b'-';
        self.put(5, 2, month.into());
        self.0[7] = b'-';
        self.put(8, 2, day.into());
        self.text(10)
    }

    fn put(&mut self, place: usize, digits: usize, mut number: i64) {
        for digit in self.0[place..place + digits].iter_mut().rev() {
            *digit = b'0' + (number % 10).unsigned_abs() as u8;
            number /= 10;
        }
    }

    fn text(&self, length: usize) -> &str {
        std::str::from_utf8(&self.0[..length]).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn moments_are_written_as_iso_says() {
        let mut moment = Moment::default();
        assert_eq!(moment.date(0), "1970-01-01");
        assert_eq!(moment.date(11_016), "2000-02-29");
        assert_eq!(moment.date(-1), "1969-12-31");
        assert_eq!(moment.of(1), "1970-01-01 00:00:00.000001");
        assert_eq!(moment.of(-1), "1969-12-31 23:59:59.999999");
        assert_eq!(moment.of(951_868_799_123_456), "2000-02-29 23:59:59.123456");
    }

    #[test]
    fn numbers_of_many_digits_are_the_nearest_too() {
        let long = nearest(i128::from(u64::MAX), 3);
        assert_eq!(long.to_bits(), 18_446_744_073_709_551.615_f64.to_bits());
    }

    proptest! {
        #[test]
        fn the_nearest_number_is_the_one_that_is_read(coefficient in any::<i64>(), scale in 0..20_u32) {
            let read: f64 = format!("{coefficient}e-{scale}").parse().unwrap();
            prop_assert_eq!(nearest(coefficient.into(), scale).to_bits(), read.to_bits());
        }
    }
}
