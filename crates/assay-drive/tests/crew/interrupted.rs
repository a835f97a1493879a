//! Operations that are interrupted while their sessions connect anew: the servers end each line at its
//! first request, and then do not answer.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use assay_drive::run::{Parts, RunReport};
use assay_drive::session::jdbc::JdbcSession;
use assay_drive::session::mysql::MysqlSession;
use assay_drive::session::postgres::PostgresSession;
use assay_drive::session::postgres::config::Config;
use assay_drive::{Ended, Session, drive};
use assay_model::{Arrival, Plan, Script};

use crate::echo::{parts_of, plan, rows};
use crate::reconnecting::endpoint_of_one_line;

/// No session gives a server up by itself while a test waits.
const CONNECT_TIMEOUT_S: u64 = 120;
/// Half of that: a busy host needs some seconds.
const PROMPT: Duration = Duration::from_secs(60);
const UNDER_WAY: Duration = Duration::from_secs(2);
const TIME_LIMIT_NS: i64 = 200_000_000;

/// A server that logs in whoever has one of the first `lines` lines, ends them at their first request,
/// and says nothing on later lines, which it counts.
fn serve<L: Read + Send + 'static>(
    accept: impl Fn() -> L + Send + 'static,
    lines: usize,
    log_in: fn(&mut L),
) -> Arc<AtomicUsize> {
    let silent_lines = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&silent_lines);
    std::thread::spawn(move || {
        let mut silent = Vec::new();
        for _ in 0..lines {
            let mut line = accept();
            std::thread::spawn(move || {
                log_in(&mut line);
                let _ = line.read(&mut [0; 4096]);
            });
        }
        loop {
            silent.push(accept());
            counted.fetch_add(1, Ordering::Relaxed);
        }
    });
    silent_lines
}

/// The port of such a server.
fn server(lines: usize, log_in: fn(&mut TcpStream)) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    (port, serve(move || listener.accept().unwrap().0, lines, log_in))
}

