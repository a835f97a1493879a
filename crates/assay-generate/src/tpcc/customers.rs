//! Customers, and the payment that each of them made.

use arrow_array::ArrayRef;
use assay_model::SplitMix;
use assay_model::tpcc::{A_LAST, C_LOAD_LAST, CUSTOMERS, last_name, nurand, uniform};

use super::draws::{Purpose, Tenth};
use super::{Addresses, MOMENT, MONEY, Place, RATE, SMALL_MONEY, same};
use crate::columns::{Columns, Kind, Texts, decimal, moments, whole};

/// Last names that come once, one after another, before others are drawn.
const NAMES_IN_TURN: i64 = 1_000;

pub(super) const CUSTOMER: Columns = &[
    ("c_id", Kind::Whole),
    ("c_d_id", Kind::Whole),
    ("c_w_id", Kind::Whole),
    ("c_first", Kind::Text),
    ("c_middle", Kind::Text),
    ("c_last", Kind::Text),
    ("c_street_1", Kind::Text),
    ("c_street_2", Kind::Text),
    ("c_city", Kind::Text),
    ("c_state", Kind::Text),
    ("c_zip", Kind::Text),
    ("c_phone", Kind::Text),
    ("c_since", Kind::Moment),
    ("c_credit", Kind::Text),
    ("c_credit_lim", Kind::Decimal(MONEY.0, MONEY.1)),
    ("c_discount", Kind::Decimal(RATE.0, RATE.1)),
    ("c_balance", Kind::Decimal(MONEY.0, MONEY.1)),
    ("c_ytd_payment", Kind::Decimal(MONEY.0, MONEY.1)),
    ("c_payment_cnt", Kind::Whole),
    ("c_delivery_cnt", Kind::Whole),
    ("c_data", Kind::Text),
];

pub(super) fn customer(place: Place) -> Vec<ArrayRef> {
    let mut random = place.sequence(Purpose::Customer);
    let rows = CUSTOMERS as usize;
    let [mut firsts, mut middles, mut lasts] = [16, 2, 16].map(|most| Texts::new(rows, most));
    let [mut phones, mut credits, mut data] = [16, 2, 500].map(|most| Texts::new(rows, most));
    let mut addresses = Addresses::new(rows);
    let mut discounts = Vec::with_capacity(rows);
    let (mut bad, mut name) = (Tenth::of(CUSTOMERS), String::new());
    for id in 1..=CUSTOMERS {
        last_name(name_number(&mut random, id), &mut name);
        firsts.alphanumeric(&mut random, (8, 16));
        middles.given("OE");
        lasts.given(&name);
        addresses.push(&mut random);
        phones.digits(&mut random, 16, "");
        credits.given(if bad.takes(&mut random) { "BC" } else { "GC" });
        discounts.push(uniform(&mut random, (0, 5_000)));
        data.alphanumeric(&mut random, (300, 500));
    }
    let [street_1, street_2, city, state, zip] = addresses.finish();
    vec![
        whole(1..=CUSTOMERS),
        whole(same(place.district(), CUSTOMERS)),
        whole(same(place.warehouse, CUSTOMERS)),
        firsts.finish(),
        middles.finish(),
        lasts.finish(),
        street_1,
        street_2,
        city,
        state,
        zip,
        phones.finish(),
        moments(same(MOMENT, CUSTOMERS)),
        credits.finish(),
        decimal(MONEY, same(5_000_000, CUSTOMERS)),
        decimal(RATE, discounts.into_iter()),
        decimal(MONEY, same(-1_000, CUSTOMERS)),
        decimal(MONEY, same(1_000, CUSTOMERS)),
        whole(same(1, CUSTOMERS)),
        whole(same(0, CUSTOMERS)),
        data.finish(),
    ]
}

/// The number of a customer's last name: the first thousand of a district have each of them.
fn name_number(random: &mut SplitMix, id: i64) -> i64 {
    if id <= NAMES_IN_TURN {
        id - 1
    } else {
        nurand(random, A_LAST, C_LOAD_LAST, (0, NAMES_IN_TURN - 1))
    }
}

pub(super) const HISTORY: Columns = &[
    ("h_c_id", Kind::Whole),
    ("h_c_d_id", Kind::Whole),
    ("h_c_w_id", Kind::Whole),
    ("h_d_id", Kind::Whole),
    ("h_w_id", Kind::Whole),
    ("h_date", Kind::Moment),
    ("h_amount", Kind::Decimal(SMALL_MONEY.0, SMALL_MONEY.1)),
    ("h_data", Kind::Text),
];

pub(super) fn history(place: Place) -> Vec<ArrayRef> {
    let mut random = place.sequence(Purpose::History);
    let mut data = Texts::new(CUSTOMERS as usize, 24);
    for _ in 0..CUSTOMERS {
        data.alphanumeric(&mut random, (12, 24));
    }
    let district = whole(same(place.district(), CUSTOMERS));
    let warehouse = whole(same(place.warehouse, CUSTOMERS));
    vec![
        whole(1..=CUSTOMERS),
        ArrayRef::clone(&district),
        ArrayRef::clone(&warehouse),
        district,
        warehouse,
        moments(same(MOMENT, CUSTOMERS)),
        decimal(SMALL_MONEY, same(1_000, CUSTOMERS)),
        data.finish(),
    ]
}
