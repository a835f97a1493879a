//! The session that speaks the SPARQL protocol, played by a server of a few lines.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use assay_drive::session::sparql::SparqlSession;
use assay_drive::session::sparql::answer::{Form, Reader};
use assay_drive::session::sparql::config::{Config, Method, Results};
use assay_drive::session::sparql::load::load;
use assay_drive::session::sparql::term::Term;
use assay_drive::{Session, SessionError};
use assay_model::Script;
use proptest::prelude::*;
use serde_json::{Value, json};

const ROWS: &str = "application/sparql-results+json";
const BODY: &str =
    r#"{"head":{"vars":["a"]},"results":{"bindings":[{"a":{"type":"literal","value":"x"}}]}}"#;

/// What a server does with one request.
#[derive(Clone)]
enum Answers {
    /// Sends these bytes.
    With(String),
    /// Sends these bytes, and closes the line.
    Closing(String),
}

fn good(kind: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}")
}

/// One request: its head and its body.
type Request = (String, String);

fn request(line: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while !bytes.ends_with(b"\r\n\r\n") {
        match line.read(&mut byte) {
            Ok(1) => bytes.push(byte[0]),
            _ => return None,
        }
    }
    let head = String::from_utf8(bytes).unwrap();
    let field = |name: &str| {
        head.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().to_owned())
    };
    let mut body = Vec::new();
    if let Some(length) = field("Content-Length:") {
        body.resize(length.parse().unwrap(), 0);
        line.read_exact(&mut body).unwrap();
    } else if field("Transfer-Encoding:").is_some() {
        while !body.ends_with(b"0\r\n\r\n") {
            line.read_exact(&mut byte).unwrap();
            body.push(byte[0]);
        }
    }
    Some((head, String::from_utf8(body).unwrap()))
}

/// A server that answers each line's requests in turn, and tells what it was asked.
fn served(lines: Vec<Vec<Answers>>) -> (Config, JoinHandle<Vec<Request>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = thread::spawn(move || {
        let mut asked = Vec::new();
        for answers in lines {
            let (mut line, _) = listener.accept().unwrap();
            for answer in answers {
                let Some(request) = request(&mut line) else { break };
                asked.push(request);
                match answer {
                    Answers::With(text) => line.write_all(text.as_bytes()).unwrap(),
                    Answers::Closing(text) => {
                        line.write_all(text.as_bytes()).unwrap();
                        break;
                    }
                }
            }
        }
        asked
    });
    let config = Config {
        host: "127.0.0.1".into(),
        port,
        query: "/query".into(),
        update: Some("/update".into()),
        ..Config::default()
    };
    (config, server)
}

fn session(config: Config, texts: &[&str]) -> SparqlSession {
    let operations: Vec<Value> = texts
        .iter()
        .enumerate()
        .map(|(index, text)| json!({"name": format!("q{index}"), "statements": [{"text": text}]}))
        .collect();
    let script: Script = serde_json::from_value(json!({ "operations": operations })).unwrap();
    SparqlSession::open(config, Arc::new(script), 1, 0).unwrap()
}

fn error(session: &mut SparqlSession) -> SessionError {
    let executed = session.execute(0);
    executed.and_then(|()| session.fetched().map(drop)).unwrap_err()
}

#[test]
fn requests_share_a_line_as_long_as_the_server_keeps_it() {
    let answer = || Answers::With(good(ROWS, BODY));
    let closing = format!("HTTP/1.1 200 OK\r\nConnection: close\r\n{}", &good(ROWS, BODY)[17..]);
    let (config, server) =
        served(vec![vec![answer(), answer(), Answers::Closing(closing)], vec![answer()]]);
    let mut session = session(config, &["SELECT ?a {}"]);
    for _ in 0..4 {
        session.execute(0).unwrap();
        assert_eq!(session.fetched().unwrap().rows, 1);
        session.release();
    }
    drop(session);
    assert_eq!(server.join().unwrap().len(), 4);
}

