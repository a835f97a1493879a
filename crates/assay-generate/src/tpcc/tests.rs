//! The population against the words of clause 4.3.3, column by column.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Int32Type, TimestampMicrosecondType};
use arrow_array::{Array, RecordBatch};

use super::places::ORIGINAL;
use super::*;
use crate::{TableStream, parallel::Meter};

fn batches(name: &str, warehouses: f64) -> Vec<RecordBatch> {
    let table = table(name, warehouses).unwrap();
    (0..table.parts()).map(|part| table.make(part)).collect()
}

fn whole_numbers(batch: &RecordBatch, column: &str) -> Vec<i32> {
    batch[column].as_primitive::<Int32Type>().values().to_vec()
}

fn coefficients(batch: &RecordBatch, column: &str) -> Vec<i128> {
    batch[column].as_primitive::<Decimal128Type>().values().to_vec()
}

fn texts<'a>(batch: &'a RecordBatch, column: &str) -> Vec<&'a str> {
    batch[column].as_string::<i32>().iter().flatten().collect()
}

/// That lengths lie within bounds, come near both, and only letters and digits are in texts.
fn assert_alphanumeric(batch: &RecordBatch, column: &str, (least, most): (usize, usize)) {
    let values = texts(batch, column);
    let lengths: BTreeSet<usize> = values.iter().map(|text| text.len()).collect();
    assert!(
        lengths.first() >= Some(&least) && lengths.last() <= Some(&most),
        "{column} {lengths:?}"
    );
    if values.len() >= 1_000 {
        let near = (most - least) / 10;
        assert!(lengths.first() <= Some(&(least + near)), "{column} {lengths:?}");
        assert!(lengths.last() >= Some(&(most - near)), "{column} {lengths:?}");
    }
    assert!(values.iter().all(|text| text.bytes().all(|byte| byte.is_ascii_alphanumeric())));
}

fn assert_between(values: &[i128], (low, high): (i128, i128)) {
    assert!(values.iter().all(|value| (low..=high).contains(value)));
    let mean = values.iter().sum::<i128>() as f64 / values.len() as f64;
    let (middle, span) = ((low + high) as f64 / 2.0, (high - low) as f64);
    // Five standard errors of a uniform distribution's mean.
    let tolerance = 5.0 * span / (12.0 * values.len() as f64).sqrt();
    assert!((mean - middle).abs() < tolerance, "mean {mean} of {low} to {high}");
}

fn widened(values: &[i32]) -> Vec<i128> {
    values.iter().copied().map(i128::from).collect()
}

#[test]
fn tables_have_the_specified_rows() {
    let expected = [100_000, 2, 20, 60_000, 60_000, 200_000, 60_000, 18_000];
    for (name, rows) in TABLES.iter().zip(expected) {
        assert_eq!(table(name, 2.0).unwrap().rows_expected(), rows, "{name}");
        let made: usize = batches(name, 2.0).iter().map(RecordBatch::num_rows).sum();
        assert_eq!(made as u64, rows, "{name}");
    }
    let lines = batches("order_line", 2.0);
    let made: usize = lines.iter().map(RecordBatch::num_rows).sum();
    assert!((595_000..605_000).contains(&made), "{made} lines, 600,000 on average");
}

#[test]
fn warehouses_are_whole() {
    let refusal = |scale| table("item", scale).err().map(|error| error.to_string());
    let expected = "0.5 warehouses: TPC-C is scaled by whole warehouses, from 1 to 100000";
    assert_eq!(refusal(0.5).as_deref(), Some(expected));
    for refused in [0.0, -1.0, 1.5, 100_001.0, f64::NAN, f64::INFINITY] {
        assert!(refusal(refused).is_some(), "{refused}");
    }
    assert_eq!(refusal(1.0), None);
    let unknown = table("items", 1.0).err().unwrap().to_string();
    assert!(unknown.contains("generator tpcc has no table \"items\"; known: item, "), "{unknown}");
}

