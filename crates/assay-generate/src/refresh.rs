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

/// How many sets there can be: together they take out no more orders than are loaded.
#[must_use]
pub fn sets_max(scale: f64) -> u32 {
    let loaded = (ORDERS * scale) as u64;
    SETS_MAX.min(loaded / set_orders(scale)) as u32
}

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
    count: u32,
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
        let most = sets_max(scale);
        if !(1..=most).contains(&sets) {
            return Err(GenerateError::Sets(sets, scale, most));
        }
        let step = SET_ORDERS as i64;
        let integral = loaded % step == 0 && per_set.is_multiple_of(step as u64);
        let unit = if integral { step } else { 1 };
        if 2 * loaded / unit > i64::from(i32::MAX) {
            return Err(GenerateError::Scale(scale));
        }
        Ok(Self { scale, count: sets, loaded, per_set, unit })
    }

    const fn parts(&self) -> u32 {
        self.count * self.parts_per_set()
    }

    const fn parts_per_set(&self) -> u32 {
        self.per_set.div_ceil(PART_ORDERS) as u32
    }

    fn orders(&self) -> u64 {
        u64::from(self.count) * self.per_set
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

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Date32Type, Decimal128Type, Int32Type, Int64Type};
    use proptest::prelude::*;

    fn made(name: &str, scale: f64, sets: u32) -> Vec<RecordBatch> {
        let table = table(name, scale, sets).unwrap();
        (0..table.parts()).map(|part| table.make(part)).collect()
    }

    fn keys(batches: &[RecordBatch]) -> Vec<i64> {
        batches
            .iter()
            .flat_map(|batch| batch.column(2).as_primitive::<Int64Type>().values())
            .copied()
            .collect()
    }

    /// The first line of `orders.tbl.u1` at scale 1 as the specification's generator makes it.
    #[test]
    fn the_first_new_order_is_the_published_one() {
        let batch = &made("orders_new", 1.0, 1)[0];
        let number =
            |name: &str| batch.column_by_name(name).unwrap().as_primitive::<Int64Type>().value(0);
        assert_eq!((number("o_orderkey"), number("o_custkey")), (9, 12_658));
        let price = batch.column_by_name("o_totalprice").unwrap();
        assert_eq!(price.as_primitive::<Decimal128Type>().value(0), 12_987_268);
        let date = batch.column_by_name("o_orderdate").unwrap();
        assert_eq!(date.as_primitive::<Date32Type>().value(0), 10_413, "1998-07-06");
    }

    #[test]
    fn a_set_is_a_thousandth_and_at_least_one() {
        let orders =
            [(1.0, 1_500), (0.01, 15), (0.001, 2), (0.29, 435), (0.145, 218), (30.0, 45_000)];
        for (scale, expected) in orders {
            assert_eq!(set_orders(scale), expected, "{scale}");
        }
    }

    #[test]
    fn a_scale_that_is_cut_otherwise_has_the_same_orders() {
        // At 0.1 the generator makes an order at a time; parts of 50 make as many.
        let whole = Sets::new(0.1, 3).unwrap();
        assert_eq!(whole.unit, 1);
        let cut = OrdersNew(Sets { unit: 50, ..whole });
        let rows: Vec<RecordBatch> = (0..cut.parts()).map(|part| cut.make(part)).collect();
        assert_eq!(rows, made("orders_new", 0.1, 3));
        let cut = LineitemNew(Sets { unit: 50, ..whole });
        let rows: Vec<RecordBatch> = (0..cut.parts()).map(|part| cut.make(part)).collect();
        assert_eq!(rows, made("lineitem_new", 0.1, 3));
    }

    #[test]
    fn large_sets_have_parts_and_their_orders_go_on() {
        let batches = made("orders_new", 11.0, 2);
        assert_eq!(
            batches.iter().map(RecordBatch::num_rows).collect::<Vec<_>>(),
            [15_000, 1_500, 15_000, 1_500]
        );
        let orders = |batch: &RecordBatch| batch.column(1).as_primitive::<Int32Type>().clone();
        assert_eq!(orders(&batches[1]).value(0), 15_001);
        assert_eq!(orders(&batches[2]).value(0), 1);
    }

    #[test]
    fn a_scale_whose_orders_have_no_number_is_refused() {
        assert_eq!(
            table("orders_new", 2_000.000_1, 1).err(),
            Some(GenerateError::Scale(2_000.000_1))
        );
        assert!(table("orders_new", 100_000.0, 1).is_ok());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]
        #[test]
        fn keys_are_holes_or_loaded(thousandths in 1_u32..60, sets in 1_u32..5) {
            let scale = f64::from(thousandths) / 1_000.0;
            let (new, old) = (keys(&made("orders_new", scale, sets)), keys(&made("orders_old", scale, sets)));
            prop_assert!(new.iter().all(|key| (8..16).contains(&(key % 32))));
            prop_assert!(old.iter().all(|key| (0..8).contains(&(key % 32))));
            prop_assert!(new.is_sorted_by(|a, b| a < b) && old.is_sorted_by(|a, b| a < b));
            let lines = keys(&made("lineitem_new", scale, sets));
            let mut of_lines = lines.clone();
            of_lines.dedup();
            prop_assert_eq!(of_lines, new);
        }
    }
}