#[test]
fn a_server_that_never_ends_its_words_is_not_listened_to() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = thread::spawn(move || {
        let (mut line, _) = listener.accept().unwrap();
        request(&mut line).unwrap();
        line.write_all(b"HTTP/1.1 500 No\r\n\r\nall is lost ").unwrap();
        let more = vec![b'.'; 1 << 20];
        while line.write_all(&more).is_ok() {}
    });
    let config =
        Config { host: "127.0.0.1".into(), port, query: "/query".into(), ..Config::default() };
    let failure = error(&mut session(config, &["SELECT ?a {}"]));
    assert_eq!(failure.class, "http_500");
    assert!(failure.message.starts_with("all is lost .."), "{}", failure.message);
    server.join().unwrap();
}

#[test]
fn several_statements_are_answered_in_turn_and_the_last_is_kept() {
    let text = "<s> <p> <o> .\n<s> <p> \"2\" .\n";
    let (config, server) = served(vec![vec![
        Answers::With(good("text/tab-separated-values", "?a\n<x>\n<y>\n<z>\n")),
        Answers::With("HTTP/1.1 204 No Content\r\n\r\n".into()),
        Answers::With(good("application/n-triples", text)),
    ]]);
    let config = Config { results: Results::Tsv, ..config };
    let statements =
        json!([{"text": "SELECT ?a {}"}, {"text": "CLEAR ALL"}, {"text": "DESCRIBE <s>"}]);
    let script = json!({"operations": [{"name": "a", "statements": statements}]});
    let script = Arc::new(serde_json::from_value(script).unwrap());
    let mut session = SparqlSession::open(config, script, 1, 0).unwrap();
    session.execute(0).unwrap();
    let rows: Vec<u32> = session.statements().iter().map(|time| time.rows).collect();
    assert_eq!(rows, [3, 0, 2]);
    assert_eq!(session.fetched().unwrap().rows, 5);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.arrow");
    session.keep(&path).unwrap();
    let file = std::fs::File::open(path).unwrap();
    let kept = arrow_ipc::reader::FileReader::try_new(file, None).unwrap().next().unwrap().unwrap();
    assert_eq!((kept.num_rows(), kept.num_columns()), (2, 3));
    drop(session);
    let asked = server.join().unwrap();
    assert!(asked[1].0.starts_with("POST /update HTTP/1.1"));
    assert_eq!(asked[1].1, "CLEAR ALL");
}

#[test]
fn a_query_that_finds_its_line_closed_is_sent_once_more_and_an_update_is_not() {
    let once = || vec![Answers::Closing(good(ROWS, BODY))];
    let (config, server) = served(vec![once(), once(), once()]);
    let mut session = session(config, &["SELECT ?a {}", "CLEAR ALL"]);
    session.execute(0).unwrap();
    session.release();
    // The server closed the line without a word; the session finds out when it asks again.
    session.execute(0).unwrap();
    session.release();
    let failed = session.execute(1).unwrap_err();
    assert_eq!(failed.class, "08006");
    session.release();
    session.execute(0).unwrap();
    drop(session);
    let asked = server.join().unwrap();
    assert!(asked.iter().all(|(head, _)| head.starts_with("POST /query")));
}

#[test]
fn a_first_request_that_is_not_answered_has_failed() {
    let (config, server) = served(vec![vec![Answers::Closing(String::new())]]);
    let failure = error(&mut session(config, &["SELECT ?a {}"]));
    assert_eq!(failure.class, "08006");
    assert!(failure.message.contains("without an answer"), "{}", failure.message);
    assert_eq!(server.join().unwrap().len(), 1);
}

#[test]
fn an_answer_that_ends_early_has_failed() {
    let whole = good(ROWS, BODY);
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n";
    for cut in [&whole[..whole.len() - 1], &whole[..40], chunked] {
        let (config, server) = served(vec![vec![Answers::Closing(cut.into())]]);
        let failure = error(&mut session(config, &["SELECT ?a {}"]));
        assert!(failure.message.contains("ended early"), "{}", failure.message);
        server.join().unwrap();
    }
}

