//! Whether a server's certificate is taken.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls13_signature_with_raw_key};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{
    CertificateDer, CertificateRevocationListDer, ServerName, SignatureVerificationAlgorithm,
    SubjectPublicKeyInfoDer, UnixTime,
};
use rustls::{
    AlertDescription, CertificateError, DigitallySignedStruct, Error, RootCertStore,
    SignatureScheme,
};
use webpki::RawPublicKeyEntity;

use super::certificate::{key_of, names_host};
use super::{Policy, Trust, certificates};

/// Where distributions keep the certificates that they trust.
const BUNDLES: [&str; 2] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"];
/// The library's error for a server certificate that may sign others, as a self-signed one usually
/// may. It comes after the certificate's dates were checked.
const SIGNS_OTHERS: &str = "CaUsedAsEndEntity";

/// Asks as much as the policy wants of the server's certificate. Signatures are always checked.
#[derive(Debug)]
pub struct Verifier {
    provider: Arc<CryptoProvider>,
    /// `None`: any certificate will do.
    chain: Option<Chain>,
    checks_name: bool,
}

/// Authorities that are trusted.
#[derive(Debug)]
struct Chain {
    verifier: Arc<WebPkiServerVerifier>,
    roots: Vec<CertificateDer<'static>>,
}

impl Verifier {
    /// A verifier by these rules. The error names the file that cannot be read.
    pub fn new(policy: &Policy, provider: &Arc<CryptoProvider>) -> Result<Self, String> {
        let chain = match &policy.trust {
            Trust::Anyone => None,
            Trust::Host => Some(bundle()?),
            Trust::File(path) => Some(path.clone()),
        };
        let revoked = policy.revoked.as_deref();
        let chain = chain.map(|path| Chain::read(&path, revoked, provider)).transpose()?;
        Ok(Self { provider: Arc::clone(provider), chain, checks_name: policy.checks_name })
    }
}

fn bundle() -> Result<PathBuf, String> {
    let path = BUNDLES.map(PathBuf::from).into_iter().find(|path| path.exists());
    path.ok_or_else(|| "this host has no bundle of certificates: name a file with theirs".into())
}

impl Chain {
    fn read(
        path: &Path,
        revoked: Option<&Path>,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Self, String> {
        let roots = certificates(path)?;
        let mut store = RootCertStore::empty();
        store.add_parsable_certificates(roots.iter().cloned());
        let verifier =
            WebPkiServerVerifier::builder_with_provider(Arc::new(store), Arc::clone(provider))
                .with_crls(revoked.map(revocations).transpose()?.unwrap_or_default())
                // A list that is out of date says nothing of what was revoked since.
                .enforce_revocation_expiration()
                .build()
                .map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self { verifier, roots })
    }

    /// Whether the certificate itself is trusted, as the databases' own clients trust the very
    /// certificate that the file holds.
    fn holds(&self, error: &Error, certificate: &CertificateDer<'_>) -> bool {
        matches!(error, Error::InvalidCertificate(CertificateError::Other(why))
            if why.to_string() == SIGNS_OTHERS)
            && self.roots.contains(certificate)
    }
}

fn revocations(path: &Path) -> Result<Vec<CertificateRevocationListDer<'static>>, String> {
    let unreadable = |error: rustls::pki_types::pem::Error| {
        format!("{}: no revoked certificates can be read there ({error})", path.display())
    };
    let read: Result<Vec<_>, _> =
        CertificateRevocationListDer::pem_file_iter(path).map_err(unreadable)?.collect();
    read.map_err(unreadable)
}

/// Whether the TLS library does not support the server's certificate, which OpenSSL may support.
pub const fn is_unsupported(error: &Error) -> bool {
    matches!(
        error,
        Error::AlertReceived(AlertDescription::HandshakeFailure)
            | Error::InvalidCertificate(
                CertificateError::BadEncoding
                    | CertificateError::BadSignature
                    | CertificateError::UnsupportedSignatureAlgorithmContext { .. }
                    | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. }
                    | CertificateError::Other(_)
            )
    )
}

const fn is_of_name(error: &Error) -> bool {
    matches!(
        error,
        Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. }
        )
    )
}

/// The key of a certificate that nobody has to have signed. The library reads no certificates of X.509
/// version 1, which OpenSSL takes.
fn public_key(certificate: &CertificateDer<'_>) -> Result<SubjectPublicKeyInfoDer<'static>, Error> {
    let read = key_of(certificate).ok_or(CertificateError::BadEncoding)?;
    Ok(SubjectPublicKeyInfoDer::from(read))
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
        let verified =
            chain.verifier.verify_server_cert(end_entity, intermediates, name, stapled, now);
        match verified {
            Err(error) if is_of_name(&error) || chain.holds(&error, end_entity) => {
                if self.checks_name && !names_host(end_entity, &name.to_str()) {
                    return Err(CertificateError::NotValidForName.into());
                }
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        if self.chain.is_some() {
            return rustls::crypto::verify_tls12_signature(message, cert, signed, algorithms);
        }
        let key = public_key(cert)?;
        let entity =
            RawPublicKeyEntity::try_from(&key).map_err(|_| CertificateError::BadEncoding)?;
        let scheme = algorithms.mapping.iter().find(|(scheme, _)| *scheme == signed.scheme);
        let fitting = scheme.map(|(_, algorithms)| *algorithms).unwrap_or_default();
        let verifies = |algorithm: &&dyn SignatureVerificationAlgorithm| {
            entity.verify_signature(*algorithm, message, signed.signature()).is_ok()
        };
        if fitting.iter().any(verifies) {
            return Ok(HandshakeSignatureValid::assertion());
        }
        Err(CertificateError::BadSignature.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        if self.chain.is_some() {
            return rustls::crypto::verify_tls13_signature(message, cert, signed, algorithms);
        }
        verify_tls13_signature_with_raw_key(message, &public_key(cert)?, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
