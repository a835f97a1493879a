//! Data generators and parameter rules. A generator cuts a table into parts of a fixed size that
//! depend on nothing but the scale, so threads decide how fast rows come and never which.

pub mod bsbm;
mod columns;
pub mod parallel;
pub mod parameters;
mod random;
pub mod refresh;
mod rules;
pub mod tpcc;
pub mod tpch;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

pub use parallel::TableStream;
pub use parameters::{ParameterError, Rule, Rules, render};

/// Version of the rows that generators make, refresh sets included: raised by every change that
/// gives other rows for the same request, because what was made of the former ones is kept.
pub const VERSION: u32 = 1;

/// A table whose parts can be made in any order, by any thread.
pub trait Parts: Send + Sync + 'static {
    /// Schema of every part.
    fn schema(&self) -> SchemaRef;
    /// How many parts there are; depends on the scale only.
    fn parts(&self) -> u32;
    /// Rows of the whole table, exact or (where lines vary with orders) expected.
    fn rows_expected(&self) -> u64;
    /// Makes one part, from 0.
    fn make(&self, part: u32) -> RecordBatch;
}

/// A request that no generator can serve.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum GenerateError {
    /// No such generator.
    #[error("there is no generator {0:?}; known: bsbm, tpcc, tpch")]
    Generator(String),
    /// No such table.
    #[error("generator {0} has no table {1:?}; known: {2}")]
    Table(&'static str, String, String),
    /// A scale that has no meaning.
    #[error("scale {0} is out of range: it must be at least 0.001 and at most 100000")]
    Scale(f64),
    /// A scale that is no number of warehouses.
    #[error("{0} warehouses: TPC-C is scaled by whole warehouses, from 1 to {1}")]
    Warehouses(f64, u32),
    /// A scale that is no number of products.
    #[error(transparent)]
    Products(#[from] assay_model::bsbm::WorldError),
    /// A generator whose data are the same for every seed.
    #[error("generator {0} makes the data of its specification: they have no seed")]
    Seed(String),
    /// More refresh sets than there are orders to be taken out, or none at all.
    #[error("{0} refresh sets at scale {1}: there can be 1 to {2}")]
    Sets(u32, f64, u32),
}

/// The smallest scale whose tables still have rows that join.
const SCALE_MIN: f64 = 0.001;
/// The largest scale of the TPC-H specification.
const SCALE_MAX: f64 = 100_000.0;

/// The table of a generator at a scale; `sets` is how many refresh sets the tables of those have,
/// and of no meaning for others. Only data that are not those of a specification have a `seed`.
pub fn table(
    generator: &str,
    table: &str,
    scale: f64,
    sets: u32,
    seed: Option<u64>,
) -> Result<Box<dyn Parts>, GenerateError> {
    match generator {
        "bsbm" => bsbm::table(table, scale, seed),
        "tpcc" | "tpch" if seed.is_some() => Err(GenerateError::Seed(generator.into())),
        "tpcc" => tpcc::table(table, scale),
        "tpch" if !(SCALE_MIN..=SCALE_MAX).contains(&scale) => Err(GenerateError::Scale(scale)),
        "tpch" if refresh::TABLES.contains(&table) => refresh::table(table, scale, sets),
        "tpch" => tpch::table(table, scale),
        _ => Err(GenerateError::Generator(generator.into())),
    }
}