#[test]
fn what_the_server_refuses_fails_and_the_line_is_used_on() {
    let refused = "HTTP/1.1 400 Bad Request\r\nContent-Length: 5\r\n\r\nwrong";
    let cut = good(ROWS, BODY).replacen("\r\n", "\r\nX-SPARQL-MaxRows: 1\r\n", 1);
    let page = good("text/html", "<html>");
    let (config, server) = served(vec![vec![
        Answers::With(refused.into()),
        Answers::With(cut),
        Answers::With(page),
        Answers::With(good(ROWS, "{\"head\"")),
        Answers::With(good(ROWS, BODY)),
    ]]);
    let mut session = session(config, &["SELECT ?a {}"]);
    for expected in ["wrong (HTTP 400)", "after 1 rows", "no SPARQL endpoint", "before its end"] {
        let failure = error(&mut session);
        assert!(failure.message.contains(expected), "{}", failure.message);
        session.release();
    }
    session.execute(0).unwrap();
    assert_eq!(session.fetched().unwrap().rows, 1);
    drop(session);
    assert_eq!(server.join().unwrap().len(), 5);
}

#[test]
fn a_canceller_ends_what_runs() {
    let (config, server) = served(vec![vec![
        Answers::With(good(ROWS, BODY)),
        Answers::With(String::new()),
        Answers::With(String::new()),
    ]]);
    let mut session = session(config, &["SELECT ?a {}"]);
    session.execute(0).unwrap();
    session.release();
    let canceller = session.canceller().unwrap();
    let cancelling = thread::spawn(move || {
        thread::sleep(Duration::from_millis(50));
        canceller();
    });
    // A query on a line that served before: closed by us, it is not sent once more.
    let failure = session.execute(0).unwrap_err();
    assert_eq!(failure.class, "08006");
    cancelling.join().unwrap();
    assert_eq!(server.join().unwrap().len(), 2);
}

#[test]
fn a_value_that_cannot_be_written_fails_the_operation_alone() {
    let (config, server) = served(vec![vec![Answers::With(good(ROWS, BODY))]]);
    let script = json!({"operations": [
        {"name": "a", "statements": [{"text": "DESCRIBE <${1}>", "values": [0]}],
         "draws": [{"name": "iri", "choice": ["a> <b"]}]},
        {"name": "b", "statements": [{"text": "SELECT ?a {}"}]}]});
    let script = Arc::new(serde_json::from_value(script).unwrap());
    let mut session = SparqlSession::open(config, script, 1, 0).unwrap();
    let failure = session.execute(0).unwrap_err();
    assert!(failure.message.starts_with("parameter iri cannot be written"), "{}", failure.message);
    session.release();
    session.execute(1).unwrap();
    drop(session);
    server.join().unwrap();
}

#[test]
fn nobody_there_says_so() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let config =
        Config { host: "127.0.0.1".into(), port, query: "/query".into(), ..Config::default() };
    let script = Arc::new(Script::default());
    let failure = SparqlSession::open(config, script, 1, 0).err().unwrap();
    assert_eq!(failure.class, "08001");
    assert!(failure.message.contains("is it running"), "{}", failure.message);
}

#[test]
fn a_get_has_the_query_in_its_address() {
    let (config, server) = served(vec![vec![Answers::With(good(ROWS, BODY))]]);
    let config = Config { query: "/sparql?format=json".into(), method: Method::Get, ..config };
    session(config, &["SELECT ?a { ?a ?b \"\u{e9} +\" }"]).execute(0).unwrap();
    let asked = server.join().unwrap();
    let line = asked[0].0.lines().next().unwrap();
    let query = "SELECT%20%3Fa%20%7B%20%3Fa%20%3Fb%20%22%C3%A9%20%2B%22%20%7D";
    assert_eq!(line, format!("GET /sparql?format=json&query={query} HTTP/1.1"));
}

