//! How a connection to a server of MySQL's protocol begins, played by a server of a few lines.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use assay_drive::session::attempt::Attempt;
use assay_drive::session::mysql::config::Config;
use assay_drive::session::mysql::startup::{Connection, connect};
use mysql_common::constants::CapabilityFlags;

const NONCE: &[u8; 20] = b"abcdefghijklmnopqrst";
const OK: &[u8] = &[0, 0, 0, 2, 0, 0, 0];
/// Made for these tests; whoever has its other half reads one password, which is theirs, too.
const PUBLIC_KEY: &[u8] = b"-----BEGIN PUBLIC KEY-----\n\
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA0ANgVJgnWlNEufPIV9s2\n\
8t5SvbM7bDrz8+CX9tC/TLWbVCcCZaogXnPgt363hqxJ4YR58L8aE/SE7YjWeBlo\n\
bbBBzv3qel85nRA3Ru6wNz0RCjQJXLPE3gsebTjxMdUlfZiheCKz7CJVVTYq5vIo\n\
f5diEH+xKoMWIyktpEcL4ktS/TZDHdVro/s/YUiS0/0euuDwfkU3E9PbEKt7vh3b\n\
YHK2D68MZb/If6VB+Gp/KKBMnI7gH0hdm77ULTyBN7MOjW3Rcfu1xkKbqzUarR0f\n\
D7xiWTawQamzH5VX4G/8bRA4j4mCsndFSl42XRCIryoNJlUnw2EKrzN81v70vXkq\n\
RQIDAQAB\n\
-----END PUBLIC KEY-----\n\
";

/// The server's end of the line.
struct Peer {
    line: TcpStream,
    number: u8,
}

impl Peer {
    fn send(&mut self, body: &[u8]) {
        let mut packet = (body.len() as u32).to_le_bytes()[..3].to_vec();
        packet.push(self.number);
        packet.extend_from_slice(body);
        self.number += 1;
        self.line.write_all(&packet).unwrap();
    }

    fn read(&mut self) -> Vec<u8> {
        let mut header = [0; 4];
        self.line.read_exact(&mut header).unwrap();
        assert_eq!(header[3], self.number);
        self.number += 1;
        let length = u32::from_le_bytes([header[0], header[1], header[2], 0]);
        let mut body = vec![0; length as usize];
        self.line.read_exact(&mut body).unwrap();
        body
    }

    fn greet(&mut self, plugin: &str) {
        let capabilities = CapabilityFlags::CLIENT_LONG_PASSWORD
            | CapabilityFlags::CLIENT_PROTOCOL_41
            | CapabilityFlags::CLIENT_SECURE_CONNECTION
            | CapabilityFlags::CLIENT_PLUGIN_AUTH
            | CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA
            | CapabilityFlags::CLIENT_DEPRECATE_EOF;
        let bits = capabilities.bits().to_le_bytes();
        let mut body = b"\x0a9.7.0\0".to_vec();
        body.extend_from_slice(&7_u32.to_le_bytes());
        body.extend_from_slice(&NONCE[..8]);
        body.extend_from_slice(&[0, bits[0], bits[1], 45, 2, 0, bits[2], bits[3], 21]);
        body.extend_from_slice(&[0; 10]);
        body.extend_from_slice(&NONCE[8..]);
        body.push(0);
        body.extend_from_slice(plugin.as_bytes());
        body.push(0);
        self.send(&body);
    }

    fn switch_to(&mut self, plugin: &str) {
        let nonce = b"ABCDEFGHIJKLMNOPQRST".as_slice();
        self.send(&[b"\xfe", plugin.as_bytes(), b"\0", nonce, b"\0"].concat());
    }
}

