//! Days, and how they are written.

use crate::civil::{civil_from_days, days_from_civil};

/// A day, counted from 1970-01-01.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(pub i32);

/// 2008-06-20, the day on which the world's data were made.
pub const TODAY: Day = Day::of(2008, 6, 20);

impl Day {
    /// The day of a date of the Gregorian calendar.
    pub const fn of(year: i32, month: i32, day: i32) -> Self {
        Self(days_from_civil(year as i64, month as i64, day as i64) as i32)
    }

    /// So many days later, or earlier.
    #[must_use]
    pub const fn plus(self, days: i32) -> Self {
        Self(self.0 + days)
    }

    /// `2008-06-20`.
    pub fn text(self) -> [u8; 10] {
        let (year, month, day) = civil_from_days(self.0.into());
        let digit = |number: i64| b'0' + (number % 10) as u8;
        let (month, day) = (month.into(), day.into());
        [
            digit(year / 1000),
            digit(year / 100),
            digit(year / 10),
            digit(year),
            b'-',
            digit(month / 10),
            digit(month),
            b'-',
            digit(day / 10),
            digit(day),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        assert_eq!((Day::of(1970, 1, 1), TODAY), (Day(0), Day(14_050)));
        for (day, text) in [
            (TODAY, "2008-06-20"),
            (Day::of(2000, 2, 29), "2000-02-29"),
            (Day::of(2000, 2, 29).plus(1), "2000-03-01"),
            (Day::of(2007, 12, 31).plus(1), "2008-01-01"),
            (Day::of(1970, 1, 1), "1970-01-01"),
        ] {
            assert_eq!(day.text(), text.as_bytes());
        }
    }

    #[test]
    fn every_day_has_its_text() {
        let mut day = Day::of(1999, 12, 31);
        for (year, days) in [(2000, 366), (2001, 365), (2100, 365)] {
            day = Day::of(year, 1, 1);
            assert_eq!(Day::of(year + 1, 1, 1), day.plus(days));
        }
        assert_eq!(day.plus(364).text(), *b"2100-12-31");
    }
}