#[test]
fn statements_are_loaded_as_the_bytes_that_they_are() {
    use arrow_array::{RecordBatch, RecordBatchIterator, StringArray};
    let made = "HTTP/1.1 204 No Content\r\n\r\n".to_owned();
    let (config, server) = served(vec![vec![Answers::With(made)]]);
    let batch = |lines: &[&str]| {
        let column = Arc::new(StringArray::from(lines.to_vec()));
        RecordBatch::try_from_iter([("line", column as _)]).unwrap()
    };
    let lines = batch(&["<cut> <p> <o> .\n", "<a> <p> <o> .\n", "<b> <p> \"\u{e9}\" .\n"]);
    let batches = [lines.slice(1, 2), batch(&[]), batch(&["<c> <p> <o> .\n"])];
    let rows = RecordBatchIterator::new(batches.map(Ok), lines.schema());
    assert_eq!(load(&config, "/store?graph=urn:x", rows, 1), Ok(3));
    let asked = server.join().unwrap();
    assert!(asked[0].0.starts_with("POST /store?graph=urn:x HTTP/1.1\r\n"));
    let parts = [
        "1d\r\n<a> <p> <o> .\n<b> <p> \"\u{e9}\" .\n\r\n",
        "e\r\n<c> <p> <o> .\n\r\n",
        "0\r\n\r\n",
    ];
    assert_eq!(asked[0].1, parts.concat());
}

#[test]
fn a_server_that_refuses_what_is_loaded_says_why() {
    use arrow_array::{RecordBatch, RecordBatchIterator, StringArray};
    let refused = "HTTP/1.1 400 Bad\r\nContent-Length: 10\r\n\r\nbad line 1".to_owned();
    let (config, server) = served(vec![vec![Answers::With(refused)]]);
    let column = Arc::new(StringArray::from(vec!["x\n"]));
    let batch = RecordBatch::try_from_iter([("line", column as _)]).unwrap();
    let rows = RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
    let message = load(&config, "/store", rows, 2).unwrap_err().to_string();
    assert!(message.contains("bad line 1 (HTTP 400)"), "{message}");
    server.join().unwrap();
}

/// Rows as texts, or why they cannot be read.
fn read(form: Form, parts: &[&[u8]]) -> Result<Vec<Vec<String>>, String> {
    let (mut reader, mut rows, mut rest) = (Reader::new(form), Vec::new(), Vec::new());
    let mut take = |cells: &[Term<'_>]| {
        let write = |cell: &Term<'_>| {
            let mut out = Vec::new();
            cell.write(&mut out);
            String::from_utf8(out).unwrap()
        };
        rows.push(cells.iter().map(write).collect());
        Ok(())
    };
    for (number, part) in parts.iter().enumerate() {
        rest.extend_from_slice(part);
        let read = reader.read(&rest, number + 1 == parts.len(), &mut take)?;
        rest.drain(..read);
    }
    Ok(rows)
}

/// The same by another reader of JSON; `None`: there is no such answer.
fn by_serde(text: &str) -> Option<Vec<Vec<String>>> {
    let document: Value = serde_json::from_str(text).ok()?;
    let names = document.get("head")?.get("vars")?.as_array()?;
    let names: Vec<&str> = names.iter().map(Value::as_str).collect::<Option<_>>()?;
    let rows = document.get("results")?.get("bindings")?.as_array()?;
    let row = |row: &Value| {
        let row = row.as_object()?;
        let cell = |name: &&str| match row.get(*name) {
            None => Some(String::new()),
            Some(term) => {
                let value = term.get("value")?.as_str()?;
                let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
                let escaped = escaped.replace('\n', "\\n").replace('\r', "\\r");
                match term.get("type")?.as_str()? {
                    "uri" => Some(format!("<{value}>")),
                    "bnode" => Some("_:".into()),
                    _ => Some(match term.get("xml:lang") {
                        Some(tag) => format!("\"{escaped}\"@{}", tag.as_str()?),
                        None => format!("\"{escaped}\""),
                    }),
                }
            }
        };
        names.iter().map(cell).collect()
    };
    rows.iter().map(row).collect()
}

