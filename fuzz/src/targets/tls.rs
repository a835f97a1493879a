//! What a server says when a line is to be encrypted, and its certificate.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use assay_drive::session::tls::{Policy, Trust, Versions, encrypt, end_point_digest, names_host};

use super::columns::choice;
use crate::peer;

/// The server has said all that it says.
const PATIENCE: Duration = Duration::from_secs(10);

/// A certificate, of a host or an address.
pub fn certificates(bytes: &[u8]) {
    let _ = end_point_digest(bytes);
    for host in ["localhost", "a.b.example.com", "127.0.0.1", "::1", ""] {
        let _ = names_host(bytes, host);
    }
}

/// The rules of a line, then what the server says until it is encrypted. As no input knows the
/// client's random number, no server proves that it has its certificate's key.
pub fn handshake(bytes: &[u8]) {
    assert!(encrypted(bytes).is_err(), "a line was encrypted with a server that has no key");
}

fn encrypted(bytes: &[u8]) -> Result<(), String> {
    let (kind, bytes) = choice(bytes);
    let file = |name: &str| -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("authority").join(name)
    };
    let policy = Policy {
        trust: if kind & 1 == 0 { Trust::File(file("root.crt")) } else { Trust::Anyone },
        checks_name: kind & 2 == 0,
        revoked: (kind & 4 == 0).then(|| file("revoked.crl")),
        versions: [Versions::Both, Versions::Only12, Versions::Only13][kind / 8 % 3],
        ..Policy::default()
    };
    let (line, _other_end) = peer::said(bytes);
    let deadline = Instant::now() + PATIENCE;
    encrypt(&policy, "localhost", line, deadline).map(|_| ()).map_err(|error| error.reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The client's error for an input of the corpus.
    fn refused(name: &str) -> String {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/tls_handshake");
        encrypted(&std::fs::read(corpus.join(name)).unwrap()).unwrap_err()
    }

    #[test]
    fn certificates_are_checked_before_the_signature_of_a_server_that_has_no_key() {
        for (name, reason) in
            [("signed", "BadSignature"), ("revoked", "Revoked"), ("other-name", "NotValidForName")]
        {
            assert!(refused(name).contains(reason), "{name}: {}", refused(name));
        }
    }
}
