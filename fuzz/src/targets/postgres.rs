//! PostgreSQL: descriptions of servers, its protocol, and values in binary.

use std::path::Path;

use assay_drive::session::attempt::Attempt;
use assay_drive::session::inbox::Inbox;
use assay_drive::session::postgres::PostgresSession;
use assay_drive::session::postgres::choosing::connect;
use assay_drive::session::postgres::config::{Config, Surroundings};
use assay_drive::session::postgres::values::{Column, Kind, each_value};
use assay_drive::session::value::Value;
use assay_model::SplitMix;
use postgres_protocol::types;

use super::columns::{choice, choices};
use super::script;
use crate::peer::Peer;

const SOCKET: &str = ".s.PGSQL.5432";
/// One type of each kind that is read differently.
const TYPES: [u32; 13] = [16, 21, 23, 20, 26, 700, 701, 1700, 1082, 1114, 25, 17, 9999];
const COLUMNS_MAX: usize = 6;
/// `AuthenticationOk`, the server's version, and that it awaits a request.
const STARTED: &[u8] = b"R\0\0\0\x08\0\0\0\0S\0\0\0\x18server_version\x0016.4\0Z\0\0\0\x05I";

thread_local! {
    static PEER: Peer = Peer::at_socket(SOCKET);
}

fn config(text: &str, file: &str) -> Result<Config, String> {
    let around = Surroundings {
        variable: &|name| (name == "HOME").then(|| "/home/me".into()),
        file: &|_| Some((file.into(), 0o600)),
        exists: &|path| path.as_os_str().len() % 2 == 0,
        user: &|| Some("me".into()),
    };
    Config::read(text, &around).map_err(|error| error.to_string())
}

/// A description of a server, a zero, then a password file. An error shows no password.
pub fn dsn(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (text, file) = text.split_once('\0').unwrap_or((&text, ""));
    if let Ok(config) = config(text, file) {
        assert!(!config.servers.is_empty());
        for server in &config.servers {
            let _ = server.place.to_string();
        }
    }
    let secret = "kept-from-everyone";
    for described in
        [format!("password='{secret}' {text}"), format!("postgresql://me:{secret}@{text}")]
    {
        if let Err(error) = config(&described, file) {
            assert!(!error.contains(secret), "{error}");
        }
    }
}

/// A value as postgres-protocol reads it.
#[allow(clippy::option_option)] // The outer one: whether the type is compared.
fn by_postgres_protocol(oid: u32, bytes: &[u8]) -> Option<Option<Value<'static>>> {
    const EPOCH_DAYS: i32 = 10_957;
    const EPOCH_MICROS: i64 = 946_684_800_000_000;
    Some(match oid {
        16 => types::bool_from_sql(bytes).ok().map(Value::Bool),
        21 => types::int2_from_sql(bytes).ok().map(|number| Value::Exact(number.into(), 0)),
        23 => types::int4_from_sql(bytes).ok().map(|number| Value::Exact(number.into(), 0)),
        20 => types::int8_from_sql(bytes).ok().map(|number| Value::Exact(number.into(), 0)),
        26 => types::oid_from_sql(bytes).ok().map(|number| Value::Exact(number.into(), 0)),
        700 => types::float4_from_sql(bytes).ok().map(|number| Value::Float(number.into())),
        701 => types::float8_from_sql(bytes).ok().map(Value::Float),
        1082 => types::date_from_sql(bytes)
            .ok()
            .map(|days| Value::Date(days.saturating_add(EPOCH_DAYS))),
        1114 => types::timestamp_from_sql(bytes)
            .ok()
            .map(|micros| Value::Timestamp(micros.saturating_add(EPOCH_MICROS))),
        _ => return None,
    })
}

/// The choice of a type and a value of it; then kinds of columns and a row.
pub fn values(bytes: &[u8]) {
    let (kind, value) = choice(bytes);
    let oid = TYPES[kind % TYPES.len()];
    let read = Kind::of(oid).read(value).ok();
    if let Some(theirs) = by_postgres_protocol(oid, value) {
        assert_eq!(format!("{read:?}"), format!("{theirs:?}"), "of type {oid}");
    }
    let (kinds, row) = choices(bytes, COLUMNS_MAX);
    let kinds = kinds.iter().map(|kind| Kind::of(TYPES[usize::from(*kind) % TYPES.len()]));
    let columns: Vec<Column> = kinds.map(|kind| Column { name: String::new(), kind }).collect();
    let mut count = 0;
    if each_value(row, &columns, |_, _| count += 1).is_ok() {
        assert_eq!(count, columns.len());
    }
}

/// Where bytes are cut, then the bytes: messages are the same however they come.
pub fn messages(bytes: &[u8]) {
    let (cut, bytes) = choice(bytes);
    let whole = cut_into_messages(&[bytes]);
    let (before, behind) = bytes.split_at(cut.min(bytes.len()));
    assert_eq!(cut_into_messages(&[before, behind]), whole);
}

/// Tags and bodies, and whether they end with what is no message.
fn cut_into_messages(parts: &[&[u8]]) -> (Vec<(u8, Vec<u8>)>, bool) {
    let mut inbox: Inbox = Inbox::default();
    let mut taken = Vec::new();
    for part in parts {
        inbox.feed(part);
        loop {
            match inbox.take() {
                Ok(Some(message)) => taken.push((message.tag, inbox.body(message).to_vec())),
                Ok(None) => break,
                Err(_) => return (taken, true),
            }
        }
    }
    let again: Vec<_> = inbox.messages().map(|(tag, body)| (tag, body.to_vec())).collect();
    assert_eq!(again, taken);
    inbox.clear();
    inbox.settle();
    (taken, false)
}

fn of_peer(folder: &Path) -> Config {
    let text = format!("host={} user=me dbname=db password=secret", folder.display());
    config(&text, "").expect("the description above can be read")
}

/// Reads the input as the messages of a server before the first request.
pub fn startup(bytes: &[u8]) {
    PEER.with(|peer| {
        peer.say(bytes);
        let _ = connect(&of_peer(peer.folder()), &mut SplitMix::new(0), &Attempt::default());
    });
}

/// Reads the input as the messages of a server after a connection was accepted.
pub fn session(bytes: &[u8]) {
    PEER.with(|peer| {
        peer.say(&[STARTED, bytes].concat());
        let config = of_peer(peer.folder());
        let passing = vec!["23505".into()];
        if let Ok(mut session) = PostgresSession::open(config, script::of(bytes), 1, 0, passing) {
            script::play(&mut session, peer.folder());
        }
    });
}
