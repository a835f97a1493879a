//! Order-Status (clause 2.6): what became of a customer's last order.

use super::BY_NAME;
use super::amounts::integer;
use super::inputs::Inputs;
use super::names::Customer;
use super::play::{Register, Step, Transaction, Turn, one, step};
use crate::session::value::{Bound, Value};

/// Its statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Is {
    Begin,
    ByName,
    Customer,
    Order,
    Lines,
    Commit,
}

/// What its statements bind.
#[derive(Clone, Copy, Debug)]
pub enum Binds {
    Warehouse,
    District,
    Customer,
    Last,
    Order,
}

/// The transaction.
pub struct OrderStatus {
    inputs: Inputs,
    warehouse: i64,
    district: i64,
    customer: Customer,
    order: i64,
}

impl OrderStatus {
    /// The transaction with inputs of its own.
    pub fn new(inputs: Inputs) -> Self {
        Self { inputs, warehouse: 0, district: 0, customer: Customer::default(), order: 0 }
    }
}

impl Transaction for OrderStatus {
    type Step = Is;
    type Register = Binds;
    const STEPS: &'static [Step<Is>] = &[
        step(Is::Begin, "begin").at_once(),
        step(Is::ByName, "by_name").at_once(),
        step(Is::Customer, "customer").at_once(),
        step(Is::Order, "order"),
        step(Is::Lines, "lines"),
        step(Is::Commit, "commit"),
    ];
    const REGISTERS: &'static [Register<Binds>] = &[
        one(Binds::Warehouse, "w_id"),
        one(Binds::District, "d_id"),
        one(Binds::Customer, "c_id"),
        one(Binds::Last, "c_last"),
        one(Binds::Order, "o_id"),
    ];

    fn draw(&mut self) {
        self.warehouse = self.inputs.warehouse();
        self.district = self.inputs.district();
        self.customer.draw(&mut self.inputs);
    }

    fn begin(&mut self) {
        self.customer.begin();
    }

    fn turn(&self, step: Is) -> Result<Turn, String> {
        let other = match step {
            Is::ByName => !self.customer.by_name,
            Is::Customer => self.customer.by_name,
            _ => false,
        };
        Ok(if other { Turn::Not } else { Turn::Once })
    }

    fn value(&self, register: Binds, _element: usize) -> Bound<'_> {
        match register {
            Binds::Warehouse => Bound::Integer(self.warehouse),
            Binds::District => Bound::Integer(self.district),
            Binds::Customer => Bound::Integer(self.customer.id),
            Binds::Last => Bound::Text(&self.customer.last),
            Binds::Order => Bound::Integer(self.order),
        }
    }

    /// Columns: `by_name`: c_id, in the order of first names. `order`: o_id. Further ones, and
    /// those of `customer` and `lines`, are what a terminal would show.
    fn cell(&mut self, step: Is, column: usize, value: &Value<'_>) -> Result<(), String> {
        match (step, column) {
            (Is::ByName, 0) => self.customer.add_candidate(integer(value)?),
            (Is::Order, 0) => self.order = integer(value)?,
            _ => {}
        }
        Ok(())
    }

    fn answered(&mut self, step: Is, rows: u32) -> Result<(), String> {
        let what = match step {
            Is::ByName => return self.customer.choose(),
            Is::Customer => "no such customer",
            Is::Order => "no order of the customer",
            Is::Lines => "no line of the order",
            _ => return Ok(()),
        };
        if rows > 0 {
            return Ok(());
        }
        let Self { warehouse, district, customer, .. } = self;
        Err(format!(
            "there is {what} (warehouse {warehouse}, district {district}, customer {})",
            customer.id
        ))
    }

    fn marks(&self) -> u32 {
        if self.customer.by_name { BY_NAME } else { 0 }
    }
}
