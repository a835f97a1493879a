//! The data in all their forms: that parts decide nothing, that rows are as many as expected.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::{Array, RecordBatch, StringArray};
use proptest::prelude::*;

use super::*;
use crate::TableStream;
use crate::parallel::Meter;

const PRODUCTS: f64 = 300.0;

fn made(name: &str, products: f64, seed: Option<u64>, threads: usize) -> (u64, u64) {
    let (table, meter): (_, Arc<Meter>) = (table(name, products, seed).unwrap(), Arc::default());
    let expected = table.rows_expected();
    let mut stream = TableStream::start(table, threads, Arc::clone(&meter));
    assert!(stream.all(|batch| batch.is_ok()));
    assert_eq!(meter.rows(), expected, "{name} of {products} products");
    (meter.rows(), meter.checksum())
}

fn lines(name: &str, products: f64) -> Vec<String> {
    let table = table(name, products, None).unwrap();
    let batches: Vec<RecordBatch> = (0..table.parts()).map(|part| table.make(part)).collect();
    let texts = |batch: &RecordBatch| {
        let column: StringArray = batch.column(0).to_data().into();
        column.iter().flatten().map(str::to_owned).collect::<Vec<_>>()
    };
    batches.iter().flat_map(texts).collect()
}

#[test]
fn each_row_is_a_line_and_none_comes_twice() {
    let lines = lines("triples", PRODUCTS);
    for line in &lines {
        assert_eq!(line.find('\n'), Some(line.len() - 1), "{line}");
        assert!(line.starts_with("<http://") && line.ends_with(" .\n"), "{line}");
    }
    assert_eq!(lines.iter().collect::<HashSet<_>>().len(), lines.len());
}

#[test]
fn a_block_of_turtle_is_a_thing() {
    let (blocks, lines) = (lines("turtle", PRODUCTS), lines("triples", PRODUCTS));
    let subjects: HashSet<&str> =
        lines.iter().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(blocks.len(), subjects.len());
    assert_eq!(blocks.iter().filter(|block| block.contains("@prefix")).count(), 1);
    assert!(blocks[0].starts_with("@base <"));
}

#[test]
fn a_scale_is_a_number_of_products() {
    for scale in [0.0, 1.5, -1.0, f64::NAN, 10_000_001.0] {
        let refused = table("triples", scale, None).err().unwrap();
        assert!(refused.to_string().contains("whole products, from 1 to 10000000"), "{refused}");
    }
    let refused = table("triple", 1.0, None).err().unwrap().to_string();
    assert!(refused.contains("\"triple\"; known: triples, turtle, producttype"), "{refused}");
    let refused = crate::table("tpch", "orders", 1.0, 0, Some(1)).err().unwrap().to_string();
    assert!(refused.contains("no seed"), "{refused}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn the_same_bytes_however_many_threads(products in 1_u32..700, seed in any::<u64>()) {
        let scale = f64::from(products);
        for name in TABLES {
            let alone = made(name, scale, Some(seed), 1);
            prop_assert_eq!(alone, made(name, scale, Some(seed), 3));
        }
        let (one, other) =
            (made("offer", scale, Some(seed), 1), made("offer", scale, Some(seed ^ 1), 1));
        prop_assert_ne!(one.1, other.1);
    }
}
