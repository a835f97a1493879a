//! New-Order (clause 2.4): 5 to 15 items are ordered, and one order in a hundred is rolled back
//! because its last item does not exist.

use std::hint::black_box;

use assay_model::event::Receipt;
use assay_model::tpcc::{ITEMS, LINES};

use super::amounts::{CENTS, RATE, integer, scaled};
use super::inputs::Inputs;
use super::play::{Register, Step, Transaction, Turn, each, one, step};
use super::{LINES_SHIFT, REMOTE, ROLLED_BACK};
use crate::session::value::{Bound, Value};

/// Of a hundred orders so many are rolled back (clause 2.4.1.4).
const UNUSED_PER_CENT: i64 = 1;
/// Of a hundred lines so many are supplied by another warehouse (clause 2.4.1.5).
const REMOTE_PER_CENT: i64 = 1;
/// A number that no item has.
const UNUSED_ITEM: i64 = ITEMS + 1;
const QUANTITY: (i64, i64) = (1, 10);
/// A stock that would fall below the first is filled up by the second (clause 2.4.2.2).
const REFILLED: (i64, i64) = (10, 91);
/// What data of an item and of its stock hold where the brand is generic.
const ORIGINAL: &[u8] = b"ORIGINAL";

/// Its statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Is {
    Begin,
    Customer,
    District,
    NextOrder,
    Items,
    TakeStock,
    Stock,
    UpdateStock,
    Order,
    NewOrder,
    Lines,
    Commit,
    Rollback,
}

/// What its statements bind.
#[derive(Clone, Copy, Debug)]
pub enum Binds {
    Warehouse,
    District,
    Customer,
    Order,
    LineCount,
    AllLocal,
    LineNumber,
    Item,
    SupplyWarehouse,
    Quantity,
    Amount,
    DistrictInfo,
    StockWarehouse,
    StockItem,
    StockQuantity,
    Ordered,
    OrderCount,
    RemoteCount,
}

/// One line of the order.
#[derive(Clone, Debug, Default)]
pub struct Line {
    item: i64,
    supply: i64,
    quantity: i64,
    /// Which stock it is taken from: an index.
    stock: usize,
    /// In cents; `None`: the item has not been found.
    price: Option<i64>,
    generic: bool,
}

/// The stock of one item in one warehouse. Two lines may be of the same one.
#[derive(Clone, Debug, Default)]
pub struct Stock {
    key: (i64, i64),
    ordered: i64,
    orders: i64,
    left: i64,
    info: String,
    generic: bool,
    exists: bool,
}

/// The transaction.
pub struct NewOrder {
    inputs: Inputs,
    warehouse: i64,
    district: i64,
    customer: i64,
    lines: Vec<Line>,
    stock: Vec<Stock>,
    /// Whether one statement reads and updates the stock.
    can_take: bool,
    order: i64,
    rates: Rates,
    row: Row,
    rolled_back: bool,
}

/// Discount and taxes in units of 0.0001.
#[derive(Clone, Copy, Debug, Default)]
struct Rates {
    discount: i64,
    warehouse_tax: i64,
    district_tax: i64,
}

/// What came of a row of items or stock.
#[derive(Clone, Debug, Default)]
struct Row {
    item: i64,
    warehouse: i64,
    number: i64,
    info: String,
    generic: bool,
}

fn is_generic(value: &Value<'_>) -> bool {
    let (Value::Text(bytes) | Value::Bytes(bytes)) = value else { return false };
    bytes.windows(ORIGINAL.len()).any(|part| part == ORIGINAL)
}

/// What is left of a stock of which so many are taken.
const fn taken(left: i64, quantity: i64) -> i64 {
    if left >= quantity + REFILLED.0 { left - quantity } else { left - quantity + REFILLED.1 }
}

impl NewOrder {
    /// The transaction with inputs of its own.
    pub fn new(inputs: Inputs) -> Self {
        Self {
            inputs,
            warehouse: 0,
            district: 0,
            customer: 0,
            lines: Vec::with_capacity(LINES.1 as usize),
            stock: Vec::with_capacity(LINES.1 as usize),
            can_take: false,
            order: 0,
            rates: Rates::default(),
            row: Row::default(),
            rolled_back: false,
        }
    }