fn log_in_to_postgresql(line: &mut TcpStream) {
    let _ = line.read(&mut [0; 4096]);
    line.write_all(b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I").unwrap();
}

fn log_in_to_mysql(line: &mut TcpStream) {
    let mut greeting = b"\x3e\0\0\0\x0a9.7.0\0\x07\0\0\0abcdefgh\0".to_vec();
    greeting.extend_from_slice(b"\x01\x82\x2d\x02\0\x08\0\x15\0\0\0\0\0\0\0\0\0\0");
    greeting.extend_from_slice(b"ijklmnopqrst\0mysql_native_");
    greeting[0] = (greeting.len() - 4) as u8;
    line.write_all(&greeting).unwrap();
    let _ = line.read(&mut [0; 4096]);
    line.write_all(b"\x07\0\0\x02\0\0\0\x02\0\0\0").unwrap();
}

/// Takes each request, also one to end a statement, and answers none.
fn log_in_to_mysql_and_hang(line: &mut TcpStream) {
    log_in_to_mysql(line);
    while line.read(&mut [0; 4096]).is_ok_and(|count| count > 0) {}
}

fn log_in_to_bridge(line: &mut UnixStream) {
    let _ = line.read(&mut [0; 4096]);
    line.write_all(b"R\0\0\0\x08\0\0\0\x07Z\0\0\0\x04").unwrap();
}

fn script() -> Arc<Script> {
    let statement = serde_json::json!({"text": "select 1"});
    let operation = serde_json::json!({"name": "asked", "statements": [statement]});
    Arc::new(serde_json::from_value(serde_json::json!({"operations": [operation]})).unwrap())
}

/// Sessions, and how many lines wait for an answer of their server.
type Waiting = (Vec<Box<dyn Session>>, Arc<AtomicUsize>);

/// Sessions whose DSN lists the server twice: each address has a limit of its own.
fn of_postgresql(clients: usize) -> Waiting {
    let (port, silent_lines) = server(clients, log_in_to_postgresql);
    let text = format!(
        "host=127.0.0.1,127.0.0.1 port={port},{port} user=me sslmode=disable \
         connect_timeout={CONNECT_TIMEOUT_S}"
    );
    let open = |number| {
        let config = Config::from_environment(&text).unwrap();
        PostgresSession::open(config, script(), 1, number as u32, Vec::new()).unwrap()
    };
    let sessions = (0..clients).map(|number| Box::new(open(number)) as Box<dyn Session>);
    (sessions.collect(), silent_lines)
}

fn of_mysql(clients: usize) -> Waiting {
    let (port, silent_lines) = server(clients, log_in_to_mysql);
    (sessions_of_mysql(port, clients), silent_lines)
}

fn sessions_of_mysql(port: u16, clients: usize) -> Vec<Box<dyn Session>> {
    let config = serde_json::json!({
        "user": "me", "port": port, "others": [["127.0.0.1", port]],
        "timeout_s": CONNECT_TIMEOUT_S,
    });
    let open = |number| {
        let config = serde_json::from_value(config.clone()).unwrap();
        MysqlSession::open(config, script(), 1, number as u32).unwrap()
    };
    (0..clients).map(|number| Box::new(open(number)) as Box<dyn Session>).collect()
}

fn of_bridge(clients: usize) -> Waiting {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("bridge");
    let listener = UnixListener::bind(&socket).unwrap();
    let accept = move || {
        let _kept = &folder;
        listener.accept().unwrap().0
    };
    let silent_lines = serve(accept, clients, log_in_to_bridge);
    let config = serde_json::json!({"socket": socket, "url": "jdbc:any"});
    let open = |number| {
        let config = serde_json::from_value(config.clone()).unwrap();
        JdbcSession::open(config, script(), 1, number as u32).unwrap()
    };
    let sessions = (0..clients).map(|number| Box::new(open(number)) as Box<dyn Session>);
    (sessions.collect(), silent_lines)
}

fn parts(sessions: Vec<Box<dyn Session>>) -> Parts {
    Parts { sessions, ..parts_of(std::iter::empty()) }
}

fn endless(clients: usize) -> Plan {
    let mut plan = plan(Arrival::Closed { clients: clients as u32 }, 0, u64::MAX);
    plan.operations = vec!["asked".into()];
    plan
}

/// The classes of errors, and the longest operation.
fn fared(plan: &Plan, parts: Parts) -> (Vec<String>, Duration) {
    let raw = tempfile::tempdir().unwrap();
    let report = drive(plan, parts, raw.path(), |_| {}).unwrap();
    let mut longest = Duration::ZERO;
    rows(&raw.path().join("events.arrows"), |batch, row| {
        let time = |name: &str| batch[name].as_primitive::<Int64Type>();
        if !time("started_ns").is_null(row) {
            let took_ns = time("finished_ns").value(row) - time("started_ns").value(row);
            longest = longest.max(Duration::from_nanos(took_ns as u64));
        }
    });
    (classes(&report), longest)
}

fn classes(report: &RunReport) -> Vec<String> {
    let mut classes: Vec<String> = report.errors.iter().map(|error| error.class.clone()).collect();
    classes.sort();
    classes
}

/// Plays operations with a time limit, of which the second of each session finds no connection.
fn holds_the_time_limit(sessions: Vec<Box<dyn Session>>) -> Vec<String> {
    let mut plan = endless(sessions.len());
    plan.phases[0].operations_max = 2 * sessions.len() as u64;
    plan.operation_deadline_ns = TIME_LIMIT_NS;
    let (classes, longest) = fared(&plan, parts(sessions));
    assert!(longest < PROMPT, "{longest:?}");
    classes
}

/// Has the run stopped while sessions connect anew.
fn stops(sessions: Vec<Box<dyn Session>>, connect: impl Fn() -> bool) -> Vec<String> {
    let raw = tempfile::tempdir().unwrap();
    let (plan, parts) = (endless(sessions.len()), parts(sessions));
    let cancel = parts.cancel.clone();
    let mut stopped = None;
    let report = drive(&plan, parts, raw.path(), |_| {
        if connect() {
            cancel.cancel();
            stopped.get_or_insert_with(Instant::now);
        }
    });
    let report = report.unwrap();
    assert_eq!(report.ended, Ended::Cancelled);
    assert!(stopped.unwrap().elapsed() < PROMPT, "{stopped:?}");
    classes(&report)
}

#[test]
fn the_time_limit_of_an_operation_holds_while_its_session_logs_in() {
    for clients in [1, 3] {
        for open in [of_postgresql, of_mysql, of_bridge] {
            assert_eq!(holds_the_time_limit(open(clients).0), ["08006", "deadline"]);
        }
    }
}

#[test]
fn the_time_limit_of_an_operation_holds_while_its_session_dials() {
    // The query that finds its line closed is sent once more over a new one.
    let (session, _queued) = endpoint_of_one_line(1, CONNECT_TIMEOUT_S);
    assert_eq!(holds_the_time_limit(vec![Box::new(session)]), ["deadline"]);
}

#[test]
fn a_run_that_is_stopped_waits_for_no_session_that_logs_in() {
    for clients in [1, 3] {
        for open in [of_postgresql, of_mysql, of_bridge] {
            let (sessions, silent_lines) = open(clients);
            let connect = || silent_lines.load(Ordering::Relaxed) == clients;
            assert_eq!(stops(sessions, connect), ["08006", "cancelled"]);
        }
    }
}

#[test]
fn a_run_that_is_stopped_waits_for_no_session_that_dials() {
    let (session, _queued) = endpoint_of_one_line(1, CONNECT_TIMEOUT_S);
    let begun = Instant::now();
    // The one answer comes within a millisecond.
    assert_eq!(stops(vec![Box::new(session)], || begun.elapsed() > UNDER_WAY), ["cancelled"]);
}

#[test]
fn a_run_that_is_stopped_waits_for_no_answer_to_its_request_to_end_a_statement() {
    let (port, _) = server(usize::MAX, log_in_to_mysql_and_hang);
    let begun = Instant::now();
    let sessions = sessions_of_mysql(port, 1);
    assert_eq!(stops(sessions, || begun.elapsed() > UNDER_WAY), ["cancelled"]);
}
