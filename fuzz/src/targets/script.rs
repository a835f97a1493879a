//! The scripts that sessions execute while they receive the input.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use assay_drive::SessionError;
use assay_drive::session::{Session, SharedSession, Step};
use assay_model::Script;

/// Bits of an input's length that say how the script is executed.
const PREPARED: usize = 1;
const PIPELINED: usize = 2;
const OPERATIONS: u16 = 2;

static OF_SQL: LazyLock<[Arc<Script>; 4]> = LazyLock::new(|| {
    [0, PREPARED, PIPELINED, PREPARED | PIPELINED].map(|bits| {
        made(&format!(
            r#"{{"prepared": {}, "pipelined": {}, "operations": [
                {{"name": "a", "draws": [{{"name": "x", "integer": [1, 9]}}], "statements": [
                    {{"text": "select a, b from t where c = $1", "values": [0]}},
                    {{"text": "select count(*) from t"}}]}},
                {{"name": "b", "statements": [{{"text": "begin"}},
                    {{"text": "update t set a = 1"}}, {{"text": "commit"}}]}}]}}"#,
            bits & PREPARED != 0,
            bits & PIPELINED != 0
        ))
    })
});

static OF_SPARQL: LazyLock<Arc<Script>> = LazyLock::new(|| {
    made(
        r#"{"operations": [
            {"name": "a", "draws": [{"name": "x", "integer": [1, 9]}], "statements": [
                {"text": "select ?a ?b where { ?a ?b ${1} }", "values": [0]},
                {"text": "ask { ?a ?b ?c }"}]},
            {"name": "b", "statements": [{"text": "construct where { ?a ?b ?c }"},
                {"text": "insert data { <urn:a> <urn:b> 1 }"}]}]}"#,
    )
});

fn made(text: &str) -> Arc<Script> {
    Arc::new(serde_json::from_str(text).expect("the scripts above can be read"))
}

/// The script in SQL of an input.
pub fn of(input: &[u8]) -> Arc<Script> {
    Arc::clone(&OF_SQL[input.len() % OF_SQL.len()])
}

/// The script in SPARQL.
pub fn of_sparql() -> Arc<Script> {
    Arc::clone(&OF_SPARQL)
}

/// Executes all operations of a session, reads their rows and keeps those in `folder`.
pub fn play<S: Session + SharedSession>(session: &mut S, folder: &Path) {
    for operation in (0..OPERATIONS).chain(0..1) {
        if execute(session, operation).is_ok() {
            let fetched = session.fetched();
            if fetched.is_ok_and(|fetched| fetched.rows > 0) {
                let _ = session.keep(&folder.join("rows.arrow"));
            }
        }
        session.release();
    }
}

fn execute(session: &mut impl SharedSession, operation: u16) -> Result<(), SessionError> {
    let mut step = session.begin(operation)?;
    while step != Step::Ended {
        step = session.advance()?;
    }
    Ok(())
}
