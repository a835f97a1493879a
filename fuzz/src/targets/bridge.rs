//! The protocol of the bridge to JDBC drivers.

use assay_drive::session::jdbc::JdbcSession;
use assay_drive::session::jdbc::link::Config;
use assay_drive::session::jdbc::values::{Columns, Seen};

use super::columns::choices;
use super::script;
use crate::peer::Peer;

const SOCKET: &str = "bridge";
const COLUMNS_MAX: usize = 6;

thread_local! {
    static PEER: Peer = Peer::at_socket(SOCKET);
}

/// A description of columns; then a number of columns and a row.
pub fn values(bytes: &[u8]) {
    let _ = Columns::read(bytes);
    let (names, row) = choices(bytes, COLUMNS_MAX);
    let described = names.iter().map(|name| (String::new(), i32::from(*name)));
    let mut columns =
        Columns { described: described.collect(), seen: vec![Seen::default(); names.len()] };
    let mut count = 0;
    if columns.each_value(row, |_, _| count += 1).is_ok() {
        assert_eq!(count, names.len());
    }
    for (seen, (_, declared)) in columns.seen.iter().zip(&columns.described) {
        let _ = (seen.is_floating(), seen.kept_as(*declared));
    }
}

/// Reads the input as the messages of the JDBC bridge to a session.
pub fn session(bytes: &[u8]) {
    PEER.with(|peer| {
        peer.say(bytes);
        let config = Config {
            socket: peer.folder().join(SOCKET),
            url: "jdbc:any".into(),
            properties: Vec::new(),
            setup: Vec::new(),
            hidden: vec!["secret".into()],
        };
        if let Ok(mut session) = JdbcSession::open(config, script::of(bytes), 1, 0) {
            script::play(&mut session, peer.folder());
        }
    });
}