    fn draw_lines(&mut self) {
        let count = self.inputs.uniform(LINES.0, LINES.1);
        let is_unused = self.inputs.per_cent(UNUSED_PER_CENT);
        self.lines.clear();
        for number in 1..=count {
            let item = self.inputs.item();
            let home = self.warehouse;
            let is_remote = self.inputs.per_cent(REMOTE_PER_CENT);
            self.lines.push(Line {
                item: if is_unused && number == count { UNUSED_ITEM } else { item },
                supply: if is_remote { self.inputs.other_warehouse(home) } else { home },
                quantity: self.inputs.uniform(QUANTITY.0, QUANTITY.1),
                ..Line::default()
            });
        }
    }

    /// Groups the lines whose items were found by the stock that they are taken from, in the order
    /// of its keys, so that all transactions lock stock in the same order.
    fn group(&mut self) {
        let mut keys: Vec<(i64, i64)> = Vec::with_capacity(self.lines.len());
        keys.extend(self.existing_lines().iter().map(|line| (line.supply, line.item)));
        keys.sort_unstable();
        keys.dedup();
        self.stock.resize(keys.len(), Stock::default());
        for (stock, key) in self.stock.iter_mut().zip(keys) {
            (stock.key, stock.ordered, stock.orders, stock.exists) = (key, 0, 0, false);
        }
        for line in self.lines.iter_mut().filter(|line| line.price.is_some()) {
            let key = (line.supply, line.item);
            line.stock = self.stock.partition_point(|stock| stock.key < key);
            self.stock[line.stock].ordered += line.quantity;
            self.stock[line.stock].orders += 1;
        }
    }

    /// The lines whose items exist: all, or all but the last.
    fn existing_lines(&self) -> &[Line] {
        let unused = usize::from(self.lines.last().is_some_and(|line| line.price.is_none()));
        &self.lines[..self.lines.len() - unused]
    }

    fn has_unused(&self) -> bool {
        self.existing_lines().len() < self.lines.len()
    }

    fn takes(&self) -> bool {
        // A stock of two lines may be filled up twice, which one statement does not do.
        self.can_take && self.stock.len() == self.existing_lines().len()
    }

    /// Every item but an unused last one has to be there.
    fn check_items(&mut self) -> Result<(), String> {
        if let Some(line) = self.existing_lines().iter().find(|line| line.price.is_none()) {
            return Err(format!("there is no item {}", line.item));
        }
        if self.has_unused() && self.lines.last().is_some_and(|line| line.item != UNUSED_ITEM) {
            return Err(format!("there is no item {:?}", self.lines.last().map(|line| line.item)));
        }
        self.group();
        Ok(())
    }

    fn check_stock(&mut self, deduct: bool) -> Result<(), String> {
        if let Some(stock) = self.stock.iter().find(|stock| !stock.exists) {
            return Err(format!("there is no stock of {:?} (warehouse, item)", stock.key));
        }
        for line in self.lines.iter().filter(|line| deduct && line.price.is_some()) {
            let stock = &mut self.stock[line.stock];
            stock.left = taken(stock.left, line.quantity);
        }
        Ok(())
    }

    fn end_item(&mut self) {
        let Row { item, number, generic, .. } = self.row;
        for line in self.lines.iter_mut().filter(|line| line.item == item) {
            (line.price, line.generic) = (Some(number), generic);
        }
    }

    fn end_stock(&mut self) {
        let key = (self.row.warehouse, self.row.item);
        let place = self.stock.partition_point(|stock| stock.key < key);
        if let Some(stock) = self.stock.get_mut(place).filter(|stock| stock.key == key) {
            (stock.left, stock.generic, stock.exists) = (self.row.number, self.row.generic, true);
            std::mem::swap(&mut stock.info, &mut self.row.info);
        }
    }

    fn is_local(&self) -> bool {
        self.lines.iter().all(|line| line.supply == self.warehouse)
    }

