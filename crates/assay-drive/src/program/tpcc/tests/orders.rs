//! New-Order.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::ScriptOperation;
use assay_model::tpcc::{CUSTOMERS, DISTRICTS, ITEMS};
use proptest::prelude::*;

use super::super::inputs::Inputs;
use super::super::new_order::{Is, NewOrder};
use super::super::play::Transaction;
use super::database::{DISCOUNT, DISTRICT_TAX, Database, WAREHOUSE_TAX, info, lines, price};
use super::{
    ALONE, Held, OF_FOUR, Who, attempt, find, is_near, mark, names, number, opened, operation,
};
use crate::program::{Asked, Program};
use crate::session::value::Value;

const PLAYED: usize = 6_000;
const STOCK: &[&str] =
    &["s_w_id.#", "s_i_id.#", "s_quantity.#", "ordered.#", "order_cnt.#", "remote_cnt.#"];
const LINE: &[&str] = &[
    "o_id",
    "ol_number.#",
    "i_id.#",
    "ol_supply_w_id.#",
    "ol_quantity.#",
    "ol_amount.#",
    "ol_dist_info.#",
];

fn file(takes: bool) -> ScriptOperation {
    let mut statements: Vec<(&str, &[&str])> = vec![
        ("begin", &[]),
        ("customer", &["w_id", "d_id", "c_id"]),
        ("district", &["w_id", "d_id"]),
        ("items", &["i_id.#"]),
        ("stock", &["s_w_id.#", "s_i_id.#"]),
        ("update_stock", STOCK),
        ("order", &["o_id", "d_id", "w_id", "c_id", "o_ol_cnt", "o_all_local"]),
        ("lines", LINE),
        ("commit", &[]),
        ("rollback", &[]),
    ];
    if takes {
        statements.push(("take_stock", STOCK));
    }
    operation(&statements)
}

#[derive(Default)]
struct Counted {
    rolled_back: usize,
    lines: usize,
    remote: usize,
    repeated: usize,
    lengths: BTreeSet<i64>,
    orders: BTreeMap<(i64, i64), i64>,
}

/// Plays orders, and compares the stock with what each line by itself does to it.
fn counted(takes: bool, who: Who) -> Counted {
    let file = file(takes);
    let mut program = opened("tpcc.new-order", &file, who).unwrap();
    let (mut database, mut model) = (Database::default(), Database::default());
    let mut counted = Counted::default();
    for _ in 0..PLAYED {
        program.draw();
        let sent = attempt(&mut *program, &file, &mut |sent| database.answer(sent)).unwrap();
        let order = find(&sent, "order");
        let home = order.get("w_id").integer();
        let count = order.get("o_ol_cnt").integer();
        let rolled_back = sent.last().unwrap().name == "rollback";
        let written = find(&sent, "lines");
        assert_eq!(written.elements as i64, count - i64::from(rolled_back));
        let numbers: Vec<i64> = (1..=written.elements as i64).collect();
        assert_eq!(written.integers("ol_number"), numbers);
        let mut seen = BTreeSet::new();
        for (item, supply, quantity, amount, stock_info) in lines(written) {
            assert!((1..=ITEMS).contains(&item) && (1..=10).contains(&quantity));
            assert_eq!(amount, quantity * price(item));
            assert_eq!(stock_info, info((supply, item)));
            let stock = model.stock_of((supply, item));
            stock[0] = if stock[0] >= quantity + 10 { stock[0] } else { stock[0] + 91 } - quantity;
            stock[1] += quantity;
            stock[2] += 1;
            stock[3] += i64::from(supply != home);
            counted.remote += usize::from(supply != home);
            counted.repeated += usize::from(!seen.insert((supply, item)));
        }
        let next = counted.orders.entry((home, order.get("d_id").integer())).or_insert(3_000);
        *next += 1;
        assert_eq!(order.get("o_id").integer(), *next);
        assert!((1..=CUSTOMERS).contains(&order.get("c_id").integer()));
        let key = ["w_id", "d_id", "o_id"].map(|name| order.get(name).integer());
        let receipt = program.receipt();
        assert_eq!(receipt.map(|one| one.values().to_vec()), (!rolled_back).then(|| key.to_vec()));
        assert_eq!(mark(&*program, "rolled_back"), u32::from(rolled_back));
        assert_eq!(i64::from(mark(&*program, "lines")), count);
        assert_eq!(mark(&*program, "remote") == 0, order.get("o_all_local") == &Held::Integer(1));
        counted.rolled_back += usize::from(rolled_back);
        counted.lines += count as usize;
        counted.lengths.insert(count);
    }
    assert_eq!(database.stock, model.stock);
    counted
}

#[test]
fn orders_are_as_the_specification_draws_them() {
    for takes in [false, true] {
        let counts = counted(takes, OF_FOUR);
        assert!(is_near(counts.rolled_back as f64 / PLAYED as f64, 0.01, PLAYED));
        assert!(is_near(counts.remote as f64 / counts.lines as f64, 0.01, counts.lines));
        assert!((9.8..10.2).contains(&(counts.lines as f64 / PLAYED as f64)));
        assert_eq!(counts.lengths, (5..=15).collect());
        assert_eq!(counts.orders.len() as i64, 4 * DISTRICTS);
        assert!(counts.repeated > 0, "some orders have two lines of the same stock");
    }
}

#[test]
fn with_one_warehouse_nothing_is_remote() {
    assert_eq!(counted(true, ALONE).remote, 0);
}

