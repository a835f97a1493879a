//! Stock-Level (clause 2.8): how many items of the last twenty orders of a district are short.

use super::amounts::integer;
use super::inputs::Inputs;
use super::play::{Register, Step, Transaction, Turn, one, step};
use crate::session::value::{Bound, Value};

const THRESHOLD: (i64, i64) = (10, 20);
/// So many orders are looked at.
const ORDERS: i64 = 20;

/// Its statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Is {
    Begin,
    District,
    LowStock,
    Commit,
}

/// What its statements bind.
#[derive(Clone, Copy, Debug)]
pub enum Binds {
    Warehouse,
    District,
    Threshold,
    FirstOrder,
    NextOrder,
}

/// The transaction.
pub struct StockLevel {
    inputs: Inputs,
    warehouse: i64,
    district: i64,
    threshold: i64,
    next_order: i64,
}

impl StockLevel {
    /// The transaction with inputs of its own.
    pub fn new(inputs: Inputs) -> Self {
        Self { inputs, warehouse: 0, district: 0, threshold: 0, next_order: 0 }
    }
}

impl Transaction for StockLevel {
    type Step = Is;
    type Register = Binds;
    const STEPS: &'static [Step<Is>] = &[
        step(Is::Begin, "begin").at_once(),
        step(Is::District, "district").at_once(),
        step(Is::LowStock, "low_stock"),
        step(Is::Commit, "commit"),
    ];
    const REGISTERS: &'static [Register<Binds>] = &[
        one(Binds::Warehouse, "w_id"),
        one(Binds::District, "d_id"),
        one(Binds::Threshold, "threshold"),
        one(Binds::FirstOrder, "o_id_first"),
        one(Binds::NextOrder, "d_next_o_id"),
    ];

    fn draw(&mut self) {
        self.warehouse = self.inputs.warehouse();
        self.district = self.inputs.own_district();
        self.threshold = self.inputs.uniform(THRESHOLD.0, THRESHOLD.1);
    }

    fn begin(&mut self) {}

    fn turn(&self, _step: Is) -> Result<Turn, String> {
        Ok(Turn::Once)
    }

    fn value(&self, register: Binds, _element: usize) -> Bound<'_> {
        Bound::Integer(match register {
            Binds::Warehouse => self.warehouse,
            Binds::District => self.district,
            Binds::Threshold => self.threshold,
            Binds::FirstOrder => self.next_order - ORDERS,
            Binds::NextOrder => self.next_order,
        })
    }

    /// Columns: `district`: d_next_o_id. What `low_stock` counts is what a terminal would show.
    fn cell(&mut self, step: Is, column: usize, value: &Value<'_>) -> Result<(), String> {
        if (step, column) == (Is::District, 0) {
            self.next_order = integer(value)?;
        }
        Ok(())
    }

    fn answered(&mut self, step: Is, rows: u32) -> Result<(), String> {
        let Self { warehouse, district, .. } = self;
        match (step, rows) {
            (Is::District, 0) => {
                Err(format!("there is no district {district} of warehouse {warehouse}"))
            }
            _ => Ok(()),
        }
    }

    fn marks(&self) -> u32 {
        0
    }
}