#[test]
fn a_number_that_is_skipped_may_be_of_any_size() {
    let document = b"{\"aside\":[1e999999,-0.1E-9999],\"head\":{\"vars\":[\"a\"]},\"results\":{\"bindings\":[{}]}}";
    assert_eq!(read(Form::Json, &[document]).unwrap(), [[""]]);
}

/// Any value of JSON.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(any::<String>(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn term() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<String>().prop_map(|text| json!({"type": "literal", "value": text})),
        "[a-z:/.]{1,12}".prop_map(|text| json!({"value": text, "type": "uri"})),
        "[a-z]{1,4}".prop_map(|text| json!({"type": "bnode", "value": text})),
        (any::<String>(), "[a-z]{2}")
            .prop_map(|(text, tag)| json!({"type": "literal", "xml:lang": tag, "value": text})),
    ]
}

fn document() -> impl Strategy<Value = String> {
    let row = proptest::collection::btree_map("[abc]", term(), 0..4);
    let rows = proptest::collection::vec(row, 0..6);
    (rows, any_value(), any_value(), any::<bool>()).prop_map(|(rows, one, other, pretty)| {
        let results = json!({"a": other, "bindings": rows, "ordered": true});
        let document = json!({
            "aside": one, "head": {"link": [], "vars": ["a", "b", "c"]}, "results": results,
        });
        let written = if pretty { serde_json::to_string_pretty } else { serde_json::to_string };
        written(&document).unwrap()
    })
}

proptest! {
    #[test]
    fn json_is_read_as_serde_reads_it(text in document(), cut in any::<prop::sample::Index>()) {
        let expected = by_serde(&text);
        prop_assert!(expected.is_some());
        prop_assert_eq!(read(Form::Json, &[text.as_bytes()]).ok(), expected.clone());
        let (before, behind) = text.as_bytes().split_at(cut.index(text.len()));
        prop_assert_eq!(read(Form::Json, &[before, behind]).ok(), expected);
    }

    #[test]
    fn what_was_damaged_is_refused_where_serde_refuses_it(
        text in document(), place in any::<prop::sample::Index>(), byte in any::<u8>(),
    ) {
        let mut bytes = text.into_bytes();
        let place = place.index(bytes.len());
        bytes[place] = byte;
        // A number such as 1e999 is one of JSON, though serde has no room for it.
        let refused = serde_json::from_slice::<Value>(&bytes)
            .is_err_and(|error| !error.to_string().starts_with("number out of range"));
        prop_assert!(!refused || read(Form::Json, &[&bytes]).is_err());
    }

    #[test]
    fn garbage_never_breaks_a_reader(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        for form in [Form::Json, Form::Tsv, Form::NTriples] {
            let _ = read(form, &[&bytes]);
            let _ = read(form, &[b"?a\t?b\n", &bytes]);
            let _ = read(form, &[b"{\"head\":{\"vars\":[\"a\"]},\"results\":{\"bindings\":[", &bytes]);
        }
    }

    #[test]
    fn lines_are_the_same_wherever_they_are_cut(
        texts in proptest::collection::vec(any::<String>(), 1..6), cut in any::<prop::sample::Index>(),
    ) {
        let quoted = |text: &String| {
            let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
            format!("\"{}\"", escaped.replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t"))
        };
        let written: Vec<String> = texts.iter().map(quoted).collect();
        let table = format!("?a\n{}\n", written.join("\n"));
        let graph = format!("<s> <p> {} .\n", written.join(" .\n<s> <p> "));
        for (form, text, column) in [(Form::Tsv, table, 0), (Form::NTriples, graph, 2)] {
            let whole = read(form, &[text.as_bytes()]).unwrap();
            let (before, behind) = text.as_bytes().split_at(cut.index(text.len()));
            prop_assert_eq!(&read(form, &[before, behind]).unwrap(), &whole);
            let back: Vec<String> = whole.iter().map(|row| row[column].replace("\\t", "\t")).collect();
            let expected: Vec<String> = texts.iter().map(|text| quoted(text).replace("\\t", "\t")).collect();
            prop_assert_eq!(back, expected);
        }
    }
}
