//! Payment, Order-Status and Stock-Level.

use std::collections::BTreeSet;

use assay_model::ScriptOperation;
use assay_model::tpcc::{CUSTOMERS, DISTRICTS};

use super::{
    ALONE, OF_FOUR, Row, Sent, Who, attempt, find, is_near, mark, names, number, opened, operation,
};
use crate::session::value::Value;

const PLAYED: usize = 10_000;

fn payment(returns: bool) -> ScriptOperation {
    let mut statements: Vec<(&str, &[&str])> = vec![
        ("begin", &[]),
        ("district", &["w_id", "d_id", "h_amount"]),
        ("by_name", &["c_w_id", "c_d_id", "c_last"]),
        ("customer", &["c_w_id", "c_d_id", "c_id", "h_amount"]),
        ("warehouse", &["w_id", "h_amount"]),
        ("history", &["h_data", "h_amount", "c_id"]),
        ("commit", &[]),
    ];
    if !returns {
        statements.extend([("customer_row", &[][..]), ("places", &[])]);
    }
    operation(&statements)
}

fn paid(sent: &Sent) -> Vec<Row> {
    let (place, other) = (Value::Text(b"WAREHOUSE"), Value::Text(b"DISTRICT"));
    match sent.name.as_str() {
        "by_name" => (1..=sent.get("c_last").text().len() as i64 % 5 + 1)
            .map(|id| vec![number(id * 100)])
            .collect(),
        "district" => vec![vec![other]],
        "warehouse" => vec![vec![place]],
        "places" => vec![vec![place, other]],
        "customer" | "customer_row" => vec![vec![]],
        _ => Vec::new(),
    }
}

#[test]
fn payments_are_as_the_specification_draws_them() {
    let file = payment(true);
    let mut program = opened("tpcc.payment", &file, OF_FOUR).unwrap();
    let (mut by_name, mut remote, mut elsewhere) = (0, 0, 0);
    let (mut least, mut most) = (i64::MAX, 0);
    for _ in 0..PLAYED {
        program.draw();
        let sent = attempt(&mut *program, &file, &mut paid).unwrap();
        let customer = find(&sent, "customer");
        if let Some(asked) = sent.iter().find(|one| one.name == "by_name") {
            let there = asked.get("c_last").text().len() as i64 % 5 + 1;
            assert_eq!(customer.get("c_id").integer(), (there + 1) / 2 * 100);
            by_name += 1;
        }
        assert!((1..=CUSTOMERS).contains(&customer.get("c_id").integer()));
        let home = find(&sent, "warehouse").get("w_id").integer();
        let is_remote = customer.get("c_w_id").integer() != home;
        let own = find(&sent, "district").get("d_id").integer();
        elsewhere += usize::from(is_remote && customer.get("c_d_id").integer() != own);
        assert!(is_remote || customer.get("c_d_id").integer() == own);
        assert_eq!(mark(&*program, "remote"), u32::from(is_remote));
        assert_eq!(mark(&*program, "by_name") == 1, sent.len() == 7);
        remote += usize::from(is_remote);
        let history = find(&sent, "history");
        assert_eq!(history.get("h_data").text(), "WAREHOUSE    DISTRICT");
        let cents = history.get("h_amount").cents();
        (least, most) = (least.min(cents), most.max(cents));
    }
    assert!(is_near(f64::from(by_name) / PLAYED as f64, 0.6, PLAYED));
    assert!(is_near(remote as f64 / PLAYED as f64, 0.15, PLAYED));
    assert!(is_near(elsewhere as f64 / remote as f64, 0.9, remote));
    assert!((100..1_000).contains(&least) && (499_000..=500_000).contains(&most));
}

#[test]
fn with_one_warehouse_customers_of_other_districts_pay_too() {
    let file = payment(false);
    let mut program = opened("tpcc.payment", &file, ALONE).unwrap();
    let mut elsewhere = 0;
    for _ in 0..PLAYED {
        program.draw();
        let sent = attempt(&mut *program, &file, &mut paid).unwrap();
        let customer = find(&sent, "customer");
        assert_eq!(customer.get("c_w_id").integer(), 1);
        assert_eq!(find(&sent, "history").get("h_data").text(), "WAREHOUSE    DISTRICT");
        let own = find(&sent, "district").get("d_id");
        elsewhere += usize::from(customer.get("c_d_id") != own);
    }
    assert!(is_near(elsewhere as f64 / PLAYED as f64, 0.135, PLAYED));
}

#[test]
fn the_last_order_of_a_customer_is_looked_at() {
    let file = operation(&[
        ("begin", &[]),
        ("by_name", &["w_id", "d_id", "c_last"]),
        ("customer", &["c_id"]),
        ("order", &["c_id"]),
        ("lines", &["o_id"]),
        ("commit", &[]),
    ]);
    let mut program = opened("tpcc.order-status", &file, OF_FOUR).unwrap();
    let mut answer = |sent: &Sent| match sent.name.as_str() {
        "by_name" => [7, 8, 9].map(|id| vec![number(id)]).to_vec(),
        "order" => vec![vec![number(sent.get("c_id").integer() + 5)]],
        "customer" | "lines" => vec![vec![]],
        _ => Vec::new(),
    };
    let mut by_name = 0;
    for _ in 0..PLAYED {
        program.draw();
        let sent = attempt(&mut *program, &file, &mut answer).unwrap();
        let named = names(&sent).contains(&"by_name");
        assert_ne!(named, names(&sent).contains(&"customer"));
        let customer = find(&sent, "order").get("c_id").integer();
        assert!(!named || customer == 8);
        assert_eq!(find(&sent, "lines").get("o_id").integer(), customer + 5);
        assert_eq!(mark(&*program, "by_name"), u32::from(named));
        by_name += u32::from(named);
    }
    assert!(is_near(f64::from(by_name) / PLAYED as f64, 0.6, PLAYED));
    let refused = attempt(&mut *program, &file, &mut |_| Vec::new()).unwrap_err();
    assert!(refused.contains("is called") || refused.contains("no such customer"), "{refused}");
}

#[test]
fn a_terminal_looks_at_the_stock_of_its_own_district() {
    let file = operation(&[
        ("begin", &[]),
        ("district", &["w_id", "d_id"]),
        ("low_stock", &["w_id", "d_id", "threshold", "o_id_first", "d_next_o_id"]),
        ("commit", &[]),
    ]);
    let mut answer = |sent: &Sent| match sent.name.as_str() {
        "district" => vec![vec![number(3_001)]],
        _ => Vec::new(),
    };
    let mut thresholds = BTreeSet::new();
    for session in 0..80 {
        let who = Who { terminals: 1, session, ..OF_FOUR };
        let mut program = opened("tpcc.stock-level", &file, who).unwrap();
        let place = (i64::from(session) / 10 % 4 + 1, i64::from(session) % DISTRICTS + 1);
        for _ in 0..20 {
            program.draw();
            let sent = attempt(&mut *program, &file, &mut answer).unwrap();
            let asked = find(&sent, "low_stock");
            assert_eq!((asked.get("w_id").integer(), asked.get("d_id").integer()), place);
            assert_eq!(asked.get("o_id_first").integer(), 2_981);
            assert_eq!(asked.get("d_next_o_id").integer(), 3_001);
            thresholds.insert(asked.get("threshold").integer());
        }
    }
    assert_eq!(thresholds, (10..=20).collect());
}
