//! Answers of SPARQL endpoints, in three forms, and whole sessions.

use assay_drive::session::sparql::SparqlSession;
use assay_drive::session::sparql::answer::{Form, Reader};
use assay_drive::session::sparql::config::{Config, Method, Results};
use assay_drive::session::sparql::term::Term;
use serde_json::Value;

use super::columns::choice;
use super::script;
use crate::peer::Peer;

type Rows = Vec<Vec<String>>;

thread_local! {
    static PEER: (Peer, u16) = Peer::at_port();
}

/// Where an answer is cut, then the answer in JSON. What serde_json refuses is refused.
pub fn json(bytes: &[u8]) {
    let (cut, bytes) = choice(bytes);
    let rows = the_same_when_cut(Form::Json, cut, bytes);
    if let Err(error) = serde_json::from_slice::<Value>(bytes) {
        // serde_json has no room for a number such as 1e999, nor for values in more than 128 others.
        let words = error.to_string();
        let is_limit =
            words.starts_with("number out of range") || words.starts_with("recursion limit");
        assert!(is_limit || rows.is_err(), "read, and serde_json says: {words}");
    }
}

/// Where an answer is cut, then the answer in lines.
pub fn lines(bytes: &[u8]) {
    let (cut, bytes) = choice(bytes);
    for form in [Form::Tsv, Form::NTriples] {
        let _ = the_same_when_cut(form, cut, bytes);
    }
}

fn the_same_when_cut(form: Form, cut: usize, bytes: &[u8]) -> Result<Rows, String> {
    let whole = read(form, &[bytes]);
    let (before, behind) = bytes.split_at(cut.min(bytes.len()));
    let parts = read(form, &[before, behind]);
    match (&whole, &parts) {
        (Ok(whole), Ok(parts)) => assert_eq!(whole, parts),
        (whole, parts) => assert_eq!(whole.is_ok(), parts.is_ok(), "{whole:?} {parts:?}"),
    }
    whole
}

/// The rows of an answer that comes in parts, each cell as it is kept.
fn read(form: Form, parts: &[&[u8]]) -> Result<Rows, String> {
    let (mut reader, mut bytes) = (Reader::new(form), Vec::new());
    let (mut rows, mut scratch) = (Vec::new(), Vec::new());
    for (index, part) in parts.iter().enumerate() {
        bytes.extend_from_slice(part);
        let read = reader.read(&bytes, index + 1 == parts.len(), &mut |cells: &[Term<'_>]| {
            rows.push(cells.iter().map(|cell| kept(cell, &mut scratch)).collect());
            Ok(())
        })?;
        bytes.drain(..read);
    }
    Ok(rows)
}

fn kept(cell: &Term<'_>, scratch: &mut Vec<u8>) -> String {
    let _ = (cell.value(), cell.shape());
    let mut written = Vec::new();
    cell.write(&mut written);
    format!("{:?} {:?}", cell.kept(scratch), String::from_utf8_lossy(&written))
}

/// How rows are asked for, then what an endpoint says to whatever it is asked.
pub fn session(bytes: &[u8]) {
    let (kind, bytes) = choice(bytes);
    PEER.with(|(peer, port)| {
        peer.say(bytes);
        let config = Config {
            host: "127.0.0.1".into(),
            port: *port,
            query: "/query".into(),
            update: Some("/update".into()),
            method: [Method::Post, Method::Get][kind & 1],
            results: [Results::Json, Results::Tsv][kind >> 1 & 1],
            ..Config::default()
        };
        if let Ok(mut session) = SparqlSession::open(config, script::of_sparql(), 1, 0) {
            script::play(&mut session, peer.folder());
        }
    });
}
