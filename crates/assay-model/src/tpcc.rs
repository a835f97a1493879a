//! What the data and the transactions of TPC-C have in common (specification 5.11, clauses 1.2,
//! 2.1.6 and 4.3): sizes, non-uniform numbers, last names.

pub use crate::random::uniform;
use crate::random::{SplitMix, split_mix};

/// Items, whatever the number of warehouses.
pub const ITEMS: i64 = 100_000;
/// Districts of a warehouse.
pub const DISTRICTS: i64 = 10;
/// Customers of a district, and orders that it has at first.
pub const CUSTOMERS: i64 = 3_000;
/// The first order of a district that is not delivered at first.
pub const FIRST_NEW_ORDER: i64 = 2_101;
/// Order lines: fewest and most.
pub const LINES: (i64, i64) = (5, 15);
/// The constant C of last names while data are made (clause 2.1.6.1).
pub const C_LOAD_LAST: i64 = 123;

/// A of the non-uniform numbers of last names.
pub const A_LAST: i64 = 255;
/// A of the non-uniform numbers of customers.
pub const A_CUSTOMER: i64 = 1_023;
/// A of the non-uniform numbers of items.
pub const A_ITEM: i64 = 8_191;

const SYLLABLES: [&str; 10] =
    ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];

/// `NURand(a, low, high)` with constant `c` (clause 2.1.6).
pub fn nurand(random: &mut SplitMix, a: i64, c: i64, (low, high): (i64, i64)) -> i64 {
    let both = uniform(random, (0, a)) | uniform(random, (low, high));
    (both + c) % (high - low + 1) + low
}

/// The constant C of last names while transactions run: 65 to 119 away from that of the data, and
/// neither 96 nor 112 (clause 2.1.6.1).
pub fn c_run_last(seed: u64) -> i64 {
    let mut random = SplitMix::new(split_mix(seed ^ 0x7470_6363));
    loop {
        let c = uniform(&mut random, (0, A_LAST));
        let delta = (c - C_LOAD_LAST).abs();
        if (65..=119).contains(&delta) && delta != 96 && delta != 112 {
            return c;
        }
    }
}

/// Writes last name `number` of 0 to 999 in place of what `name` holds (clause 4.3.2.3).
pub fn last_name(number: i64, name: &mut String) {
    name.clear();
    for digit in [number / 100, number / 10, number] {
        name.push_str(SYLLABLES[digit.rem_euclid(10) as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_names_are_made_of_digits() {
        let mut name = String::new();
        last_name(371, &mut name);
        assert_eq!(name, "PRICALLYOUGHT");
        last_name(0, &mut name);
        assert_eq!(name, "BARBARBAR");
    }

    #[test]
    fn non_uniform_numbers_keep_within_their_range_and_favour_some() {
        let mut random = SplitMix::new(7);
        let mut counts = vec![0_u32; 3_001];
        for _ in 0..300_000 {
            counts[nurand(&mut random, A_CUSTOMER, 259, (1, CUSTOMERS)) as usize] += 1;
        }
        assert_eq!(counts[0], 0);
        let most = counts.iter().max().unwrap();
        assert!(*most > 300, "the most frequent one came {most} times of 100 on average");
    }

    #[test]
    fn the_constant_of_the_run_is_far_enough_from_that_of_the_data() {
        for seed in 0..1_000 {
            let delta = (c_run_last(seed) - C_LOAD_LAST).abs();
            assert!((65..=119).contains(&delta) && delta != 96 && delta != 112, "{delta}");
        }
    }
}
