//! MySQL's protocol, and values in both of its forms.

use assay_drive::session::attempt::Attempt;
use assay_drive::session::inbox::Inbox;
use assay_drive::session::mysql::MysqlSession;
use assay_drive::session::mysql::config::Config;
use assay_drive::session::mysql::packets::{Fields, Packets};
use assay_drive::session::mysql::startup::{ServerError, connect};
use assay_drive::session::mysql::values::{Column, Kind, each_value};
use assay_drive::session::value::Value;
use mysql_common::constants::CapabilityFlags;

use super::columns::{choice, choices};
use super::script;
use crate::peer::Peer;

const SOCKET: &str = "mysql";
const COLUMNS_MAX: usize = 6;
/// Types by their numbers, each of which is read differently, with the flag of unsigned numbers.
const TYPES: [(u8, u16); 16] = [
    (1, 0),
    (1, 32),
    (2, 0),
    (2, 32),
    (3, 0),
    (3, 32),
    (8, 0),
    (8, 32),
    (4, 0),
    (5, 0),
    (246, 0),
    (10, 0),
    (12, 0),
    (11, 0),
    (253, 0),
    (252, 0),
];

thread_local! {
    static PEER: Peer = Peer::at_socket(SOCKET);
}

fn config(peer: &Peer) -> Config {
    let password = serde_json::from_str("\"secret\"").ok();
    Config {
        socket: Some(peer.folder().join(SOCKET)),
        user: "me".into(),
        password,
        ..Config::default()
    }
}

/// A whole number in binary, by the arithmetic of the manual alone.
fn whole(number: u8, flags: u16, bytes: &[u8]) -> Option<i128> {
    let length = match number {
        1 => 1,
        2 => 2,
        3 => 4,
        _ => 8,
    };
    let bytes = bytes.get(..length).filter(|value| value.len() == bytes.len())?;
    let unsigned = bytes.iter().rev().fold(0_i128, |sum, byte| sum * 256 + i128::from(*byte));
    let negative = flags == 0 && bytes.last().is_some_and(|byte| *byte >= 0x80);
    Some(unsigned - if negative { 1_i128 << (8 * length) } else { 0 })
}

/// Kinds of columns, then a row in both forms; the definition of a column; an error.
pub fn values(bytes: &[u8]) {
    let (choices, row) = choices(bytes, COLUMNS_MAX);
    let kinds = choices.iter().map(|choice| {
        let (number, flags) = TYPES[usize::from(*choice) % TYPES.len()];
        Kind::of(number, flags, 63, choice >> 4)
    });
    let columns: Vec<Column> = kinds.map(|kind| Column { name: String::new(), kind }).collect();
    for is_binary in [false, true] {
        let mut count = 0;
        if each_value(row, &columns, is_binary, |_, _| count += 1).is_ok() {
            assert_eq!(count, columns.len());
        }
    }
    let (kind, value) = choice(bytes);
    let (number, flags) = TYPES[kind % 8];
    let columns = [Column { name: String::new(), kind: Kind::of(number, flags, 63, 0) }];
    let mut read = None;
    let row = [&[0, 0], value].concat();
    let is_read = each_value(&row, &columns, true, |_, value| {
        if let Value::Exact(number, 0) = value {
            read = Some(number);
        }
    });
    assert_eq!(read.filter(|_| is_read.is_ok()), whole(number, flags, value));
    let _ = (Column::read(bytes), ServerError::read(bytes));
    let mut fields = Fields(bytes);
    while fields.sized().is_ok() {}
}

/// Where bytes are cut, then the bytes: packets are the same however they come.
pub fn packets(bytes: &[u8]) {
    let (cut, bytes) = choice(bytes);
    let whole = cut_into_packets(&[bytes]);
    let (before, behind) = bytes.split_at(cut.min(bytes.len()));
    assert_eq!(cut_into_packets(&[before, behind]), whole);
}

/// Bodies, and whether they end with what is no packet.
fn cut_into_packets(parts: &[&[u8]]) -> (Vec<Vec<u8>>, bool) {
    let mut inbox: Inbox<Packets> = Inbox::default();
    let mut taken = Vec::new();
    for part in parts {
        inbox.feed(part);
        loop {
            match inbox.take() {
                Ok(Some(message)) => taken.push(inbox.body(message).to_vec()),
                Ok(None) => break,
                Err(_) => return (taken, true),
            }
        }
    }
    let again: Vec<_> = inbox.messages().map(|(_, body)| body.to_vec()).collect();
    assert_eq!(again, taken);
    inbox.clear();
    inbox.settle();
    (taken, false)
}

/// Reads the input as the messages of a server before the first request.
pub fn startup(bytes: &[u8]) {
    PEER.with(|peer| {
        peer.say(bytes);
        let _ = connect(&config(peer), CapabilityFlags::empty(), &Attempt::default());
    });
}

/// A packet of a server.
fn packet(number: u8, body: &[u8]) -> Vec<u8> {
    [&(body.len() as u32).to_le_bytes()[..3], &[number], body].concat()
}

/// The greeting of a server that has or has not the newer end of rows, or is MariaDB.
fn greeting(kind: usize) -> Vec<u8> {
    let mut capabilities = CapabilityFlags::CLIENT_PROTOCOL_41
        | CapabilityFlags::CLIENT_SECURE_CONNECTION
        | CapabilityFlags::CLIENT_PLUGIN_AUTH
        | CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA;
    if kind > 0 {
        capabilities |= CapabilityFlags::CLIENT_DEPRECATE_EOF;
    }
    let is_mariadb = kind > 1;
    if !is_mariadb {
        capabilities |= CapabilityFlags::CLIENT_LONG_PASSWORD;
    }
    let bits = capabilities.bits().to_le_bytes();
    let extensions = if is_mariadb { 0x1f_u32 } else { 0 };
    [
        b"\x0a8.4.0\0\x07\0\0\0abcdefgh\0".as_slice(),
        &[bits[0], bits[1], 45, 2, 0, bits[2], bits[3], 21, 0, 0, 0, 0, 0, 0],
        &extensions.to_le_bytes(),
        b"ijklmnopqrst\0mysql_native_password\0",
    ]
    .concat()
}

/// The choice of a server, then what it says behind its start.
pub fn session(bytes: &[u8]) {
    let (kind, bytes) = choice(bytes);
    let welcome = packet(2, &[0, 0, 0, 2, 0, 0, 0]);
    PEER.with(|peer| {
        peer.say(&[packet(0, &greeting(kind % 3)), welcome, bytes.to_vec()].concat());
        if let Ok(mut session) = MysqlSession::open(config(peer), script::of(bytes), 1, 0) {
            script::play(&mut session, peer.folder());
        }
    });
}
