//! A file that lacks what a program needs, or has what it does not know, is refused with the list of
//! what there is.

use assay_model::ScriptOperation;

use super::{ALONE, Who, opened, operation};

fn stock_level(statements: &[(&str, &[&str])]) -> ScriptOperation {
    let begin: &[(&str, &[&str])] = &[("begin", &[]), ("commit", &[])];
    operation(&[begin, statements].concat())
}

fn refused(statements: &[(&str, &[&str])]) -> String {
    opened("tpcc.stock-level", &stock_level(statements), ALONE).err().unwrap()
}

#[test]
fn a_missing_statement_is_told_with_those_there_are() {
    let message = refused(&[("low_stock", &[])]);
    assert_eq!(
        message,
        "tpcc.stock-level: no statement is named district: begin, commit, low_stock"
    );
}

#[test]
fn an_unknown_statement_is_told_with_those_it_asks() {
    let message = refused(&[("district", &[]), ("low_stock", &[]), ("lunch", &[])]);
    assert!(
        message.contains("\"lunch\", but these: begin, district, low_stock, commit"),
        "{message}"
    );
}

#[test]
fn an_unknown_register_is_told_with_those_there_are() {
    let message = refused(&[("district", &["w"]), ("low_stock", &[])]);
    assert!(message.contains("no register \"w\", but these: w_id, d_id, threshold"), "{message}");
    let message = refused(&[("district", &["w_id.#"]), ("low_stock", &[])]);
    assert!(message.contains("\"w_id.1\": there is one w_id, and no list"), "{message}");
    let zero = operation(&[("begin", &[]), ("oldest", &["asked_d_id.0"]), ("orders", &[])]);
    let zero = ScriptOperation {
        statements: [
            &zero.statements[..],
            &operation(&[("amounts", &[]), ("customers", &[]), ("commit", &[])]).statements,
        ]
        .concat(),
        ..zero
    };
    let message = opened("tpcc.delivery", &zero, ALONE).err().unwrap();
    assert!(message.contains("elements are numbered from 1"), "{message}");
}

#[test]
fn a_program_needs_its_warehouses() {
    let file = stock_level(&[("district", &[]), ("low_stock", &[])]);
    let message = opened("tpcc.stock-level", &file, Who { warehouses: 0, ..ALONE }).err().unwrap();
    assert!(message.contains("there are 0 warehouses"), "{message}");
    let parameters = std::collections::BTreeMap::new();
    let asked =
        crate::program::Asked { operation: &file, parameters: &parameters, seed: 1, session: 0 };
    let message = crate::program::open("tpcc.stock-level", asked).err().unwrap();
    assert!(message.contains("the parameter warehouses is not given"), "{message}");
}

#[test]
fn a_list_that_is_too_long_for_the_file_is_told() {
    let mut file = operation(&[
        ("begin", &[]),
        ("oldest", &["asked_d_id.#"]),
        ("orders", &[]),
        ("amounts", &[]),
        ("customers", &[]),
        ("commit", &[]),
    ]);
    file.statements.retain(|one| one.elements.is_none_or(|elements| elements < 10));
    let mut program = opened("tpcc.delivery", &file, ALONE).unwrap();
    program.draw();
    let message = super::attempt(&mut *program, &file, &mut |_| Vec::new()).unwrap_err();
    assert!(message.contains("no statement takes 10 elements"), "{message}");
}

#[test]
fn only_what_harms_nobody_is_sent_ahead() {
    let file = stock_level(&[("district", &["w_id"]), ("low_stock", &["d_next_o_id"])]);
    let mut program = opened("tpcc.stock-level", &file, ALONE).unwrap();
    program.draw();
    program.begin();
    let mut ahead = Vec::new();
    while program.next().unwrap().is_some() {
        ahead.push(program.may_go_on());
    }
    assert_eq!(ahead, [true, false, false, false]);
}
