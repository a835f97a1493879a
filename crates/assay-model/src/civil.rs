//! Dates of the Gregorian calendar as days since 1970-01-01, and back (Hinnant's algorithm, public
//! domain). Years begin in March here, so that a leap day is the last day of its year.

/// From 0000-03-01, at which the calendar's periods begin, to 1970-01-01.
const DAYS_TO_EPOCH: i64 = 719_468;
/// Days of 400 years, after which the calendar repeats.
const ERA_DAYS: i64 = 146_097;

/// Days since 1970-01-01 of a date.
pub const fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * ERA_DAYS + day_of_era - DAYS_TO_EPOCH
}

/// Year, month and day of a number of days since 1970-01-01.
pub const fn civil_from_days(days: i64) -> (i64, u8, u8) {
    let shifted = days + DAYS_TO_EPOCH;
    let (era, day_of_era) = (shifted.div_euclid(ERA_DAYS), shifted.rem_euclid(ERA_DAYS));
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = (shifted_month + 2) % 12 + 1;
    (year_of_era + era * 400 + (month <= 2) as i64, month as u8, day as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (days, date) in [
            (0, (1970, 1, 1)),
            (-1, (1969, 12, 31)),
            (11_016, (2000, 2, 29)),
            (-719_468, (0, 3, 1)),
            (2_932_896, (9999, 12, 31)),
        ] {
            assert_eq!(civil_from_days(days), date);
        }
    }

    proptest! {
        #[test]
        fn days_come_back(days in -5_000_000_i64..5_000_000) {
            let (year, month, day) = civil_from_days(days);
            prop_assert_eq!(days_from_civil(year, month.into(), day.into()), days);
        }
    }
}