#[test]
fn statements_are_as_few_as_the_file_allows() {
    let mut database = Database::default();
    for (takes, expected) in [(true, 8), (false, 9)] {
        let file = file(takes);
        let mut program = opened("tpcc.new-order", &file, ALONE).unwrap();
        program.draw();
        let sent = attempt(&mut *program, &file, &mut |sent| database.answer(sent)).unwrap();
        assert_eq!(sent.len(), expected, "{:?}", names(&sent));
    }
}

#[test]
fn an_attempt_that_is_made_again_is_of_the_same_order() {
    let file = file(true);
    let mut program = opened("tpcc.new-order", &file, OF_FOUR).unwrap();
    program.draw();
    let played = |program: &mut dyn Program| {
        attempt(program, &file, &mut |sent| Database::default().answer(sent)).unwrap()
    };
    let first = played(&mut *program);
    assert_eq!(first, played(&mut *program));
    program.draw();
    assert_ne!(first, played(&mut *program));
}

#[test]
fn a_statement_without_a_list_is_sent_once_for_each_line() {
    let file = operation(&[
        ("begin", &[]),
        ("customer", &[]),
        ("district", &["w_id", "d_id"]),
        ("items", &["i_id"]),
        ("stock", &["s_w_id", "s_i_id"]),
        ("update_stock", &["s_i_id", "s_quantity"]),
        ("order", &[]),
        ("lines", &["ol_number", "ol_amount", "i_id"]),
        ("commit", &[]),
        ("rollback", &[]),
    ]);
    let mut program = opened("tpcc.new-order", &file, ALONE).unwrap();
    program.draw();
    let mut answer = |sent: &super::Sent| match sent.name.as_str() {
        "items" => {
            vec![vec![number(sent.get("i_id").integer()), Value::Exact(100, 2), Value::Text(b"")]]
        }
        "stock" => {
            let key = ["s_w_id", "s_i_id"].map(|name| number(sent.get(name).integer()));
            vec![[key.to_vec(), vec![number(50), Value::Text(b""), Value::Text(b"")]].concat()]
        }
        "district" | "customer" => vec![vec![number(0), number(1)]],
        _ => Vec::new(),
    };
    let sent = attempt(&mut *program, &file, &mut answer).unwrap();
    let written: Vec<i64> = sent
        .iter()
        .filter(|one| one.name == "lines")
        .map(|one| one.get("ol_number").integer())
        .collect();
    assert_eq!(written, (1..=i64::from(mark(&*program, "lines"))).collect::<Vec<_>>());
}

#[test]
fn what_a_terminal_shows_is_exact() {
    let file = file(true);
    let parameters = [(String::from("warehouses"), 1)].into();
    let asked = Asked { operation: &file, parameters: &parameters, seed: 5, session: 0 };
    let mut order = NewOrder::new(Inputs::new(asked).unwrap());
    order.draw();
    order.begin();
    let cells = |order: &mut NewOrder, step, row: &[Value<'_>]| {
        for (column, value) in row.iter().enumerate() {
            order.cell(step, column, value).unwrap();
        }
        order.end_row(step).unwrap();
    };
    cells(&mut order, Is::Customer, &[Value::Exact(125, 3), Value::Exact(8, 2)]);
    cells(&mut order, Is::District, &[Value::Exact(1_999, 4), number(7)]);
    let items: Vec<i64> = (0..15)
        .filter_map(|line| match order.value(super::super::new_order::Binds::Item, line) {
            crate::session::value::Bound::Integer(item) => Some(item),
            _ => None,
        })
        .collect();
    let mut sum = 0;
    for (place, item) in items.iter().enumerate() {
        let row = [number(*item), Value::Exact(price(*item).into(), 2), Value::Text(b"ORIGINAL")];
        cells(&mut order, Is::Items, &row);
        let quantity = match order.value(super::super::new_order::Binds::Quantity, place) {
            crate::session::value::Bound::Integer(quantity) => quantity,
            other => panic!("{other:?}"),
        };
        sum += quantity * price(*item);
    }
    let factor = (10_000 - DISCOUNT) * (10_000 + WAREHOUSE_TAX + DISTRICT_TAX);
    order.answered(Is::Items, items.len() as u32).unwrap();
    assert_eq!(order.shown(), (i128::from(sum) * i128::from(factor), 0));
}

#[test]
fn what_should_be_there_and_is_not_is_told() {
    let file = file(false);
    for (empty, expected) in
        [("customer", "no customer"), ("items", "no item"), ("stock", "no stock of (1,")]
    {
        let mut program = opened("tpcc.new-order", &file, ALONE).unwrap();
        program.draw();
        let mut database = Database::default();
        let mut answer = |sent: &super::Sent| {
            if sent.name == empty { Vec::new() } else { database.answer(sent) }
        };
        let refused = attempt(&mut *program, &file, &mut answer).unwrap_err();
        assert!(refused.contains(expected), "{refused}");
    }
}

proptest! {
    #[test]
    fn any_seed_and_session_orders_within_bounds(seed: u64, session in 0_u32..200, warehouses in 1_i64..50, terminals in 0_i64..2) {
        let file = file(true);
        let who = Who { warehouses, terminals, seed, session };
        let mut program = opened("tpcc.new-order", &file, who).unwrap();
        let mut database = Database::default();
        for _ in 0..3 {
            program.draw();
            let sent = attempt(&mut *program, &file, &mut |sent| database.answer(sent)).unwrap();
            let order = find(&sent, "order");
            let home = order.get("w_id").integer();
            prop_assert!((1..=warehouses).contains(&home));
            prop_assert!(terminals == 0 || home == i64::from(session) / 10 % warehouses + 1);
            prop_assert!((1..=DISTRICTS).contains(&order.get("d_id").integer()));
            for (_, supply, ..) in lines(find(&sent, "lines")) {
                prop_assert!((1..=warehouses).contains(&supply));
            }
        }
    }
}
