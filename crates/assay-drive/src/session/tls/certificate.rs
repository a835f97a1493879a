//! Which hosts a certificate is for, and its digest for channel binding.

use std::net::IpAddr;

use ring::digest::{Algorithm, SHA256, SHA384, SHA512, digest};
use x509_cert::Certificate;
use x509_cert::der::asn1::ObjectIdentifier;
use x509_cert::der::{Decode, Encode};
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;

/// The digest by the hash of each signature; MD5 and SHA-1 count as SHA-256 (RFC 5929).
const DIGESTS: [(&str, &Algorithm); 8] = [
    ("1.2.840.113549.1.1.4", &SHA256),
    ("1.2.840.113549.1.1.5", &SHA256),
    ("1.2.840.113549.1.1.11", &SHA256),
    ("1.2.840.113549.1.1.12", &SHA384),
    ("1.2.840.113549.1.1.13", &SHA512),
    ("1.2.840.10045.4.3.2", &SHA256),
    ("1.2.840.10045.4.3.3", &SHA384),
    ("1.2.840.10045.4.3.4", &SHA512),
];

/// The digest that binds a proof to a server's certificate: `tls-server-end-point` of RFC 5929.
/// `None`: the certificate is signed in a way that names no hash.
pub fn end_point_digest(certificate: &[u8]) -> Option<Vec<u8>> {
    let read = Certificate::from_der(certificate).ok()?;
    let signature = read.signature_algorithm().oid.to_string();
    let (_, algorithm) = DIGESTS.iter().find(|(oid, _)| *oid == signature)?;
    Some(digest(algorithm, certificate).as_ref().to_vec())
}

/// The public key of a certificate, as its part `subjectPublicKeyInfo`.
pub fn key_of(certificate: &[u8]) -> Option<Vec<u8>> {
    let read = Certificate::from_der(certificate).ok()?;
    read.tbs_certificate().subject_public_key_info().to_der().ok()
}

/// Whether a certificate is for a host, as libpq compares: by alternative names, and by the first
/// common name where it has no alternative name of the host's kind.
pub fn names_host(certificate: &[u8], host: &str) -> bool {
    let Ok(read) = Certificate::from_der(certificate) else { return false };
    let address: Option<IpAddr> = host.parse().ok();
    let Some(names) = alternative_names(&read) else { return false };
    let of_kind = |name: &GeneralName| match name {
        GeneralName::DnsName(_) => address.is_none(),
        GeneralName::IpAddress(_) => address.is_some(),
        _ => false,
    };
    if names.iter().any(|name| is_for(name, host, address)) {
        return true;
    }
    !names.iter().any(of_kind) && common_name(&read).is_some_and(|name| matches(&name, host))
}

/// `None`: they cannot be read.
fn alternative_names(certificate: &Certificate) -> Option<Vec<GeneralName>> {
    let extensions = certificate.tbs_certificate().get_extension::<SubjectAltName>().ok()?;
    Some(extensions.map(|(_, names)| names.0).unwrap_or_default())
}

fn is_for(name: &GeneralName, host: &str, address: Option<IpAddr>) -> bool {
    match (name, address) {
        (GeneralName::DnsName(name), _) => matches(name.as_str(), host),
        (GeneralName::IpAddress(bytes), Some(IpAddr::V4(address))) => {
            bytes.as_bytes() == address.octets()
        }
        (GeneralName::IpAddress(bytes), Some(IpAddr::V6(address))) => {
            bytes.as_bytes() == address.octets()
        }
        _ => false,
    }
}

fn common_name(certificate: &Certificate) -> Option<String> {
    const COMMON_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.3");
    let subject = certificate.tbs_certificate().subject();
    let named = subject.iter().find(|part| part.oid == COMMON_NAME)?;
    String::from_utf8(named.value.value().to_vec()).ok()
}

/// Compares without case; `*.` stands for exactly one label of a name.
fn matches(pattern: &str, host: &str) -> bool {
    if pattern.eq_ignore_ascii_case(host) {
        return true;
    }
    let Some(rest) = pattern.strip_prefix("*.") else { return false };
    let is_address = host.parse::<IpAddr>().is_ok();
    let behind = host.split_once('.').filter(|(label, _)| !label.is_empty());
    !is_address && behind.is_some_and(|(_, behind)| behind.eq_ignore_ascii_case(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_one_label_of_a_name() {
        assert!(matches("*.db.example", "a.DB.example"));
        assert!(!matches("*.db.example", "a.b.db.example"));
        assert!(!matches("*.db.example", "db.example"));
        assert!(!matches("*.0.0.1", "127.0.0.1"));
        assert!(matches("127.0.0.1", "127.0.0.1"));
    }

    #[test]
    fn what_is_no_certificate_names_nobody_and_binds_nothing() {
        assert!(!names_host(b"no certificate", "h"));
        assert_eq!(end_point_digest(b"no certificate"), None);
    }
}
