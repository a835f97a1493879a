//! What answers a New-Order: districts that count, items with prices, stock that falls.

use std::collections::BTreeMap;

use assay_model::tpcc::ITEMS;

use super::{Held, Row, Sent, number};
use crate::session::value::Value;

pub(super) const DISCOUNT: i64 = 1_250;
pub(super) const WAREHOUSE_TAX: i64 = 800;
pub(super) const DISTRICT_TAX: i64 = 1_999;

/// Committed and uncommitted alike, for one session.
#[derive(Default)]
pub(super) struct Database {
    next_order: BTreeMap<(i64, i64), i64>,
    /// Quantity, year to date, orders, remote ones.
    pub stock: BTreeMap<(i64, i64), [i64; 4]>,
}

pub(super) fn price(item: i64) -> i64 {
    item % 9_901 + 100
}

pub(super) fn info(key: (i64, i64)) -> String {
    format!("{:>24}", key.0 * 1_000_000 + key.1)
}

fn rate(units: i64) -> Value<'static> {
    Value::Exact(units.into(), 4)
}

impl Database {
    pub fn stock_of(&mut self, key: (i64, i64)) -> &mut [i64; 4] {
        self.stock.entry(key).or_insert([10 + key.1 % 91, 0, 0, 0])
    }

    fn row(&mut self, key: (i64, i64)) -> Row {
        let data = if key.1 % 10 == 0 { &b"an ORIGINAL"[..] } else { b"a copy" };
        let left = self.stock_of(key)[0];
        let text = Value::Text(info(key).leak().as_bytes());
        vec![number(key.0), number(key.1), number(left), text, Value::Text(data)]
    }

    fn keys(sent: &Sent) -> Vec<(i64, i64)> {
        sent.integers("s_w_id").into_iter().zip(sent.integers("s_i_id")).collect()
    }

    pub fn answer(&mut self, sent: &Sent) -> Vec<Row> {
        match sent.name.as_str() {
            "customer" => vec![vec![rate(DISCOUNT), rate(WAREHOUSE_TAX)]],
            "district" => {
                let key = (sent.get("w_id").integer(), sent.get("d_id").integer());
                let next = self.next_order.entry(key).or_insert(3_001);
                *next += 1;
                vec![vec![rate(DISTRICT_TAX), number(*next - 1)]]
            }
            "items" => {
                let there = sent.integers("i_id").into_iter().filter(|item| *item <= ITEMS);
                let original = Value::Text(b"ORIGINAL");
                there
                    .map(|i| vec![number(i), Value::Exact(price(i).into(), 2), original.clone()])
                    .collect()
            }
            "take_stock" => self.take(sent),
            "stock" => Self::keys(sent).into_iter().map(|key| self.row(key)).collect(),
            "update_stock" => self.update(sent),
            _ => Vec::new(),
        }
    }

    fn take(&mut self, sent: &Sent) -> Vec<Row> {
        let keys = Self::keys(sent);
        let ordered = sent.integers("ordered");
        let remote = sent.integers("remote_cnt");
        let each = keys.into_iter().zip(ordered.into_iter().zip(remote));
        each.map(|(key, (ordered, remote))| {
            let stock = self.stock_of(key);
            stock[0] += if stock[0] >= ordered + 10 { 0 } else { 91 } - ordered;
            stock[1] += ordered;
            stock[2] += 1;
            stock[3] += remote;
            self.row(key)
        })
        .collect()
    }

    fn update(&mut self, sent: &Sent) -> Vec<Row> {
        let columns = ["s_quantity", "ordered", "order_cnt", "remote_cnt"];
        let columns = columns.map(|column| sent.integers(column));
        for (place, key) in Self::keys(sent).into_iter().enumerate() {
            let stock = self.stock_of(key);
            stock[0] = columns[0][place];
            for column in 1..4 {
                stock[column] += columns[column][place];
            }
        }
        Vec::new()
    }
}

/// The lines of an order as they were written: item, warehouse, quantity, cents, information.
pub(super) fn lines(sent: &Sent) -> Vec<(i64, i64, i64, i64, String)> {
    let amounts: Vec<i64> = sent.list("ol_amount").into_iter().map(Held::cents).collect();
    let infos: Vec<&str> = sent.list("ol_dist_info").into_iter().map(Held::text).collect();
    let items = sent.integers("i_id");
    let (supply, quantities) = (sent.integers("ol_supply_w_id"), sent.integers("ol_quantity"));
    (0..sent.elements)
        .map(|n| (items[n], supply[n], quantities[n], amounts[n], infos[n].to_string()))
        .collect()
}
