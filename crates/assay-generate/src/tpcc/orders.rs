//! Orders, those that are new, and their lines.

use arrow_array::ArrayRef;
use assay_model::tpcc::{CUSTOMERS, FIRST_NEW_ORDER, ITEMS, LINES, uniform};

use super::draws::{Purpose, permutation};
use super::{DIST_INFO, MOMENT, Place, SMALL_MONEY, same};
use crate::columns::{
    Columns, Kind, Texts, decimal, moments, moments_or_null, whole, whole_or_null,
};

pub(super) const ORDERS: Columns = &[
    ("o_id", Kind::Whole),
    ("o_d_id", Kind::Whole),
    ("o_w_id", Kind::Whole),
    ("o_c_id", Kind::Whole),
    ("o_entry_d", Kind::Moment),
    ("o_carrier_id", Kind::WholeOrNull),
    ("o_ol_cnt", Kind::Whole),
    ("o_all_local", Kind::Whole),
];

pub(super) fn orders(place: Place) -> Vec<ArrayRef> {
    let mut random = place.sequence(Purpose::Order);
    let customers = permutation(&mut random, CUSTOMERS);
    let carriers =
        (1..=CUSTOMERS).map(|id| (id < FIRST_NEW_ORDER).then(|| uniform(&mut random, (1, 10))));
    vec![
        whole(1..=CUSTOMERS),
        whole(same(place.district(), CUSTOMERS)),
        whole(same(place.warehouse, CUSTOMERS)),
        whole(customers.into_iter()),
        moments(same(MOMENT, CUSTOMERS)),
        whole_or_null(carriers),
        whole(line_counts(place)),
        whole(same(1, CUSTOMERS)),
    ]
}

/// How many lines each order of a district has: orders and lines are made apart.
fn line_counts(place: Place) -> impl Iterator<Item = i64> {
    let mut random = place.sequence(Purpose::LineCounts);
    (0..CUSTOMERS).map(move |_| uniform(&mut random, LINES))
}

pub(super) const NEW_ORDER: Columns =
    &[("no_o_id", Kind::Whole), ("no_d_id", Kind::Whole), ("no_w_id", Kind::Whole)];

pub(super) fn new_order(place: Place) -> Vec<ArrayRef> {
    let rows = CUSTOMERS - FIRST_NEW_ORDER + 1;
    vec![
        whole(FIRST_NEW_ORDER..=CUSTOMERS),
        whole(same(place.district(), rows)),
        whole(same(place.warehouse, rows)),
    ]
}

pub(super) const ORDER_LINE: Columns = &[
    ("ol_o_id", Kind::Whole),
    ("ol_d_id", Kind::Whole),
    ("ol_w_id", Kind::Whole),
    ("ol_number", Kind::Whole),
    ("ol_i_id", Kind::Whole),
    ("ol_supply_w_id", Kind::Whole),
    ("ol_delivery_d", Kind::MomentOrNull),
    ("ol_quantity", Kind::Whole),
    ("ol_amount", Kind::Decimal(SMALL_MONEY.0, SMALL_MONEY.1)),
    ("ol_dist_info", Kind::Text),
];

pub(super) fn order_line(place: Place) -> Vec<ArrayRef> {
    let mut random = place.sequence(Purpose::OrderLine);
    let lines_max = (CUSTOMERS * LINES.1) as usize;
    let [mut orders, mut numbers, mut items, mut amounts] =
        std::array::from_fn(|_| Vec::with_capacity(lines_max));
    let mut infos = Texts::new(lines_max, DIST_INFO as i64);
    for (order, lines) in (1..).zip(line_counts(place)) {
        for number in 1..=lines {
            orders.push(order);
            numbers.push(number);
            items.push(uniform(&mut random, (1, ITEMS)));
            let is_new = order >= FIRST_NEW_ORDER;
            amounts.push(if is_new { uniform(&mut random, (1, 999_999)) } else { 0 });
            infos.letters(&mut random, DIST_INFO);
        }
    }
    let rows = orders.len() as i64;
    let warehouse = whole(same(place.warehouse, rows));
    let delivered = orders.iter().map(|order| (*order < FIRST_NEW_ORDER).then_some(MOMENT));
    let delivered = moments_or_null(delivered);
    vec![
        whole(orders.into_iter()),
        whole(same(place.district(), rows)),
        ArrayRef::clone(&warehouse),
        whole(numbers.into_iter()),
        whole(items.into_iter()),
        warehouse,
        delivered,
        whole(same(5, rows)),
        decimal(SMALL_MONEY, amounts.into_iter()),
        infos.finish(),
    ]
}