#[test]
fn the_same_bytes_however_many_threads() {
    let drained = |threads| {
        let meter: Arc<Meter> = Arc::default();
        let table = table("order_line", 1.0).unwrap();
        assert!(TableStream::start(table, threads, Arc::clone(&meter)).all(|batch| batch.is_ok()));
        (meter.rows(), meter.checksum())
    };
    assert_eq!(drained(1), drained(5));
}

#[test]
fn a_warehouse_has_the_same_rows_among_others() {
    let drawn = [
        ("customer", "c_data"),
        ("stock", "s_data"),
        ("orders", "o_c_id"),
        ("order_line", "ol_i_id"),
        ("history", "h_data"),
    ];
    for (name, column) in drawn {
        let (one, three) = (table(name, 1.0).unwrap(), table(name, 3.0).unwrap());
        assert_eq!(one.make(9), three.make(9), "{name}");
        assert_ne!(&three.make(9)[column], &three.make(19)[column], "{name} of two warehouses");
        assert_ne!(&three.make(9)[column], &three.make(8)[column], "{name} of two parts");
    }
}

#[test]
fn a_tenth_of_items_and_stock_is_marked() {
    for (name, column) in [("item", "i_data"), ("stock", "s_data")] {
        let parts = batches(name, 1.0);
        let marked: usize = parts
            .iter()
            .map(|batch| texts(batch, column).iter().filter(|text| text.contains(ORIGINAL)).count())
            .sum();
        assert_eq!(marked, 10_000, "{name}");
        let places: BTreeSet<usize> =
            texts(&parts[0], column).iter().filter_map(|text| text.find(ORIGINAL)).collect();
        assert!(places.contains(&0) && places.last() > Some(&38), "{name} {places:?}");
        assert_alphanumeric(&parts[0], column, (26, 50));
    }
}

#[test]
fn items_are_as_specified() {
    let parts = batches("item", 1.0);
    let ids: Vec<i32> = parts.iter().flat_map(|batch| whole_numbers(batch, "i_id")).collect();
    assert_eq!(ids, (1..=100_000).collect::<Vec<_>>());
    let first = &parts[0];
    assert_between(&widened(&whole_numbers(first, "i_im_id")), (1, 10_000));
    assert_between(&coefficients(first, "i_price"), (100, 10_000));
    assert_alphanumeric(first, "i_name", (14, 24));
}

#[test]
fn warehouses_and_districts_are_as_specified() {
    let (warehouses, districts) = (&batches("warehouse", 200.0)[0], &batches("district", 200.0)[0]);
    assert_eq!(whole_numbers(warehouses, "w_id"), (1..=200).collect::<Vec<_>>());
    assert_eq!(whole_numbers(districts, "d_id")[8..12], [9, 10, 1, 2]);
    assert_eq!(whole_numbers(districts, "d_w_id")[8..12], [1, 1, 2, 2]);
    assert!(coefficients(warehouses, "w_ytd").iter().all(|ytd| *ytd == 30_000_000));
    assert!(coefficients(districts, "d_ytd").iter().all(|ytd| *ytd == 3_000_000));
    assert!(whole_numbers(districts, "d_next_o_id").iter().all(|next| *next == 3_001));
    for (batch, of) in [(warehouses, "w"), (districts, "d")] {
        assert_between(&coefficients(batch, &format!("{of}_tax")), (0, 2_000));
        assert_alphanumeric(batch, &format!("{of}_name"), (6, 10));
        for column in ["street_1", "street_2", "city"] {
            assert_alphanumeric(batch, &format!("{of}_{column}"), (10, 20));
        }
        assert_alphanumeric(batch, &format!("{of}_state"), (2, 2));
        let zips = texts(batch, &format!("{of}_zip"));
        assert!(zips.iter().all(|zip| zip.len() == 9 && zip.ends_with("11111")));
        assert!(zips.iter().all(|zip| zip.parse::<u32>().is_ok()));
    }
}

