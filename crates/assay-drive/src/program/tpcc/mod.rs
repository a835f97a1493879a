//! The five transactions of TPC-C (specification 5.11, clauses 2.4 to 2.8): inputs, which statement
//! is next, and what is computed of the answers. The SQL stands in the workload's folder.
//!
//! Derived from TPC-C; results are not comparable to published TPC results.

mod amounts;
mod delivery;
mod inputs;
mod names;
mod new_order;
mod order_status;
mod payment;
mod play;
mod stock_level;
#[cfg(test)]
mod tests;

use self::inputs::Inputs;
use self::play::Play;
use super::{Asked, Program};

/// The programs' names.
pub const NAMES: &[&str] =
    &["tpcc.new-order", "tpcc.payment", "tpcc.order-status", "tpcc.delivery", "tpcc.stock-level"];

/// What all five note of an execution, from the lowest bit. A name with a number has so many bits
/// and is a number; any other is one bit.
pub const MARKS: &[&str] = &["rolled_back", "by_name", "remote", "skipped:4", "lines:4"];

/// What values of a receipt are called; only New-Orders that were committed have one.
pub fn receipt_names(name: &str) -> &'static [&'static str] {
    if name == "tpcc.new-order" { &["w_id", "d_id", "o_id"] } else { &[] }
}

/// A New-Order was rolled back on purpose, because of an unused item.
const ROLLED_BACK: u32 = 1;
/// The customer was chosen by last name.
const BY_NAME: u32 = 1 << 1;
/// A line's supply warehouse, or the paying customer, was of another warehouse.
const REMOTE: u32 = 1 << 2;
/// From here: districts of a Delivery that had nothing to deliver.
const SKIPPED_SHIFT: u32 = 3;
/// From here: order lines of a New-Order.
const LINES_SHIFT: u32 = 7;

/// Opens the program of that name; `None`: it is none of TPC-C's.
///
/// # Errors
/// If the parameters are not there, or a statement or register is unknown or missing.
pub fn open(name: &str, asked: Asked<'_>) -> Option<Result<Box<dyn Program>, String>> {
    let opened = match name {
        "tpcc.new-order" => opened(asked, new_order::NewOrder::new),
        "tpcc.payment" => opened(asked, payment::Payment::new),
        "tpcc.order-status" => opened(asked, order_status::OrderStatus::new),
        "tpcc.delivery" => opened(asked, delivery::Delivery::new),
        "tpcc.stock-level" => opened(asked, stock_level::StockLevel::new),
        _ => return None,
    };
    Some(opened.map_err(|reason| format!("{name}: {reason}")))
}

fn opened<T: play::Transaction + 'static>(
    asked: Asked<'_>,
    new: impl Fn(Inputs) -> T,
) -> Result<Box<dyn Program>, String> {
    Ok(Box::new(Play::open(new(Inputs::new(asked)?), asked.operation)?))
}
