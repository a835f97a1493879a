//! TLS as PostgreSQL's and MySQL's clients understand it. Without trusted certificates, nobody can
//! listen, but the server may be anyone; with them, it has to prove who it is.

mod certificate;
mod verifying;

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{
    ClientConfig, ClientConnection, ConfigBuilder, StreamOwned, SupportedProtocolVersion,
    WantsVerifier,
};
use serde::Deserialize;

use super::connecting::SslMode;
use super::stream::time_left;
pub use certificate::{end_point_digest, names_host};
use verifying::{Verifier, is_unsupported};

/// The certificates that sessions support, for errors.
const SUPPORTED: &str = "; sessions take certificates with keys of RSA (2,048 bits or more), P-256, \
                     P-384 or Ed25519, and verify those of X.509 version 3";

/// How far TLS goes, and whom it trusts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// How far it goes; a socket has none.
    #[serde(default)]
    pub mode: SslMode,
    /// Certificates that are trusted; `None`: the host's.
    #[serde(default)]
    pub ca: Option<PathBuf>,
}

impl Tls {
    /// The rules that the mode stands for.
    pub fn policy(&self) -> Policy {
        let trust = match self.mode {
            SslMode::VerifyCa | SslMode::VerifyFull => {
                self.ca.clone().map_or(Trust::Host, Trust::File)
            }
            _ => Trust::Anyone,
        };
        Policy { trust, checks_name: self.mode == SslMode::VerifyFull, ..Policy::default() }
    }
}

/// Whose certificates are taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// Any certificate: whoever answers is taken for the server.
    #[default]
    Anyone,
    /// Those signed by an authority that this host trusts.
    Host,
    /// Those signed by a certificate of this file.
    File(PathBuf),
}

/// The versions of TLS that are spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Versions {
    /// 1.2 and 1.3.
    #[default]
    Both,
    /// 1.2 only.
    Only12,
    /// 1.3 only.
    Only13,
}

impl Versions {
    fn spoken(self) -> Vec<&'static SupportedProtocolVersion> {
        match self {
            Self::Both => vec![&rustls::version::TLS13, &rustls::version::TLS12],
            Self::Only12 => vec![&rustls::version::TLS12],
            Self::Only13 => vec![&rustls::version::TLS13],
        }
    }
}

/// A certificate by which the client proves who it is, and its private key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The certificate, and those that lead to its authority.
    pub certificate: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

/// The rules for one encrypted line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Whose certificates are taken.
    pub trust: Trust,
    /// Whether the certificate has to name the host.
    pub checks_name: bool,
    /// Certificates that were taken back.
    pub revoked: Option<PathBuf>,
    /// How the client proves who it is.
    pub identity: Option<Identity>,
    /// Whether the server is not told the host's name before the line is encrypted.
    pub hides_name: bool,
    /// Which versions are spoken.
    pub versions: Versions,
    /// The protocol that is asked for during the handshake.
    pub protocol: Option<&'static [u8]>,
}

impl Policy {
    /// Whether the server has to prove who it is.
    pub fn verifies(&self) -> bool {
        self.trust != Trust::Anyone
    }
}

/// Why a line could not be encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unencrypted {
    /// The error, and how to fix it.
    pub reason: String,
    /// Whether sessions do not support the server's certificate, which other clients may support.
    pub is_unsupported: bool,
}

impl From<String> for Unencrypted {
    fn from(reason: String) -> Self {
        Self { reason, is_unsupported: false }
    }
}

impl Unencrypted {
    fn in_handshake(error: &io::Error) -> Self {
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
        let is_unsupported = inner.is_some_and(is_unsupported);
        let more = if is_unsupported { SUPPORTED } else { "" };
        Self { reason: format!("{error}{more}"), is_unsupported }
    }
}

/// Encrypts a line whose server has agreed to it, until `deadline`.
pub fn encrypt(
    policy: &Policy,
    host: &str,
    line: TcpStream,
    deadline: Instant,
) -> Result<StreamOwned<ClientConnection, TcpStream>, Unencrypted> {
    let client = client(policy)?;
    let name = ServerName::try_from(host.to_owned())
        .map_err(|_| format!("{host:?} is no name that a certificate can be for"))?;
    let connection =
        ClientConnection::new(Arc::new(client), name).map_err(|error| error.to_string())?;
    let mut encrypted = StreamOwned::new(connection, line);
    let mut limited = Limited { line: &encrypted.sock, deadline };
    while encrypted.conn.is_handshaking() {
        let done = encrypted.conn.complete_io(&mut limited);
        done.map_err(|error| Unencrypted::in_handshake(&error))?;
    }
    if policy.protocol.is_some() && encrypted.conn.alpn_protocol() != policy.protocol {
        return Err("the server does not agree to speak its protocol over TLS at once"
            .to_owned()
            .into());
    }
    Ok(encrypted)
}

/// A line whose reads end by a deadline: a server that sends byte after byte would be waited for
/// without end.
struct Limited<'l> {
    line: &'l TcpStream,
    deadline: Instant,
}

impl Read for Limited<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.line.set_read_timeout(Some(time_left(self.deadline)?))?;
        self.line.read(bytes)
    }
}

impl Write for Limited<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.line.flush()
    }
}

fn client(policy: &Policy) -> Result<ClientConfig, String> {
    let provider = Arc::new(ring::default_provider());
    let verifier = Arc::new(Verifier::new(policy, &provider)?);
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&policy.versions.spoken())
        .map_err(|error| error.to_string())?;
    let mut client = identified(builder, verifier, policy.identity.as_ref())?;
    client.enable_sni = !policy.hides_name;
    client.alpn_protocols = policy.protocol.iter().map(|name| name.to_vec()).collect();
    Ok(client)
}

fn identified(
    builder: ConfigBuilder<ClientConfig, WantsVerifier>,
    verifier: Arc<Verifier>,
    identity: Option<&Identity>,
) -> Result<ClientConfig, String> {
    let builder = builder.dangerous().with_custom_certificate_verifier(verifier);
    let Some(Identity { certificate, key }) = identity else {
        return Ok(builder.with_no_client_auth());
    };
    let chain = certificates(certificate)?;
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| {
        format!(
            "{}: no private key without a passphrase can be read there ({error})",
            key.display()
        )
    })?;
    builder.with_client_auth_cert(chain, secret).map_err(|error| {
        format!("{} and {} are no pair: {error}", certificate.display(), key.display())
    })
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let unreadable = |error: rustls::pki_types::pem::Error| {
        format!("{}: no certificates can be read there ({error})", path.display())
    };
    let read: Result<Vec<_>, _> =
        CertificateDer::pem_file_iter(path).map_err(unreadable)?.collect();
    read.map_err(unreadable)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// The beginning of a record that is never whole, a byte at a time.
    fn drip(mut line: TcpStream) {
        for byte in [0x16, 3, 3, 0x3f, 0xff].into_iter().chain(std::iter::repeat(0)) {
            if line.write_all(&[byte]).is_err() {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    #[test]
    fn a_server_that_sends_byte_after_byte_is_given_up() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let line = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (peer, _) = listener.accept().unwrap();
        let server = thread::spawn(|| drip(peer));
        let deadline = Instant::now() + Duration::from_millis(200);
        encrypt(&Policy::default(), "localhost", line, deadline).unwrap_err();
        server.join().unwrap();
    }
}