/// What comes of connecting to a server that behaves like this.
fn with(password: &str, serve: impl FnOnce(Peer) + Send + 'static) -> Result<Connection, String> {
    with_more(password, r#""timeout_s": 5"#, serve)
}

/// The same with more of the configuration.
fn with_more(
    password: &str,
    more: &str,
    serve: impl FnOnce(Peer) + Send + 'static,
) -> Result<Connection, String> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = thread::spawn(move || {
        let (line, _) = listener.accept().unwrap();
        serve(Peer { line, number: 0 });
    });
    let text = format!(r#"{{"user": "me", "port": {port}, "password": "{password}", {more}}}"#);
    let config: Config = serde_json::from_str(&text).unwrap();
    let connected = connect(&config, CapabilityFlags::empty(), &Attempt::default());
    server.join().unwrap();
    connected.map_err(|error| error.to_string())
}

#[test]
fn a_password_that_the_server_remembers_is_proved_by_a_hash() {
    let connected = with("secret", |mut peer| {
        peer.greet("caching_sha2_password");
        let answer = peer.read();
        assert!(!answer.windows(6).any(|part| part == b"secret"));
        peer.send(&[1, 3]);
        peer.send(OK);
    });
    assert_eq!(connected.unwrap().id, 7);
}

#[test]
fn a_password_that_it_does_not_remember_goes_encrypted_with_its_key() {
    let connected = with("secret", |mut peer| {
        peer.greet("caching_sha2_password");
        peer.read();
        peer.send(&[1, 4]);
        assert_eq!(peer.read(), [2]);
        peer.send(&[&[1], PUBLIC_KEY].concat());
        assert_eq!(peer.read().len(), 256);
        peer.send(OK);
    });
    connected.unwrap();
}

#[test]
fn a_key_that_is_none_is_no_reason_to_send_the_password() {
    let refused = with("secret", |mut peer| {
        peer.greet("caching_sha2_password");
        peer.read();
        peer.send(&[1, 4]);
        peer.read();
        peer.send(b"\x01no key");
    });
    assert!(refused.unwrap_err().contains("in a proof"));
}

#[test]
fn the_server_may_want_another_proof_than_it_said_first() {
    let connected = with("secret", |mut peer| {
        peer.greet("caching_sha2_password");
        peer.read();
        peer.switch_to("mysql_native_password");
        assert_eq!(peer.read().len(), 20);
        peer.send(OK);
    });
    connected.unwrap();
}

#[test]
fn an_empty_password_is_proved_by_nothing() {
    let connected = with("", |mut peer| {
        peer.greet("mysql_native_password");
        peer.read();
        peer.switch_to("caching_sha2_password");
        assert!(peer.read().is_empty());
        peer.send(OK);
    });
    connected.unwrap();
}

#[test]
fn proofs_that_are_not_spoken_or_not_safe_are_refused_with_the_mend() {
    let refused = |plugin: &'static str| {
        let asked = with("secret", move |mut peer| {
            peer.greet("mysql_native_password");
            peer.read();
            peer.switch_to(plugin);
        });
        asked.unwrap_err()
    };
    let foreign = refused("client_ed25519");
    assert!(
        foreign.contains("client_ed25519") && foreign.contains("use an account with"),
        "{foreign}"
    );
    assert!(refused("mysql_old_password").contains("not spoken here"));
}

#[test]
fn a_key_that_is_known_before_is_used_and_none_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key.pem");
    std::fs::write(&key, PUBLIC_KEY).unwrap();
    let more = format!(r#""server_public_key": "{}""#, key.display());
    let connected = with_more("secret", &more, |mut peer| {
        peer.greet("caching_sha2_password");
        peer.read();
        peer.send(&[1, 4]);
        assert_eq!(peer.read().len(), 256);
        peer.send(OK);
    });
    connected.unwrap();
}

#[test]
fn a_server_without_tls_is_refused_by_the_modes_that_want_it() {
    for mode in ["required", "verify-ca", "verify-identity"] {
        let more = format!(r#""tls": {{"mode": "{mode}"}}"#);
        let refused = with_more("secret", &more, |mut peer| peer.greet("mysql_native_password"));
        assert!(refused.unwrap_err().contains("ssl_mode=preferred goes without"), "{mode}");
    }
}

#[test]
fn a_server_that_goes_or_says_no_or_is_none_is_told_apart() {
    let gone = with("secret", |mut peer| peer.greet("mysql_native_password"));
    assert!(gone.unwrap_err().contains("no server at 127.0.0.1"));
    let full = with("secret", |mut peer| peer.send(b"\xff\x10\x04Too many connections"));
    assert!(full.unwrap_err().contains("fewer --clients"));
    let foreign = with("secret", |mut peer| peer.line.write_all(b"HTTP/1.1 400 Bad\r\n").unwrap());
    assert!(foreign.unwrap_err().contains("does not speak MySQL's protocol"));
    let other = with("secret", |mut peer| peer.send(b"\x09old\0"));
    assert!(other.unwrap_err().contains("version 9"));
}