#[test]
fn stock_is_as_specified() {
    let parts = batches("stock", 2.0);
    let ids: Vec<i32> =
        parts[10..].iter().flat_map(|batch| whole_numbers(batch, "s_i_id")).collect();
    assert_eq!(ids, (1..=100_000).collect::<Vec<_>>());
    assert!(
        parts[10..].iter().all(|batch| whole_numbers(batch, "s_w_id").iter().all(|id| *id == 2))
    );
    assert_between(&widened(&whole_numbers(&parts[0], "s_quantity")), (10, 100));
    for district in 1..=10 {
        assert_alphanumeric(&parts[0], &format!("s_dist_{district:02}"), (24, 24));
    }
    for column in ["s_ytd", "s_order_cnt", "s_remote_cnt"] {
        assert!(whole_numbers(&parts[0], column).iter().all(|count| *count == 0));
    }
}

#[test]
fn customers_are_as_specified() {
    let batch = &batches("customer", 1.0)[3];
    assert_eq!(whole_numbers(batch, "c_id"), (1..=3_000).collect::<Vec<_>>());
    assert!(whole_numbers(batch, "c_d_id").iter().all(|id| *id == 4));
    assert_eq!(texts(batch, "c_credit").iter().filter(|credit| **credit == "BC").count(), 300);
    assert_eq!(texts(batch, "c_credit").iter().filter(|credit| **credit == "GC").count(), 2_700);
    assert!(texts(batch, "c_middle").iter().all(|middle| *middle == "OE"));
    assert_alphanumeric(batch, "c_first", (8, 16));
    assert_alphanumeric(batch, "c_data", (300, 500));
    let phones = texts(batch, "c_phone");
    assert!(phones.iter().all(|phone| phone.len() == 16 && phone.parse::<u64>().is_ok()));
    assert_between(&coefficients(batch, "c_discount"), (0, 5_000));
    for (column, value) in
        [("c_credit_lim", 5_000_000), ("c_balance", -1_000), ("c_ytd_payment", 1_000)]
    {
        assert!(coefficients(batch, column).iter().all(|cell| *cell == value), "{column}");
    }
    assert!(whole_numbers(batch, "c_payment_cnt").iter().all(|count| *count == 1));
    assert!(whole_numbers(batch, "c_delivery_cnt").iter().all(|count| *count == 0));
    let since = batch["c_since"].as_primitive::<TimestampMicrosecondType>();
    assert!(since.values().iter().all(|moment| *moment == MOMENT));
}

#[test]
fn last_names_come_in_turn_and_then_favour_some() {
    let parts = batches("customer", 1.0);
    let names = texts(&parts[0], "c_last");
    assert_eq!((names[0], names[371], names[999]), ("BARBARBAR", "PRICALLYOUGHT", "EINGEINGEING"));
    assert_eq!(names[..1_000].iter().collect::<BTreeSet<_>>().len(), 1_000);
    let mut counts = BTreeMap::new();
    for batch in &parts {
        for name in &texts(batch, "c_last")[1_000..] {
            *counts.entry(name.to_owned()).or_insert(0) += 1;
        }
    }
    let most = counts.values().max().unwrap();
    assert!(*most > 60, "the most frequent name came {most} times of 20 on average");
}

