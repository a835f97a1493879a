//! Days, and how they are written.

/// A day, counted from 1970-01-01.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(pub i32);

/// 2008-06-20, the day on which the world's data were made.
pub const TODAY: Day = Day::of(2008, 6, 20);

impl Day {
    /// The day of a date of the Gregorian calendar, from the year 1970 on.
    pub const fn of(year: i32, month: i32, day: i32) -> Self {
        // Years begin in March, so that a leap day is the last of its year.
        let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
        let before = year * 365 + year / 4 - year / 100 + year / 400;
        Self(before + (153 * month + 2) / 5 + day - 1 - 719_468)
    }

    /// So many days later, or earlier.
    #[must_use]
    pub const fn plus(self, days: i32) -> Self {
        Self(self.0 + days)
    }

    /// `2008-06-20`.
    pub fn text(self) -> [u8; 10] {
        let since = (self.0 + 719_468).unsigned_abs();
        let (era, day_of_era) = (since / 146_097, since % 146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month + 2) / 5 + 1;
        let (year, month) =
            (era * 400 + year_of_era + u32::from(month >= 10), (month + 2) % 12 + 1);
        let digit = |number: u32| b'0' + (number % 10) as u8;
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
