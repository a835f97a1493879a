//! TPC-C's initial population (specification 5.11, clause 4.3.3) as Arrow batches: identifiers and
//! counts as 32-bit integers, money as decimals, one fixed moment wherever the specification asks
//! for the time of loading. A part is a district, or a tenth of a warehouse's stock or of the items,
//! and has random numbers of its own.

mod columns;
mod draws;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::SchemaRef;
use assay_model::SplitMix;
use assay_model::tpcc::{
    A_LAST, C_LOAD_LAST, CUSTOMERS, DISTRICTS, FIRST_NEW_ORDER, ITEMS, LINES, last_name, nurand,
    uniform,
};

use crate::{GenerateError, Parts};
use columns::{
    Columns, Kind, Texts, batch, decimal, moments, moments_or_null, schema, whole, whole_or_null,
};
use draws::{Purpose, Tenth, permutation, sequence};

/// 2026-01-01 00:00:00, in microseconds since 1970: when customers came, orders were entered and
/// payments made.
pub const MOMENT: i64 = 1_767_225_600_000_000;
/// The largest number of warehouses.
pub const WAREHOUSES_MAX: u32 = 100_000;

/// Items of a part, and rows of stock.
const ITEMS_A_PART: i64 = 10_000;
/// Last names that come once, one after another, before others are drawn.
const NAMES_IN_TURN: i64 = 1_000;
const ORIGINAL: &str = "ORIGINAL";
const MONEY: (u8, i8) = (12, 2);
const SMALL_MONEY: (u8, i8) = (6, 2);
const PRICE: (u8, i8) = (5, 2);
const RATE: (u8, i8) = (4, 4);
/// Letters of the text that a stock has for each district.
const DIST_INFO: usize = 24;

/// Names of the tables.
pub const TABLES: [&str; 9] = [
    "item",
    "warehouse",
    "district",
    "customer",
    "history",
    "stock",
    "orders",
    "new_order",
    "order_line",
];

/// What a part is of.
#[derive(Clone, Copy)]
struct Place {
    /// All of them.
    warehouses: i64,
    /// The part's warehouse, from 1; that of all items is 1.
    warehouse: i64,
    /// The part of the warehouse, from 0: a district, or a tenth.
    part: i64,
}

impl Place {
    const fn district(self) -> i64 {
        self.part + 1
    }

    const fn sequence(self, purpose: Purpose) -> SplitMix {
        sequence(purpose, self.warehouse, self.part)
    }
}

/// How many parts a table has, and how many rows.
#[derive(Clone, Copy)]
enum Size {
    /// One part, whatever the number of warehouses.
    OnePart { rows_a_warehouse: i64 },
    /// Ten parts.
    Tenths { rows: i64 },
    /// Ten parts a warehouse.
    TenthsOfWarehouses { rows_a_warehouse: i64 },
}

#[derive(Clone, Copy)]
struct Table {
    warehouses: u32,
    columns: Columns,
    size: Size,
    make: fn(Place) -> Vec<ArrayRef>,
}

/// The table of this name for so many warehouses.
pub fn table(name: &str, scale: f64) -> Result<Box<dyn Parts>, GenerateError> {
    if scale.fract() != 0.0 || !(1.0..=f64::from(WAREHOUSES_MAX)).contains(&scale) {
        return Err(GenerateError::Warehouses(scale, WAREHOUSES_MAX));
    }
    let of_district = |rows: i64| Size::TenthsOfWarehouses { rows_a_warehouse: rows * DISTRICTS };
    let (columns, size, make): (Columns, Size, fn(Place) -> Vec<ArrayRef>) = match name {
        "item" => (ITEM, Size::Tenths { rows: ITEMS }, item),
        "warehouse" => (WAREHOUSE, Size::OnePart { rows_a_warehouse: 1 }, warehouse),
        "district" => (DISTRICT, Size::OnePart { rows_a_warehouse: DISTRICTS }, district),
        "customer" => (CUSTOMER, of_district(CUSTOMERS), customer),
        "history" => (HISTORY, of_district(CUSTOMERS), history),
        "stock" => (STOCK, Size::TenthsOfWarehouses { rows_a_warehouse: ITEMS }, stock),
        "orders" => (ORDERS, of_district(CUSTOMERS), orders),
        "new_order" => (NEW_ORDER, of_district(CUSTOMERS - FIRST_NEW_ORDER + 1), new_order),
        "order_line" => {
            (ORDER_LINE, of_district(CUSTOMERS * i64::midpoint(LINES.0, LINES.1)), order_line)
        }
        _ => return Err(GenerateError::Table("tpcc", name.into(), TABLES.join(", "))),
    };
    Ok(Box::new(Table { warehouses: scale as u32, columns, size, make }))
}

