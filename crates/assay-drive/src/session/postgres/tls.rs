//! TLS as PostgreSQL's clients understand it: up to `require` the line is closed to listeners and
//! nobody asks who the server is; `verify-ca` and `verify-full` ask.

use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, RootCertStore,
    SignatureScheme, StreamOwned,
};

use super::config::{Config, SslMode};

/// Where distributions keep the certificates that they trust.
const BUNDLES: [&str; 2] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"];

/// Asks as much as the mode wants of the server's certificate. Signatures are always checked.
#[derive(Debug)]
struct Verifier {
    provider: Arc<CryptoProvider>,
    /// `None`: any certificate will do.
    chain: Option<Arc<WebPkiServerVerifier>>,
    any_name: bool,
}

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
        match chain.verify_server_cert(end_entity, intermediates, name, stapled, now) {
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
    config: &Config,
    host: &str,
    line: TcpStream,
) -> Result<StreamOwned<ClientConnection, TcpStream>, String> {
    let provider = Arc::new(ring::default_provider());
    let chain = match config.ssl {
        SslMode::VerifyCa | SslMode::VerifyFull => {
            Some(chain(config.trusted.as_deref(), &provider)?)
        }
        SslMode::Disable | SslMode::Prefer | SslMode::Require => None,
    };
    let any_name = config.ssl != SslMode::VerifyFull;
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

fn chain(
    trusted: Option<&Path>,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, String> {
    let bundle = BUNDLES.map(Path::new).into_iter().find(|path| path.exists());
    let Some(path) = trusted.or(bundle) else {
        return Err("this host has no bundle of certificates: name a file with sslrootcert".into());
    };
    let unreadable = |error: rustls::pki_types::pem::Error| {
        format!("sslrootcert {}: no certificates can be read there ({error})", path.display())
    };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(unreadable)? {
        roots.add_parsable_certificates([certificate.map_err(unreadable)?]);
    }
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .build()
        .map_err(|error| format!("sslrootcert {}: {error}", path.display()))
}
