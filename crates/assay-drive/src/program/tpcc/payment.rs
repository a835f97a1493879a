//! Payment (clause 2.5): a customer pays, the sums of district and warehouse follow.
//!
//! The warehouse, which all payments of a warehouse share, is updated last, so that its lock is
//! held for the shortest time; the order of steps is left to the implementer (clause 2.4.2.2).

use std::fmt::Write as _;

use super::amounts::{CENTS, integer};
use super::inputs::Inputs;
use super::names::Customer;
use super::play::{Register, Step, Transaction, Turn, one, step};
use super::{BY_NAME, REMOTE};
use crate::session::value::{Bound, Value};

/// Of a hundred payments so many are of a customer of the home district (clause 2.5.1.2).
const LOCAL_PER_CENT: i64 = 85;
/// From 1.00 to 5,000.00.
const AMOUNT: (i64, i64) = (100, 500_000);
/// What stands between the names of warehouse and district in the history.
const BETWEEN: &str = "    ";

/// Its statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Is {
    Begin,
    District,
    ByName,
    Customer,
    CustomerRow,
    Warehouse,
    Places,
    History,
    Commit,
}

/// What its statements bind.
#[derive(Clone, Copy, Debug)]
pub enum Binds {
    Warehouse,
    District,
    CustomerWarehouse,
    CustomerDistrict,
    Customer,
    Last,
    Amount,
    HistoryData,
}

/// The transaction.
pub struct Payment {
    inputs: Inputs,
    warehouse: i64,
    district: i64,
    customer_warehouse: i64,
    customer_district: i64,
    customer: Customer,
    amount: i64,
    warehouse_name: String,
    district_name: String,
    history_data: String,
}

impl Payment {
    /// The transaction with inputs of its own.
    pub fn new(inputs: Inputs) -> Self {
        Self {
            inputs,
            warehouse: 0,
            district: 0,
            customer_warehouse: 0,
            customer_district: 0,
            customer: Customer::default(),
            amount: 0,
            warehouse_name: String::new(),
            district_name: String::new(),
            history_data: String::new(),
        }
    }

    fn lacks(&self, what: &str) -> String {
        format!("there is no {what} (warehouse {}, district {})", self.warehouse, self.district)
    }
}

fn name(value: &Value<'_>, name: &mut String) -> Result<(), String> {
    let Value::Text(text) = value else { return Err(format!("a name is no text: {value:?}")) };
    name.clear();
    name.push_str(&String::from_utf8_lossy(text));
    Ok(())
}

impl Transaction for Payment {
    type Step = Is;
    type Register = Binds;
    const STEPS: &'static [Step<Is>] = &[
        step(Is::Begin, "begin").at_once(),
        step(Is::District, "district").at_once(),
        step(Is::ByName, "by_name").at_once(),
        step(Is::Customer, "customer"),
        step(Is::CustomerRow, "customer_row").or_not().at_once(),
        step(Is::Warehouse, "warehouse"),
        step(Is::Places, "places").or_not().at_once(),
        step(Is::History, "history"),
        step(Is::Commit, "commit"),
    ];
    const REGISTERS: &'static [Register<Binds>] = &[
        one(Binds::Warehouse, "w_id"),
        one(Binds::District, "d_id"),
        one(Binds::CustomerWarehouse, "c_w_id"),
        one(Binds::CustomerDistrict, "c_d_id"),
        one(Binds::Customer, "c_id"),
        one(Binds::Last, "c_last"),
        one(Binds::Amount, "h_amount"),
        one(Binds::HistoryData, "h_data"),
    ];

    fn draw(&mut self) {
        let inputs = &mut self.inputs;
        self.warehouse = inputs.warehouse();
        self.district = inputs.district();
        (self.customer_warehouse, self.customer_district) = if inputs.per_cent(LOCAL_PER_CENT) {
            (self.warehouse, self.district)
        } else {
            (inputs.other_warehouse(self.warehouse), inputs.district())
        };
        self.customer.draw(inputs);
        self.amount = inputs.uniform(AMOUNT.0, AMOUNT.1);
    }

    fn begin(&mut self) {
        self.customer.begin();
        self.warehouse_name.clear();
        self.district_name.clear();
    }

    fn turn(&self, step: Is) -> Result<Turn, String> {
        Ok(if step == Is::ByName && !self.customer.by_name { Turn::Not } else { Turn::Once })
    }

    fn value(&self, register: Binds, _element: usize) -> Bound<'_> {
        match register {
            Binds::Warehouse => Bound::Integer(self.warehouse),
            Binds::District => Bound::Integer(self.district),
            Binds::CustomerWarehouse => Bound::Integer(self.customer_warehouse),
            Binds::CustomerDistrict => Bound::Integer(self.customer_district),
            Binds::Customer => Bound::Integer(self.customer.id),
            Binds::Last => Bound::Text(&self.customer.last),
            Binds::Amount => Bound::Decimal(self.amount, CENTS),
            Binds::HistoryData => Bound::Text(&self.history_data),
        }
    }

    /// Columns: `by_name`: c_id, in the order of first names. `warehouse`: w_name first.
    /// `district`: d_name first. `places`, where those two return no row: w_name, d_name first.
    /// Further ones are of no matter here.
    fn cell(&mut self, step: Is, column: usize, value: &Value<'_>) -> Result<(), String> {
        match (step, column) {
            (Is::ByName, 0) => self.customer.add_candidate(integer(value)?),
            (Is::Warehouse | Is::Places, 0) => name(value, &mut self.warehouse_name)?,
            (Is::District, 0) | (Is::Places, 1) => name(value, &mut self.district_name)?,
            _ => {}
        }
        Ok(())
    }

    fn answered(&mut self, step: Is, rows: u32) -> Result<(), String> {
        let what = match step {
            Is::District => "district",
            Is::Customer => "such customer",
            Is::CustomerRow => "row of the customer",
            Is::Warehouse => "warehouse",
            Is::Places => "row of both",
            Is::ByName => return self.customer.choose(),
            _ => return Ok(()),
        };
        if rows == 0 {
            return Err(self.lacks(what));
        }
        if matches!(step, Is::Warehouse | Is::Places) {
            self.history_data.clear();
            let (warehouse, district) = (&self.warehouse_name, &self.district_name);
            let _ = write!(self.history_data, "{warehouse}{BETWEEN}{district}");
        }
        Ok(())
    }

    fn marks(&self) -> u32 {
        let by_name = if self.customer.by_name { BY_NAME } else { 0 };
        by_name | if self.customer_warehouse == self.warehouse { 0 } else { REMOTE }
    }
}