impl Parts for Table {
    fn schema(&self) -> SchemaRef {
        schema(self.columns)
    }

    fn parts(&self) -> u32 {
        match self.size {
            Size::OnePart { .. } => 1,
            Size::Tenths { .. } => 10,
            Size::TenthsOfWarehouses { .. } => 10 * self.warehouses,
        }
    }

    fn rows_expected(&self) -> u64 {
        let rows = match self.size {
            Size::Tenths { rows } => rows,
            Size::OnePart { rows_a_warehouse } | Size::TenthsOfWarehouses { rows_a_warehouse } => {
                rows_a_warehouse * i64::from(self.warehouses)
            }
        };
        rows.unsigned_abs()
    }

    fn make(&self, part: u32) -> RecordBatch {
        let place = Place {
            warehouses: i64::from(self.warehouses),
            warehouse: i64::from(part / 10) + 1,
            part: i64::from(part % 10),
        };
        batch(self.columns, (self.make)(place))
    }
}

/// The same value in each of so many rows.
fn same<T: Copy>(value: T, rows: i64) -> impl Iterator<Item = T> {
    (0..rows).map(move |_| value)
}

/// The columns of an address, in order.
struct Addresses {
    street_1: Texts,
    street_2: Texts,
    city: Texts,
    state: Texts,
    zip: Texts,
}

impl Addresses {
    fn new(rows: usize) -> Self {
        Self {
            street_1: Texts::new(rows, 20),
            street_2: Texts::new(rows, 20),
            city: Texts::new(rows, 20),
            state: Texts::new(rows, 2),
            zip: Texts::new(rows, 9),
        }
    }

    fn push(&mut self, random: &mut SplitMix) {
        self.street_1.alphanumeric(random, (10, 20));
        self.street_2.alphanumeric(random, (10, 20));
        self.city.alphanumeric(random, (10, 20));
        self.state.letters(random, 2);
        self.zip.digits(random, 4, "11111");
    }

    fn finish(self) -> [ArrayRef; 5] {
        [self.street_1, self.street_2, self.city, self.state, self.zip].map(Texts::finish)
    }
}

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

const ITEM: Columns = &[
    ("i_id", Kind::Whole),
    ("i_im_id", Kind::Whole),
    ("i_name", Kind::Text),
    ("i_price", Kind::Decimal(PRICE.0, PRICE.1)),
    ("i_data", Kind::Text),
];

