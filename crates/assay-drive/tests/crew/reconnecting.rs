//! Sessions of a SPARQL endpoint that closes connections in the middle of an operation.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt32Type};
use assay_drive::session::sparql::SparqlSession;
use assay_drive::session::sparql::config::Config;
use assay_drive::{CancelFlag, Session, drive};
use assay_model::{Arrival, Plan, Script};
use rustix::net::{AddressFamily, SocketType, bind, getsockname, listen, socket};

use crate::echo::{parts_of, plan, rows};

const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/sparql-results+json\r\n\
    Content-Length: 26\r\n\r\n{\"head\":{},\"boolean\":true}";
const QUERY: &str = "ask { ?a ?b ?c }";
/// How long a session waits for a server that takes no connection.
const PATIENCE_S: u64 = 1;
const PATIENCE: Duration = Duration::from_secs(PATIENCE_S);

/// Answers requests of one line; false once the line has ended or after `answers` of them.
fn answer(line: &mut TcpStream, answers: u32) {
    line.set_nodelay(true).unwrap();
    let (mut asked, mut bytes) = (Vec::new(), [0; 4096]);
    for _ in 0..answers {
        while !asked.ends_with(QUERY.as_bytes()) {
            match line.read(&mut bytes) {
                Ok(count) if count > 0 => asked.extend_from_slice(&bytes[..count]),
                _ => return,
            }
        }
        asked.clear();
        std::thread::sleep(Duration::from_millis(1));
        if line.write_all(ANSWER.as_bytes()).is_err() {
            return;
        }
    }
    // The next request is read before the line is closed, so that it arrives at nobody.
    let _ = line.read(&mut bytes);
}

/// An endpoint that takes any number of lines, and closes each of them at the request after so many
/// answers; how many lines it took.
fn endpoint(answers: u32) -> (SocketAddr, Arc<AtomicU32>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let lines = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&lines);
    std::thread::spawn(move || {
        for line in listener.incoming() {
            counted.fetch_add(1, Ordering::Relaxed);
            let mut line = line.unwrap();
            std::thread::spawn(move || answer(&mut line, answers));
        }
    });
    (address, lines)
}

/// An endpoint that takes one line, closes it at the request after so many answers, and lets the
/// system queue no other one: who connects gets no answer at all.
pub fn endpoint_of_one_line(answers: u32, timeout_s: u64) -> (SparqlSession, Vec<TcpStream>) {
    let listening = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&listening, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
    listen(&listening, 0).unwrap();
    let address: SocketAddr = getsockname(&listening).unwrap().try_into().unwrap();
    let listener = TcpListener::from(listening);
    let session = session_within(timeout_s, address, 0);
    let (mut line, _) = listener.accept().unwrap();
    std::thread::spawn(move || {
        answer(&mut line, answers);
        drop(line);
        // The queue stays full, because nobody takes lines from it.
        std::thread::sleep(Duration::from_secs(2 * timeout_s));
        drop(listener);
    });
    let connect = || TcpStream::connect_timeout(&address, Duration::from_millis(200)).ok();
    let queued: Vec<TcpStream> = std::iter::from_fn(connect).take(8).collect();
    assert!(
        queued.len() < 8,
        "the system accepts more waiting connections than the limit given to listen"
    );
    (session, queued)
}

fn session(address: SocketAddr, number: u32) -> SparqlSession {
    session_within(PATIENCE_S, address, number)
}

fn session_within(timeout_s: u64, address: SocketAddr, number: u32) -> SparqlSession {
    let config = Config {
        host: address.ip().to_string(),
        port: address.port(),
        query: "/query".into(),
        timeout_s: Some(timeout_s),
        ..Config::default()
    };
    let script: Script = serde_json::from_value(serde_json::json!({
        "operations": [{"name": "asked", "statements": [{"text": QUERY}]}]
    }))
    .unwrap();
    SparqlSession::open(config, Arc::new(script), 1, number).unwrap()
}

fn three_clients() -> Plan {
    let mut plan = plan(Arrival::Closed { clients: 3 }, 2_000_000_000, 0);
    plan.operations = vec!["asked".into()];
    plan
}

fn driven(plan: &Plan, sessions: Vec<SparqlSession>, raw: &Path) {
    let sessions = sessions.into_iter().map(|session| Box::new(session) as Box<dyn Session>);
    let mut parts = parts_of(std::iter::empty());
    (parts.sessions, parts.cancel) = (sessions.collect(), CancelFlag::default());
    drive(plan, parts, raw, |_| {}).unwrap();
}

/// How each session fared.
#[derive(Debug, Default)]
struct Fared {
    longest: Duration,
    ok: u32,
    failed: u32,
}

fn fared(raw: &Path) -> [Fared; 3] {
    let mut fared = [(); 3].map(|()| Fared::default());
    rows(&raw.join("events.arrows"), |batch, row| {
        let time = |name: &str| batch[name].as_primitive::<Int64Type>().value(row);
        let session = batch["session"].as_primitive::<UInt32Type>().value(row);
        let of_session = &mut fared[session as usize];
        let took = Duration::from_nanos((time("finished_ns") - time("started_ns")) as u64);
        of_session.longest = of_session.longest.max(took);
        let failed = !batch["error"].is_null(row);
        of_session.failed += u32::from(failed);
        of_session.ok += u32::from(!failed);
    });
    fared
}

#[test]
fn a_reconnect_in_the_middle_of_an_operation_delays_no_other_session_of_the_thread() {
    let raw = tempfile::tempdir().unwrap();
    let (other, _) = endpoint(u32::MAX);
    let (lonely, _queued) = endpoint_of_one_line(5, PATIENCE_S);
    driven(&three_clients(), vec![lonely, session(other, 1), session(other, 2)], raw.path());
    let [lonely, second, third] = fared(raw.path());
    assert!(lonely.ok == 5 && lonely.failed > 0, "{lonely:?}");
    assert!(lonely.longest >= PATIENCE, "{lonely:?}");
    assert!(second.longest.max(third.longest) < PATIENCE / 2, "{second:?} {third:?}");
    assert!(second.ok > 100 && third.ok > 100, "{second:?} {third:?}");
}

#[test]
fn a_query_whose_line_was_closed_is_answered_over_a_new_one() {
    let raw = tempfile::tempdir().unwrap();
    let (address, lines) = endpoint(5);
    let sessions = (0..3).map(|number| session(address, number)).collect();
    driven(&three_clients(), sessions, raw.path());
    for session in fared(raw.path()) {
        assert!(session.ok > 20 && session.failed == 0, "{session:?}");
    }
    assert!(lines.load(Ordering::Relaxed) > 12, "{lines:?}");
}
