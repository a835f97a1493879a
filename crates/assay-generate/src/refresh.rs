//! TPC-H's refresh sets, as the reference generator makes them: what a set puts in are the orders
//! that follow the last one of the loaded data, with keys that the data left free; what it takes
//! out are the first orders of the data, set after set.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use tpchgen::generators::{LineItem, LineItemGenerator, Order, OrderGenerator};

use crate::tpch::{lineitem, orders};
use crate::{GenerateError, Parts};

/// Names of the tables.
pub const TABLES: &[&str] = &["orders_new", "lineitem_new", "orders_old"];

/// Orders of the loaded data and of a set at scale 1.
const ORDERS: f64 = 1_500_000.0;
const SET_ORDERS: f64 = 1_500.0;
/// Orders of a part, about: a multiple of the orders that integral scales go by.
const PART_ORDERS: u64 = 15_000;
/// Lines of an order on average.
const LINES_PER_ORDER: u64 = 4;
/// The reference generator leaves the keys of loaded orders with its thousandth set.
const SETS_MAX: u64 = 999;
/// Of 32 consecutive keys the first 8 are of loaded orders, the next 8 of refresh sets.
const KEY_BLOCK: i64 = 8;

/// The table of this name with so many sets.
pub fn table(name: &str, scale: f64, sets: u32) -> Result<Box<dyn Parts>, GenerateError> {
    let sets = Sets::new(scale, sets)?;
    Ok(match name {
        "orders_new" => Box::new(OrdersNew(sets)),
        "lineitem_new" => Box::new(LineitemNew(sets)),
        _ => Box::new(OrdersOld(sets)),
    })
}

/// Sizes of the sets, in orders.
#[derive(Clone, Copy, Debug)]
struct Sets {
    scale: f64,
    sets: u32,
    loaded: i64,
    per_set: u64,
    /// How many orders the generator makes at once, from a multiple of that many.
    unit: i64,
}

/// Orders of a set that are made together: their places among all orders of all sets, from 0.
struct Slice {
    set_number: i32,
    first_in_set: i32,
    places: std::ops::Range<i64>,
}

impl Sets {
    fn new(scale: f64, sets: u32) -> Result<Self, GenerateError> {
        let loaded = (ORDERS * scale) as i64;
        let per_set = set_orders(scale);
        let most = SETS_MAX.min(loaded as u64 / per_set) as u32;
        if !(1..=most).contains(&sets) {
            return Err(GenerateError::Sets(sets, scale, most));
        }
        let step = SET_ORDERS as i64;
        let integral = loaded % step == 0 && per_set.is_multiple_of(step as u64);
        let unit = if integral { step } else { 1 };
        if 2 * loaded / unit > i64::from(i32::MAX) {
            return Err(GenerateError::Scale(scale));
        }
        Ok(Self { scale, sets, loaded, per_set, unit })
    }

    const fn parts(&self) -> u32 {
        self.sets * self.parts_per_set()
    }

    const fn parts_per_set(&self) -> u32 {
        self.per_set.div_ceil(PART_ORDERS) as u32
    }

    fn orders(&self) -> u64 {
        u64::from(self.sets) * self.per_set
    }

    fn slice(&self, part: u32) -> Slice {
        let (set, slice) = (part / self.parts_per_set(), part % self.parts_per_set());
        let first_in_set = u64::from(slice) * PART_ORDERS;
        let end_in_set = self.per_set.min(first_in_set + PART_ORDERS);
        let before = u64::from(set) * self.per_set;
        Slice {
            set_number: set as i32 + 1,
            first_in_set: first_in_set as i32 + 1,
            places: (before + first_in_set) as i64..(before + end_in_set) as i64,
        }
    }

    /// The generator's name, from 1, for each of its parts that lie in the slice, and how many
    /// parts it is to cut the loaded data into.
    fn beyond(&self, slice: &Slice) -> (impl Iterator<Item = i32> + use<>, i32) {
        let first = (self.loaded + slice.places.start) / self.unit;
        let end = (self.loaded + slice.places.end) / self.unit;
        ((first..end).map(|part| part as i32 + 1), (self.loaded / self.unit) as i32)
    }
}

/// Orders of a set at a scale: a thousandth of the loaded ones, at least one. A scale such as 0.29
/// has no exact binary form, so what falls short of a half by less than it can mean is one.
fn set_orders(scale: f64) -> u64 {
    SET_ORDERS.mul_add(scale, 1e-9).round().max(1.0) as u64
}

