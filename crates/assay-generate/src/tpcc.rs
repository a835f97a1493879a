//! TPC-C's initial population (specification 5.11, clause 4.3.3) as Arrow batches: identifiers and
//! counts as 32-bit integers, money as decimals, one fixed moment wherever the specification asks
//! for the time of loading. A part is a district, or a tenth of a warehouse's stock or of the items,
//! and has random numbers of its own.

mod customers;
mod draws;
mod orders;
mod places;
mod texts;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::SchemaRef;
use assay_model::SplitMix;
use assay_model::tpcc::{CUSTOMERS, DISTRICTS, FIRST_NEW_ORDER, ITEMS, LINES};

use crate::columns::{Columns, Texts, batch, schema};
use crate::{GenerateError, Parts};
use draws::{Purpose, sequence};

/// 2026-01-01 00:00:00, in microseconds since 1970: when customers came, orders were entered and
/// payments made.
pub const MOMENT: i64 = 1_767_225_600_000_000;
/// The largest number of warehouses.
pub const WAREHOUSES_MAX: u32 = 100_000;

/// Items of a part, and rows of stock.
const ITEMS_A_PART: i64 = 10_000;
const MONEY: (u8, i8) = (12, 2);
const SMALL_MONEY: (u8, i8) = (6, 2);
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
        "item" => (places::ITEM, Size::Tenths { rows: ITEMS }, places::item),
        "warehouse" => {
            (places::WAREHOUSE, Size::OnePart { rows_a_warehouse: 1 }, places::warehouse)
        }
        "district" => {
            (places::DISTRICT, Size::OnePart { rows_a_warehouse: DISTRICTS }, places::district)
        }
        "customer" => (customers::CUSTOMER, of_district(CUSTOMERS), customers::customer),
        "history" => (customers::HISTORY, of_district(CUSTOMERS), customers::history),
        "stock" => {
            (places::STOCK, Size::TenthsOfWarehouses { rows_a_warehouse: ITEMS }, places::stock)
        }
        "orders" => (orders::ORDERS, of_district(CUSTOMERS), orders::orders),
        "new_order" => {
            (orders::NEW_ORDER, of_district(CUSTOMERS - FIRST_NEW_ORDER + 1), orders::new_order)
        }
        "order_line" => (
            orders::ORDER_LINE,
            of_district(CUSTOMERS * i64::midpoint(LINES.0, LINES.1)),
            orders::order_line,
        ),
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

#[cfg(test)]
mod tests;