fn item(place: Place) -> Vec<ArrayRef> {
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

const WAREHOUSE: Columns = &[
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

fn warehouse(place: Place) -> Vec<ArrayRef> {
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

const DISTRICT: Columns = &[
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

fn district(place: Place) -> Vec<ArrayRef> {
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

const CUSTOMER: Columns = &[
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

fn customer(place: Place) -> Vec<ArrayRef> {
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

const HISTORY: Columns = &[
    ("h_c_id", Kind::Whole),
    ("h_c_d_id", Kind::Whole),
    ("h_c_w_id", Kind::Whole),
    ("h_d_id", Kind::Whole),
    ("h_w_id", Kind::Whole),
    ("h_date", Kind::Moment),
    ("h_amount", Kind::Decimal(SMALL_MONEY.0, SMALL_MONEY.1)),
    ("h_data", Kind::Text),
];

fn history(place: Place) -> Vec<ArrayRef> {
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

const STOCK: Columns = &[
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

fn stock(place: Place) -> Vec<ArrayRef> {
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

const ORDERS: Columns = &[
    ("o_id", Kind::Whole),
    ("o_d_id", Kind::Whole),
    ("o_w_id", Kind::Whole),
    ("o_c_id", Kind::Whole),
    ("o_entry_d", Kind::Moment),
    ("o_carrier_id", Kind::WholeOrNull),
    ("o_ol_cnt", Kind::Whole),
    ("o_all_local", Kind::Whole),
];

fn orders(place: Place) -> Vec<ArrayRef> {
    let mut random = place.sequence(Purpose::Order);
    let customers = permutation(&mut random, CUSTOMERS);
    let carriers =
        (1..=CUSTOMERS).map(|id| (id < FIRST_NEW_ORDER).then(|| uniform(&mut random, (1, 10))));
    vec![
        whole(1..=CUSTOMERS),
        whole(same(place.district(), CUSTOMERS)),
        whole(same(place.warehouse, CUSTOMERS)),
        whole(customers.into_iter()),
        moments(same(MOMENT, CUSTOMERS)),
        whole_or_null(carriers),
        whole(line_counts(place)),
        whole(same(1, CUSTOMERS)),
    ]
}

/// How many lines each order of a district has: orders and lines are made apart.
fn line_counts(place: Place) -> impl Iterator<Item = i64> {
    let mut random = place.sequence(Purpose::LineCounts);
    (0..CUSTOMERS).map(move |_| uniform(&mut random, LINES))
}

const NEW_ORDER: Columns =
    &[("no_o_id", Kind::Whole), ("no_d_id", Kind::Whole), ("no_w_id", Kind::Whole)];

fn new_order(place: Place) -> Vec<ArrayRef> {
    let rows = CUSTOMERS - FIRST_NEW_ORDER + 1;
    vec![
        whole(FIRST_NEW_ORDER..=CUSTOMERS),
        whole(same(place.district(), rows)),
        whole(same(place.warehouse, rows)),
    ]
}

const ORDER_LINE: Columns = &[
    ("ol_o_id", Kind::Whole),
    ("ol_d_id", Kind::Whole),
    ("ol_w_id", Kind::Whole),
    ("ol_number", Kind::Whole),
    ("ol_i_id", Kind::Whole),
    ("ol_supply_w_id", Kind::Whole),
    ("ol_delivery_d", Kind::MomentOrNull),
    ("ol_quantity", Kind::Whole),
    ("ol_amount", Kind::Decimal(SMALL_MONEY.0, SMALL_MONEY.1)),
    ("ol_dist_info", Kind::Text),
];

fn order_line(place: Place) -> Vec<ArrayRef> {
    let mut random = place.sequence(Purpose::OrderLine);
    let lines_max = (CUSTOMERS * LINES.1) as usize;
    let [mut orders, mut numbers, mut items, mut amounts] =
        std::array::from_fn(|_| Vec::with_capacity(lines_max));
    let mut infos = Texts::new(lines_max, DIST_INFO as i64);
    for (order, lines) in (1..).zip(line_counts(place)) {
        for number in 1..=lines {
            orders.push(order);
            numbers.push(number);
            items.push(uniform(&mut random, (1, ITEMS)));
            let is_new = order >= FIRST_NEW_ORDER;
            amounts.push(if is_new { uniform(&mut random, (1, 999_999)) } else { 0 });
            infos.letters(&mut random, DIST_INFO);
        }
    }
    let rows = orders.len() as i64;
    let warehouse = whole(same(place.warehouse, rows));
    let delivered = orders.iter().map(|order| (*order < FIRST_NEW_ORDER).then_some(MOMENT));
    let delivered = moments_or_null(delivered);
    vec![
        whole(orders.into_iter()),
        whole(same(place.district(), rows)),
        ArrayRef::clone(&warehouse),
        whole(numbers.into_iter()),
        whole(items.into_iter()),
        warehouse,
        delivered,
        whole(same(5, rows)),
        decimal(SMALL_MONEY, amounts.into_iter()),
        infos.finish(),
    ]
}

#[cfg(test)]
mod tests;