/// The key of the order that a set puts in at a place.
fn key_new(place: i64) -> i64 {
    key_old(place) + KEY_BLOCK
}

/// The key of the loaded order at a place.
fn key_old(place: i64) -> i64 {
    OrderGenerator::make_order_key(place + 1)
}

/// A table's schema behind the two columns that say which order of which set a row is of.
fn numbered_schema(columns: &Schema) -> SchemaRef {
    let numbers = ["set_number", "order_number"];
    let numbers = numbers.map(|name| Arc::new(Field::new(name, DataType::Int32, false)));
    Arc::new(Schema::new(numbers.iter().chain(columns.fields()).cloned().collect::<Vec<_>>()))
}

/// A batch behind those columns: each row's order, counted from 0 in the slice.
fn numbered(slice: &Slice, orders: &[i32], batch: &RecordBatch) -> RecordBatch {
    let sets = Int32Array::from_value(slice.set_number, orders.len());
    let orders: Int32Array = orders.iter().map(|order| slice.first_in_set + order).collect();
    let numbers: [ArrayRef; 2] = [Arc::new(sets), Arc::new(orders)];
    let columns = numbers.iter().chain(batch.columns()).cloned().collect();
    RecordBatch::try_new(numbered_schema(&batch.schema()), columns)
        .expect("columns and schema come from the same lists")
}

struct OrdersNew(Sets);

impl Parts for OrdersNew {
    fn schema(&self) -> SchemaRef {
        numbered_schema(&orders::schema())
    }

    fn parts(&self) -> u32 {
        self.0.parts()
    }

    fn rows_expected(&self) -> u64 {
        self.0.orders()
    }

    fn make(&self, part: u32) -> RecordBatch {
        let (sets, slice) = (self.0, self.0.slice(part));
        let (parts, of) = sets.beyond(&slice);
        let rows = parts.flat_map(|part| OrderGenerator::new(sets.scale, part, of).iter());
        let rows = rows
            .zip(slice.places.clone())
            .map(|(row, place)| Order { o_orderkey: key_new(place), ..row });
        let batch = orders::batch(rows);
        numbered(&slice, &(0..batch.num_rows() as i32).collect::<Vec<_>>(), &batch)
    }
}

struct LineitemNew(Sets);

impl Parts for LineitemNew {
    fn schema(&self) -> SchemaRef {
        numbered_schema(&lineitem::schema())
    }

    fn parts(&self) -> u32 {
        self.0.parts()
    }

    fn rows_expected(&self) -> u64 {
        self.0.orders() * LINES_PER_ORDER
    }

    fn make(&self, part: u32) -> RecordBatch {
        let (sets, slice) = (self.0, self.0.slice(part));
        let (parts, of) = sets.beyond(&slice);
        let rows = parts.flat_map(|part| LineItemGenerator::new(sets.scale, part, of).iter());
        let mut order_of_row = Vec::new();
        let mut order = -1;
        let batch = lineitem::batch(rows.map(|row| {
            order += i32::from(row.l_linenumber == 1);
            order_of_row.push(order);
            LineItem { l_orderkey: key_new(slice.places.start + i64::from(order)), ..row }
        }));
        numbered(&slice, &order_of_row, &batch)
    }
}

struct OrdersOld(Sets);

impl Parts for OrdersOld {
    fn schema(&self) -> SchemaRef {
        numbered_schema(&Schema::new(vec![Field::new("o_orderkey", DataType::Int64, false)]))
    }

    fn parts(&self) -> u32 {
        self.0.parts()
    }

    fn rows_expected(&self) -> u64 {
        self.0.orders()
    }

    fn make(&self, part: u32) -> RecordBatch {
        let slice = self.0.slice(part);
        let keys: ArrayRef = Arc::new(slice.places.clone().map(key_old).collect::<Int64Array>());
        let numbers: Vec<i32> = (0..keys.len() as i32).collect();
        let schema = Schema::new(vec![Field::new("o_orderkey", DataType::Int64, false)]);
        let batch = RecordBatch::try_new(Arc::new(schema), vec![keys])
            .expect("one column of the schema's type");
        numbered(&slice, &numbers, &batch)
    }
}
