//! Items, and what a warehouse is: itself, its districts, its stock.

use arrow_array::ArrayRef;
use assay_model::SplitMix;
use assay_model::tpcc::{CUSTOMERS, DISTRICTS, uniform};

use super::draws::{Purpose, Tenth, sequence};
use super::{Addresses, DIST_INFO, ITEMS_A_PART, MONEY, Place, RATE, same};
use crate::columns::{Columns, Kind, Texts, decimal, whole};

const PRICE: (u8, i8) = (5, 2);
pub(super) const ORIGINAL: &str = "ORIGINAL";

/// The columns `_data` of items and stock: a tenth of them are marked.
struct Marked {
    texts: Texts,
    tenth: Tenth,
}

impl Marked {
    fn new(rows: i64) -> Self {
        Self { texts: Texts::new(rows as usize, 50), tenth: Tenth::of(rows) }
    }

    fn push(&mut self, random: &mut SplitMix) {
        if self.tenth.takes(random) {
            self.texts.alphanumeric_with(random, (26, 50), ORIGINAL);
        } else {
            self.texts.alphanumeric(random, (26, 50));
        }
    }
}

pub(super) const ITEM: Columns = &[
    ("i_id", Kind::Whole),
    ("i_im_id", Kind::Whole),
    ("i_name", Kind::Text),
    ("i_price", Kind::Decimal(PRICE.0, PRICE.1)),
    ("i_data", Kind::Text),
];

pub(super) fn item(place: Place) -> Vec<ArrayRef> {
    let mut random = place.sequence(Purpose::Item);
    let rows = ITEMS_A_PART as usize;
    let (mut images, mut prices) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
    let mut names = Texts::new(rows, 24);
    let mut data = Marked::new(ITEMS_A_PART);
    for _ in 0..rows {
        images.push(uniform(&mut random, (1, 10_000)));
        names.alphanumeric(&mut random, (14, 24));
        prices.push(uniform(&mut random, (100, 10_000)));
        data.push(&mut random);
    }
    vec![
        whole(ids_of(place)),
        whole(images.into_iter()),
        names.finish(),
        decimal(PRICE, prices.into_iter()),
        data.texts.finish(),
    ]
}

/// The items of a tenth.
fn ids_of(place: Place) -> impl Iterator<Item = i64> {
    let before = place.part * ITEMS_A_PART;
    before + 1..before + ITEMS_A_PART + 1
}

pub(super) const WAREHOUSE: Columns = &[
    ("w_id", Kind::Whole),
    ("w_name", Kind::Text),
    ("w_street_1", Kind::Text),
    ("w_street_2", Kind::Text),
    ("w_city", Kind::Text),
    ("w_state", Kind::Text),
    ("w_zip", Kind::Text),
    ("w_tax", Kind::Decimal(RATE.0, RATE.1)),
    ("w_ytd", Kind::Decimal(MONEY.0, MONEY.1)),
];

pub(super) fn warehouse(place: Place) -> Vec<ArrayRef> {
    let rows = place.warehouses;
    let mut names = Texts::new(rows as usize, 10);
    let mut addresses = Addresses::new(rows as usize);
    let mut taxes = Vec::new();
    for id in 1..=rows {
        let mut random = sequence(Purpose::Warehouse, id, 0);
        names.alphanumeric(&mut random, (6, 10));
        addresses.push(&mut random);
        taxes.push(uniform(&mut random, (0, 2_000)));
    }
    let [street_1, street_2, city, state, zip] = addresses.finish();
    vec![
        whole(1..=rows),
        names.finish(),
        street_1,
        street_2,
        city,
        state,
        zip,
        decimal(RATE, taxes.into_iter()),
        decimal(MONEY, same(30_000_000, rows)),
    ]
}

pub(super) const DISTRICT: Columns = &[
    ("d_id", Kind::Whole),
    ("d_w_id", Kind::Whole),
    ("d_name", Kind::Text),
    ("d_street_1", Kind::Text),
    ("d_street_2", Kind::Text),
    ("d_city", Kind::Text),
    ("d_state", Kind::Text),
    ("d_zip", Kind::Text),
    ("d_tax", Kind::Decimal(RATE.0, RATE.1)),
    ("d_ytd", Kind::Decimal(MONEY.0, MONEY.1)),
    ("d_next_o_id", Kind::Whole),
];

pub(super) fn district(place: Place) -> Vec<ArrayRef> {
    let rows = place.warehouses * DISTRICTS;
    let of = |row: i64| (row / DISTRICTS + 1, row % DISTRICTS + 1);
    let mut names = Texts::new(rows as usize, 10);
    let mut addresses = Addresses::new(rows as usize);
    let mut taxes = Vec::new();
    for (warehouse, id) in (0..rows).map(of) {
        let mut random = sequence(Purpose::District, warehouse, id);
        names.alphanumeric(&mut random, (6, 10));
        addresses.push(&mut random);
        taxes.push(uniform(&mut random, (0, 2_000)));
    }
    let [street_1, street_2, city, state, zip] = addresses.finish();
    vec![
        whole((0..rows).map(|row| of(row).1)),
        whole((0..rows).map(|row| of(row).0)),
        names.finish(),
        street_1,
        street_2,
        city,
        state,
        zip,
        decimal(RATE, taxes.into_iter()),
        decimal(MONEY, same(3_000_000, rows)),
        whole(same(CUSTOMERS + 1, rows)),
    ]
}

pub(super) const STOCK: Columns = &[
    ("s_i_id", Kind::Whole),
    ("s_w_id", Kind::Whole),
    ("s_quantity", Kind::Whole),
    ("s_dist_01", Kind::Text),
    ("s_dist_02", Kind::Text),
    ("s_dist_03", Kind::Text),
    ("s_dist_04", Kind::Text),
    ("s_dist_05", Kind::Text),
    ("s_dist_06", Kind::Text),
    ("s_dist_07", Kind::Text),
    ("s_dist_08", Kind::Text),
    ("s_dist_09", Kind::Text),
    ("s_dist_10", Kind::Text),
    ("s_ytd", Kind::Whole),
    ("s_order_cnt", Kind::Whole),
    ("s_remote_cnt", Kind::Whole),
    ("s_data", Kind::Text),
];

pub(super) fn stock(place: Place) -> Vec<ArrayRef> {
    let mut random = place.sequence(Purpose::Stock);
    let rows = ITEMS_A_PART as usize;
    let mut quantities = Vec::with_capacity(rows);
    let mut infos: [Texts; DISTRICTS as usize] =
        std::array::from_fn(|_| Texts::new(rows, DIST_INFO as i64));
    let mut data = Marked::new(ITEMS_A_PART);
    for _ in 0..rows {
        quantities.push(uniform(&mut random, (10, 100)));
        for info in &mut infos {
            info.letters(&mut random, DIST_INFO);
        }
        data.push(&mut random);
    }
    let none = whole(same(0, ITEMS_A_PART));
    let mut arrays = vec![
        whole(ids_of(place)),
        whole(same(place.warehouse, ITEMS_A_PART)),
        whole(quantities.into_iter()),
    ];
    arrays.extend(infos.map(Texts::finish));
    arrays.extend([ArrayRef::clone(&none), ArrayRef::clone(&none), none, data.texts.finish()]);
    arrays
}
