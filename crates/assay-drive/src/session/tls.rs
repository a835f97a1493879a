//! TLS as PostgreSQL's and MySQL's clients understand it: up to `require` the line is closed to
//! listeners and nobody asks who the server is; `verify-ca` and `verify-full` ask.

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, RootCertStore,
    SignatureScheme, StreamOwned,
};

use serde::Deserialize;

use super::connecting::SslMode;

/// Where distributions keep the certificates that they trust.
const BUNDLES: [&str; 2] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"];

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

/// Asks as much as the mode wants of the server's certificate. Signatures are always checked.
#[derive(Debug)]
struct Verifier {
    provider: Arc<CryptoProvider>,
    /// `None`: any certificate will do.
    chain: Option<Chain>,
    any_name: bool,
}

/// Authorities that are trusted.
#[derive(Debug)]
struct Chain {
    verifier: Arc<WebPkiServerVerifier>,
    roots: Vec<CertificateDer<'static>>,
}

/// What the verifier says of a server whose certificate may sign others, as one that signs itself
/// usually may. It is told after the certificate's dates were found to be right.
const SIGNS_OTHERS: &str = "CaUsedAsEndEntity";

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        stapled: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        let verified =
            chain.verifier.verify_server_cert(end_entity, intermediates, name, stapled, now);
        match verified {
            // The databases' own clients trust the very certificate that the file holds, too.
            Err(Error::InvalidCertificate(CertificateError::Other(why)))
                if why.to_string() == SIGNS_OTHERS && chain.roots.contains(end_entity) =>
            {
                if !self.any_name {
                    verify_server_name(&ParsedCertificate::try_from(end_entity)?, name)?;
                }
                Ok(ServerCertVerified::assertion())
            }
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.any_name => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, cert, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, cert, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Encrypts a line whose server has agreed to it. The error says what is wrong, and the mend.
pub fn encrypt(
    mode: SslMode,
    trusted: Option<&Path>,
    host: &str,
    line: TcpStream,
) -> Result<StreamOwned<ClientConnection, TcpStream>, String> {
    let provider = Arc::new(ring::default_provider());
    let chain = match mode {
        SslMode::VerifyCa | SslMode::VerifyFull => Some(chain(trusted, &provider)?),
        SslMode::Disable | SslMode::Prefer | SslMode::Require => None,
    };
    let any_name = mode != SslMode::VerifyFull;
    let verifier = Verifier { provider: Arc::clone(&provider), chain, any_name };
    let client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    let name = ServerName::try_from(host.to_owned())
        .map_err(|_| format!("{host:?} is no name that a certificate can be for"))?;
    let connection =
        ClientConnection::new(Arc::new(client), name).map_err(|error| error.to_string())?;
    let mut encrypted = StreamOwned::new(connection, line);
    while encrypted.conn.is_handshaking() {
        encrypted.conn.complete_io(&mut encrypted.sock).map_err(|error| error.to_string())?;
    }
    Ok(encrypted)
}

fn chain(trusted: Option<&Path>, provider: &Arc<CryptoProvider>) -> Result<Chain, String> {
    let bundle = BUNDLES.map(Path::new).into_iter().find(|path| path.exists());
    let Some(path) = trusted.or(bundle) else {
        return Err("this host has no bundle of certificates: name a file with theirs".into());
    };
    let unreadable = |error: rustls::pki_types::pem::Error| {
        format!("{}: no certificates can be read there ({error})", path.display())
    };
    let (mut store, mut roots) = (RootCertStore::empty(), Vec::new());
    for certificate in CertificateDer::pem_file_iter(path).map_err(unreadable)? {
        roots.push(certificate.map_err(unreadable)?);
    }
    store.add_parsable_certificates(roots.iter().cloned());
    let verifier =
        WebPkiServerVerifier::builder_with_provider(Arc::new(store), Arc::clone(provider))
            .build()
            .map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(Chain { verifier, roots })
}