#[test]
fn orders_are_of_all_customers_in_random_order() {
    for batch in batches("orders", 1.0) {
        let customers = whole_numbers(&batch, "o_c_id");
        assert_ne!(customers[..5], [1, 2, 3, 4, 5]);
        assert_eq!(customers.iter().copied().collect::<BTreeSet<_>>(), (1..=3_000).collect());
        let carriers = batch["o_carrier_id"].as_primitive::<Int32Type>();
        assert!((0..2_100).all(|row| carriers.is_valid(row)));
        assert!((2_100..3_000).all(|row| carriers.is_null(row)));
        assert_between(&widened(&carriers.values()[..2_100]), (1, 10));
        assert_between(&widened(&whole_numbers(&batch, "o_ol_cnt")), (5, 15));
        assert!(whole_numbers(&batch, "o_all_local").iter().all(|local| *local == 1));
    }
    let new = &batches("new_order", 1.0)[9];
    assert_eq!(whole_numbers(new, "no_o_id"), (2_101..=3_000).collect::<Vec<_>>());
    assert!(whole_numbers(new, "no_d_id").iter().all(|id| *id == 10));
}

#[test]
fn orders_have_the_lines_that_they_say() {
    let (orders, lines) = (batches("orders", 1.0), batches("order_line", 1.0));
    for (orders, lines) in orders.iter().zip(&lines) {
        let mut counts = BTreeMap::new();
        let numbers = whole_numbers(lines, "ol_number");
        for (order, number) in whole_numbers(lines, "ol_o_id").into_iter().zip(numbers) {
            let count = counts.entry(order).or_insert(0);
            *count += 1;
            assert_eq!(*count, number);
        }
        let line_counts = whole_numbers(orders, "o_ol_cnt");
        assert_eq!(counts.into_values().collect::<Vec<_>>(), line_counts);
    }
}

#[test]
fn lines_are_as_specified() {
    let batch = &batches("order_line", 1.0)[0];
    let delivered = batch["ol_delivery_d"].as_primitive::<TimestampMicrosecondType>();
    let amounts = coefficients(batch, "ol_amount");
    let mut drawn = Vec::new();
    for (row, order) in whole_numbers(batch, "ol_o_id").into_iter().enumerate() {
        assert_eq!(delivered.is_null(row), order >= 2_101);
        if order >= 2_101 {
            drawn.push(amounts[row]);
        } else {
            assert_eq!((amounts[row], delivered.value(row)), (0, MOMENT));
        }
    }
    assert_between(&drawn, (1, 999_999));
    assert_between(&widened(&whole_numbers(batch, "ol_i_id")), (1, 100_000));
    assert!(whole_numbers(batch, "ol_quantity").iter().all(|quantity| *quantity == 5));
    assert!(whole_numbers(batch, "ol_supply_w_id").iter().all(|id| *id == 1));
    assert_alphanumeric(batch, "ol_dist_info", (24, 24));
}

#[test]
fn a_history_is_a_payment_of_each_customer() {
    let batch = &batches("history", 2.0)[11];
    assert_eq!(whole_numbers(batch, "h_c_id"), (1..=3_000).collect::<Vec<_>>());
    for (column, value) in [("h_c_d_id", 2), ("h_d_id", 2), ("h_c_w_id", 2), ("h_w_id", 2)] {
        assert!(whole_numbers(batch, column).iter().all(|cell| *cell == value), "{column}");
    }
    assert!(coefficients(batch, "h_amount").iter().all(|amount| *amount == 1_000));
    assert_alphanumeric(batch, "h_data", (12, 24));
}

#[test]
fn letters_and_digits_are_equally_likely_everywhere_in_a_text() {
    let batch = &batches("order_line", 1.0)[0];
    let infos = texts(batch, "ol_dist_info");
    let expected = infos.len() as f64 / 62.0;
    for place in [0, 1, 8, 9, 23] {
        let mut counts = BTreeMap::new();
        for info in &infos {
            *counts.entry(info.as_bytes()[place]).or_insert(0_u32) += 1;
        }
        let squares = counts.values().map(|count| (f64::from(*count) - expected).powi(2));
        let chi_square = squares.sum::<f64>() / expected;
        // Chi-square of 61 degrees of freedom exceeds 116 once in a hundred thousand times.
        assert!(counts.len() == 62 && chi_square < 116.0, "place {place}: {chi_square}");
    }
}
