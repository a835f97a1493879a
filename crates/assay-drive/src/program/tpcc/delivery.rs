//! Delivery (clause 2.7): the oldest order of each of the ten districts is delivered, all in one
//! transaction. A district without a new order is skipped.

use assay_model::tpcc::DISTRICTS;

use super::SKIPPED_SHIFT;
use super::amounts::{CENTS, integer, scaled};
use super::inputs::Inputs;
use super::play::{Register, Step, Transaction, Turn, each, one, step};
use crate::session::value::{Bound, Value};

const CARRIERS: (i64, i64) = (1, 10);

/// Its statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Is {
    Begin,
    Oldest,
    TakeOut,
    Orders,
    UpdateOrders,
    Amounts,
    UpdateLines,
    Customers,
    Commit,
}

/// What its statements bind.
#[derive(Clone, Copy, Debug)]
pub enum Binds {
    Warehouse,
    Carrier,
    Asked,
    District,
    Order,
    Customer,
    Amount,
}

/// An order that is delivered.
#[derive(Clone, Copy, Debug)]
pub struct Delivered {
    district: i64,
    order: i64,
    customer: Option<i64>,
    /// In cents; `None`: it has not come.
    amount: Option<i64>,
}

/// The transaction.
pub struct Delivery {
    inputs: Inputs,
    warehouse: i64,
    carrier: i64,
    /// Districts that no order has come of.
    missing: Vec<i64>,
    delivered: Vec<Delivered>,
    row: (i64, i64),
}

impl Delivery {
    /// The transaction with inputs of its own.
    pub fn new(inputs: Inputs) -> Self {
        let places = DISTRICTS as usize;
        Self {
            inputs,
            warehouse: 0,
            carrier: 0,
            missing: Vec::with_capacity(places),
            delivered: Vec::with_capacity(places),
            row: (0, 0),
        }
    }

    fn of_district(&mut self, district: i64) -> Result<&mut Delivered, String> {
        let order = self.delivered.iter_mut().find(|delivered| delivered.district == district);
        order.ok_or_else(|| format!("a row of district {district}, of which none is delivered"))
    }

    fn check(&self, what: &str, is_there: impl Fn(&Delivered) -> bool) -> Result<(), String> {
        let lacking = self.delivered.iter().find(|delivered| !is_there(delivered));
        lacking.map_or(Ok(()), |Delivered { district, order, .. }| {
            let warehouse = self.warehouse;
            Err(format!("there is no {what} {order} (warehouse {warehouse}, district {district})"))
        })
    }
}

impl Transaction for Delivery {
    type Step = Is;
    type Register = Binds;
    /// Where another Delivery took the oldest order of a district while this one waited for it, an
    /// engine may answer that there is none: districts that are missing are asked again, twice.
    const STEPS: &'static [Step<Is>] = &[
        step(Is::Begin, "begin").at_once(),
        step(Is::Oldest, "oldest").at_once(),
        step(Is::Oldest, "oldest"),
        step(Is::Oldest, "oldest"),
        step(Is::TakeOut, "take_out").or_not(),
        step(Is::Orders, "orders"),
        step(Is::UpdateOrders, "update_orders").or_not(),
        step(Is::Amounts, "amounts"),
        step(Is::UpdateLines, "update_lines").or_not(),
        step(Is::Customers, "customers"),
        step(Is::Commit, "commit"),
    ];
    const REGISTERS: &'static [Register<Binds>] = &[
        one(Binds::Warehouse, "w_id"),
        one(Binds::Carrier, "o_carrier_id"),
        each(Binds::Asked, "asked_d_id"),
        each(Binds::District, "d_id"),
        each(Binds::Order, "o_id"),
        each(Binds::Customer, "c_id"),
        each(Binds::Amount, "amount"),
    ];

    fn draw(&mut self) {
        self.warehouse = self.inputs.warehouse();
        self.carrier = self.inputs.uniform(CARRIERS.0, CARRIERS.1);
    }

    fn begin(&mut self) {
        self.delivered.clear();
        self.missing.clear();
        self.missing.extend(1..=DISTRICTS);
    }

    fn turn(&self, step: Is) -> Result<Turn, String> {
        Ok(match step {
            Is::Begin | Is::Commit => Turn::Once,
            Is::Oldest => Turn::Each(self.missing.len()),
            _ => Turn::Each(self.delivered.len()),
        })
    }

    fn value(&self, register: Binds, element: usize) -> Bound<'_> {
        let delivered = self.delivered.get(element);
        let integer = |value: Option<i64>| value.map_or(Bound::Null, Bound::Integer);
        match register {
            Binds::Warehouse => Bound::Integer(self.warehouse),
            Binds::Carrier => Bound::Integer(self.carrier),
            Binds::Asked => integer(self.missing.get(element).copied()),
            Binds::District => integer(delivered.map(|one| one.district)),
            Binds::Order => integer(delivered.map(|one| one.order)),
            Binds::Customer => integer(delivered.and_then(|one| one.customer)),
            Binds::Amount => delivered
                .and_then(|one| one.amount)
                .map_or(Bound::Null, |amount| Bound::Decimal(amount, CENTS)),
        }
    }

    /// Columns: of all the district first; then `oldest`: the order; `orders`: the customer;
    /// `amounts`: the sum of an order's lines. Further ones are of no matter here.
    fn cell(&mut self, step: Is, column: usize, value: &Value<'_>) -> Result<(), String> {
        match (step, column) {
            (Is::Oldest | Is::Orders | Is::Amounts, 0) => self.row.0 = integer(value)?,
            (Is::Oldest | Is::Orders, 1) => self.row.1 = integer(value)?,
            (Is::Amounts, 1) => self.row.1 = scaled(value, CENTS)?,
            _ => {}
        }
        Ok(())
    }

    fn end_row(&mut self, step: Is) -> Result<(), String> {
        let (district, number) = self.row;
        match step {
            Is::Oldest => {
                self.delivered.push(Delivered {
                    district,
                    order: number,
                    customer: None,
                    amount: None,
                });
            }
            Is::Orders => self.of_district(district)?.customer = Some(number),
            Is::Amounts => self.of_district(district)?.amount = Some(number),
            _ => {}
        }
        Ok(())
    }

    fn answered(&mut self, step: Is, _rows: u32) -> Result<(), String> {
        match step {
            Is::Oldest => {
                let Self { missing, delivered, .. } = self;
                missing.retain(|asked| delivered.iter().all(|one| one.district != *asked));
                Ok(())
            }
            Is::Orders => self.check("order", |one| one.customer.is_some()),
            Is::Amounts => self.check("line of order", |one| one.amount.is_some()),
            _ => Ok(()),
        }
    }

    fn marks(&self) -> u32 {
        (self.missing.len() as u32) << SKIPPED_SHIFT
    }
}