    /// What the terminal shows: total of the order in units of 10^-10, and how many lines are of a
    /// generic brand (clauses 2.4.2.2 and 2.4.3.3).
    pub fn shown(&self) -> (i128, usize) {
        let lines = self.existing_lines();
        let sum: i64 = lines.iter().map(amount).sum();
        let Rates { discount, warehouse_tax, district_tax } = self.rates;
        let whole = 10_i64.pow(RATE.into());
        let factor = (whole - discount) * (whole + warehouse_tax + district_tax);
        let generic = lines.iter().filter(|line| line.generic && self.stock[line.stock].generic);
        (i128::from(sum) * i128::from(factor), generic.count())
    }
}

fn amount(line: &Line) -> i64 {
    line.quantity * line.price.unwrap_or(0)
}

impl Transaction for NewOrder {
    type Step = Is;
    type Register = Binds;
    const STEPS: &'static [Step<Is>] = &[
        step(Is::Begin, "begin").at_once(),
        step(Is::Customer, "customer").at_once(),
        step(Is::District, "district").at_once(),
        step(Is::NextOrder, "next_order").or_not(),
        step(Is::Items, "items").at_once(),
        step(Is::TakeStock, "take_stock").or_not(),
        step(Is::Stock, "stock"),
        step(Is::UpdateStock, "update_stock"),
        step(Is::Order, "order"),
        step(Is::NewOrder, "new_order").or_not(),
        step(Is::Lines, "lines"),
        step(Is::Commit, "commit"),
        step(Is::Rollback, "rollback"),
    ];
    const REGISTERS: &'static [Register<Binds>] = &[
        one(Binds::Warehouse, "w_id"),
        one(Binds::District, "d_id"),
        one(Binds::Customer, "c_id"),
        one(Binds::Order, "o_id"),
        one(Binds::LineCount, "o_ol_cnt"),
        one(Binds::AllLocal, "o_all_local"),
        each(Binds::LineNumber, "ol_number"),
        each(Binds::Item, "i_id"),
        each(Binds::SupplyWarehouse, "ol_supply_w_id"),
        each(Binds::Quantity, "ol_quantity"),
        each(Binds::Amount, "ol_amount"),
        each(Binds::DistrictInfo, "ol_dist_info"),
        each(Binds::StockWarehouse, "s_w_id"),
        each(Binds::StockItem, "s_i_id"),
        each(Binds::StockQuantity, "s_quantity"),
        each(Binds::Ordered, "ordered"),
        each(Binds::OrderCount, "order_cnt"),
        each(Binds::RemoteCount, "remote_cnt"),
    ];

    fn opened(&mut self, there: &dyn Fn(Is) -> bool) {
        self.can_take = there(Is::TakeStock);
    }

    fn draw(&mut self) {
        self.warehouse = self.inputs.warehouse();
        self.district = self.inputs.district();
        self.customer = self.inputs.customer();
        self.draw_lines();
    }

    fn begin(&mut self) {
        self.rolled_back = false;
        self.stock.clear();
        self.lines.iter_mut().for_each(|line| line.price = None);
    }

    fn turn(&self, step: Is) -> Result<Turn, String> {
        let when = |is, turn| if is { turn } else { Turn::Not };
        Ok(match step {
            Is::Items => Turn::Each(self.lines.len()),
            Is::TakeStock => when(self.takes(), Turn::Each(self.stock.len())),
            Is::Stock | Is::UpdateStock => when(!self.takes(), Turn::Each(self.stock.len())),
            Is::Lines => Turn::Each(self.existing_lines().len()),
            Is::Commit => when(!self.has_unused(), Turn::Once),
            Is::Rollback => when(self.has_unused(), Turn::Once),
            _ => Turn::Once,
        })
    }

    fn value(&self, register: Binds, element: usize) -> Bound<'_> {
        let line = self.lines.get(element);
        let stock = self.stock.get(element);
        let of_line =
            |value: fn(&Line) -> i64| line.map_or(Bound::Null, |l| Bound::Integer(value(l)));
        let of_stock =
            |value: fn(&Stock) -> i64| stock.map_or(Bound::Null, |s| Bound::Integer(value(s)));
        match register {
            Binds::Warehouse => Bound::Integer(self.warehouse),
            Binds::District => Bound::Integer(self.district),
            Binds::Customer => Bound::Integer(self.customer),
            Binds::Order => Bound::Integer(self.order),
            Binds::LineCount => Bound::Integer(self.lines.len() as i64),
            Binds::AllLocal => Bound::Integer(self.is_local().into()),
            Binds::LineNumber => Bound::Integer(element as i64 + 1),
            Binds::Item => of_line(|line| line.item),
            Binds::SupplyWarehouse => of_line(|line| line.supply),
            Binds::Quantity => of_line(|line| line.quantity),
            Binds::Amount => line.map_or(Bound::Null, |line| Bound::Decimal(amount(line), CENTS)),
            Binds::DistrictInfo => {
                let stock = line.and_then(|line| self.stock.get(line.stock));
                stock.map_or(Bound::Null, |stock| Bound::Text(&stock.info))
            }
            Binds::StockWarehouse => of_stock(|stock| stock.key.0),
            Binds::StockItem => of_stock(|stock| stock.key.1),
            Binds::StockQuantity => of_stock(|stock| stock.left),
            Binds::Ordered => of_stock(|stock| stock.ordered),
            Binds::OrderCount => of_stock(|stock| stock.orders),
            Binds::RemoteCount => stock.map_or(Bound::Null, |stock| {
                Bound::Integer(if stock.key.0 == self.warehouse { 0 } else { stock.orders })
            }),
        }
    }

    /// Columns: `customer`: c_discount, w_tax. `district`: d_tax, the order's number. `items`:
    /// i_id, i_price, i_data. `stock`, `take_stock`: s_w_id, s_i_id, s_quantity, information for
    /// the district, s_data. Further ones are of no matter here.
    fn cell(&mut self, step: Is, column: usize, value: &Value<'_>) -> Result<(), String> {
        let (rates, row) = (&mut self.rates, &mut self.row);
        match (step, column) {
            (Is::Customer, 0) => rates.discount = scaled(value, RATE)?,
            (Is::Customer, 1) => rates.warehouse_tax = scaled(value, RATE)?,
            (Is::District, 0) => rates.district_tax = scaled(value, RATE)?,
            (Is::District, 1) => self.order = integer(value)?,
            (Is::Items, 0) | (Is::Stock | Is::TakeStock, 1) => row.item = integer(value)?,
            (Is::Items, 1) => row.number = scaled(value, CENTS)?,
            (Is::Stock | Is::TakeStock, 0) => row.warehouse = integer(value)?,
            (Is::Stock | Is::TakeStock, 2) => row.number = integer(value)?,
            (Is::Stock | Is::TakeStock, 3) => {
                let Value::Text(text) = value else {
                    return Err(format!("information of a district is no text: {value:?}"));
                };
                row.info.clear();
                row.info.push_str(&String::from_utf8_lossy(text));
            }
            (Is::Items, 2) | (Is::Stock | Is::TakeStock, 4) => row.generic = is_generic(value),
            _ => {}
        }
        Ok(())
    }

    fn end_row(&mut self, step: Is) -> Result<(), String> {
        match step {
            Is::Items => self.end_item(),
            Is::Stock | Is::TakeStock => self.end_stock(),
            _ => {}
        }
        Ok(())
    }

    fn answered(&mut self, step: Is, rows: u32) -> Result<(), String> {
        match step {
            Is::Customer | Is::District if rows == 0 => Err(format!(
                "there is no customer {} of district {} of warehouse {}",
                self.customer, self.district, self.warehouse
            )),
            Is::Items => self.check_items(),
            Is::TakeStock => self.check_stock(false),
            Is::Stock => self.check_stock(true),
            Is::Rollback => {
                self.rolled_back = true;
                Ok(())
            }
            Is::Commit => {
                // A terminal shows it, and none is there.
                black_box(self.shown());
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn marks(&self) -> u32 {
        let lines = (self.lines.len() as u32) << LINES_SHIFT;
        let remote = if self.is_local() { 0 } else { REMOTE };
        lines | remote | if self.rolled_back { ROLLED_BACK } else { 0 }
    }

    fn receipt(&self) -> Option<Receipt> {
        let key = [self.warehouse, self.district, self.order];
        (!self.rolled_back).then(|| Receipt::new(&key))
    }
}
