//! Delivery.

use std::collections::{BTreeSet, VecDeque};

use assay_model::ScriptOperation;
use assay_model::tpcc::DISTRICTS;

use super::{ALONE, Held, Row, Sent, attempt, find, mark, names, number, opened, operation};
use crate::session::value::Value;

fn file() -> ScriptOperation {
    operation(&[
        ("begin", &[]),
        ("oldest", &["w_id", "asked_d_id.#"]),
        ("orders", &["o_carrier_id", "d_id.#", "o_id.#"]),
        ("amounts", &["d_id.#", "o_id.#"]),
        ("customers", &["d_id.#", "c_id.#", "amount.#"]),
        ("commit", &[]),
    ])
}

/// Districts of which each answer to `oldest` has an order; the others have none.
struct Shop {
    answers: VecDeque<BTreeSet<i64>>,
}

impl Shop {
    fn new(answers: &[&[i64]]) -> Self {
        Self { answers: answers.iter().map(|there| there.iter().copied().collect()).collect() }
    }

    fn answer(&mut self, sent: &Sent) -> Vec<Row> {
        let districts = || sent.integers("d_id").into_iter().rev();
        match sent.name.as_str() {
            "oldest" => {
                let there = self.answers.pop_front().unwrap_or_default();
                let asked = sent.integers("asked_d_id").into_iter();
                asked
                    .filter(|district| there.contains(district))
                    .map(|district| vec![number(district), number(2_100 + district)])
                    .collect()
            }
            "orders" => districts().map(|d| vec![number(d), number(d * 3)]).collect(),
            "amounts" => districts()
                .map(|d| vec![number(d), Value::Exact((d * 1_000 + 5).into(), 2)])
                .collect(),
            _ => Vec::new(),
        }
    }
}

const ALL: &[i64] = &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

#[test]
fn ten_orders_are_delivered_in_one_transaction() {
    let file = file();
    let mut program = opened("tpcc.delivery", &file, ALONE).unwrap();
    let mut carriers = BTreeSet::new();
    for _ in 0..2_000 {
        program.draw();
        let mut shop = Shop::new(&[ALL]);
        let sent = attempt(&mut *program, &file, &mut |sent| shop.answer(sent)).unwrap();
        assert_eq!(names(&sent), ["begin", "oldest", "orders", "amounts", "customers", "commit"]);
        let paid = find(&sent, "customers");
        assert_eq!(paid.integers("c_id"), ALL.iter().map(|d| d * 3).collect::<Vec<_>>());
        let amounts: Vec<i64> = paid.list("amount").into_iter().map(Held::cents).collect();
        assert_eq!(amounts, ALL.iter().map(|d| d * 1_000 + 5).collect::<Vec<_>>());
        carriers.insert(find(&sent, "orders").get("o_carrier_id").integer());
        assert_eq!(mark(&*program, "skipped"), 0);
    }
    assert_eq!(carriers, (1..=10).collect());
}

#[test]
fn a_district_whose_order_was_taken_is_asked_again() {
    let file = file();
    let mut program = opened("tpcc.delivery", &file, ALONE).unwrap();
    program.draw();
    let mut shop = Shop::new(&[&[1, 2, 3], &[4, 5, 6, 7, 8, 9], &[10]]);
    let sent = attempt(&mut *program, &file, &mut |sent| shop.answer(sent)).unwrap();
    let asked: Vec<usize> =
        sent.iter().filter(|one| one.name == "oldest").map(|one| one.elements).collect();
    assert_eq!(asked, [10, 7, 1]);
    assert_eq!(find(&sent, "customers").integers("d_id"), ALL);
    assert_eq!(mark(&*program, "skipped"), 0);
}

#[test]
fn districts_without_a_new_order_are_skipped() {
    let file = file();
    let mut program = opened("tpcc.delivery", &file, ALONE).unwrap();
    program.draw();
    let mut shop = Shop::new(&[&[2, 9]]);
    let sent = attempt(&mut *program, &file, &mut |sent| shop.answer(sent)).unwrap();
    assert_eq!(find(&sent, "orders").integers("d_id"), [2, 9]);
    assert_eq!(mark(&*program, "skipped"), 8);
    let none = attempt(&mut *program, &file, &mut |_| Vec::new()).unwrap();
    assert_eq!(names(&none), ["begin", "oldest", "oldest", "oldest", "commit"]);
    assert_eq!(i64::from(mark(&*program, "skipped")), DISTRICTS);
}

#[test]
fn an_order_without_its_rows_is_told() {
    let file = file();
    for (empty, expected) in [("orders", "no order 2101"), ("amounts", "no line of order 2101")] {
        let mut program = opened("tpcc.delivery", &file, ALONE).unwrap();
        program.draw();
        let mut shop = Shop::new(&[ALL]);
        let mut answer =
            |sent: &Sent| if sent.name == empty { Vec::new() } else { shop.answer(sent) };
        let refused = attempt(&mut *program, &file, &mut answer).unwrap_err();
        assert!(refused.contains(expected), "{refused}");
    }
    let mut program = opened("tpcc.delivery", &file, ALONE).unwrap();
    program.draw();
    let mut strange = |sent: &Sent| match sent.name.as_str() {
        "oldest" => vec![vec![number(1), number(2)]],
        _ => vec![vec![number(2), number(2)]],
    };
    let refused = attempt(&mut *program, &file, &mut strange).unwrap_err();
    assert!(refused.contains("a row of district 2"), "{refused}");
}
