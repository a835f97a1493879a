//! How a text describes a server: a URL or `key=value` pairs, and the variables that say the rest,
//! as PostgreSQL's own clients read them.

use std::collections::BTreeMap;

use super::config::ConfigError;

/// Values of connection parameters, by key, from the DSN and the environment.
pub type Said = BTreeMap<String, String>;

/// Connection parameters, each with the environment variable that holds where the DSN has none.
const KEYS: &[(&str, Option<&str>)] = &[
    ("application_name", Some("PGAPPNAME")),
    ("channel_binding", Some("PGCHANNELBINDING")),
    ("connect_timeout", Some("PGCONNECT_TIMEOUT")),
    ("dbname", Some("PGDATABASE")),
    ("fallback_application_name", None),
    ("host", Some("PGHOST")),
    ("hostaddr", Some("PGHOSTADDR")),
    ("load_balance_hosts", Some("PGLOADBALANCEHOSTS")),
    ("options", Some("PGOPTIONS")),
    ("passfile", Some("PGPASSFILE")),
    ("password", Some("PGPASSWORD")),
    ("port", Some("PGPORT")),
    ("require_auth", Some("PGREQUIREAUTH")),
    ("requirepeer", Some("PGREQUIREPEER")),
    ("ssl_max_protocol_version", Some("PGSSLMAXPROTOCOLVERSION")),
    ("ssl_min_protocol_version", Some("PGSSLMINPROTOCOLVERSION")),
    ("sslcert", Some("PGSSLCERT")),
    ("sslcertmode", Some("PGSSLCERTMODE")),
    ("sslcrl", Some("PGSSLCRL")),
    ("sslkey", Some("PGSSLKEY")),
    ("sslmode", Some("PGSSLMODE")),
    ("sslnegotiation", Some("PGSSLNEGOTIATION")),
    ("sslrootcert", Some("PGSSLROOTCERT")),
    ("sslsni", Some("PGSSLSNI")),
    ("target_session_attrs", Some("PGTARGETSESSIONATTRS")),
    ("user", Some("PGUSER")),
];
/// Known to PostgreSQL's clients, and without a meaning for a session that is measured.
const IGNORED: &[&str] = &[
    "client_encoding",
    "gssdelegation",
    "gsslib",
    "keepalives",
    "keepalives_count",
    "keepalives_idle",
    "keepalives_interval",
    "krbsrvname",
    "max_protocol_version",
    "oauth_client_id",
    "oauth_client_secret",
    "oauth_issuer",
    "oauth_scope",
    "sslcompression",
    "sslkeylogfile",
    "tcp_user_timeout",
];
/// Known to PostgreSQL's clients, with a meaning that a session cannot keep.
struct Refused {
    key: &'static str,
    variable: Option<&'static str>,
    /// Values that ask for nothing.
    harmless: &'static [&'static str],
    mend: &'static str,
}

const fn refused(
    key: &'static str,
    variable: Option<&'static str>,
    harmless: &'static [&'static str],
    mend: &'static str,
) -> Refused {
    Refused { key, variable, harmless, mend }
}

const REFUSED: &[Refused] = &[
    refused(
        "gssencmode",
        Some("PGGSSENCMODE"),
        &["disable", "prefer"],
        "sessions do not encrypt by GSSAPI: use TLS, with sslmode",
    ),
    refused(
        "min_protocol_version",
        Some("PGMINPROTOCOLVERSION"),
        &["3.0"],
        "sessions speak version 3.0 of the protocol",
    ),
    refused(
        "replication",
        None,
        &["0", "false", "no", "off"],
        "sessions execute SQL only: leave it out",
    ),
    refused("scram_client_key", None, &[], "sessions prove themselves by the password"),
    refused("scram_server_key", None, &[], "sessions prove themselves by the password"),
    refused("service", None, &[], "sessions read no service file: write what it says"),
    refused("servicefile", None, &[], "sessions read no service file: write what it says"),
    refused("sslcrldir", Some("PGSSLCRLDIR"), &[], "name a file, with sslcrl"),
    refused("sslpassword", None, &[], "sessions read keys without a passphrase only"),
];

fn wrong<T>(reason: impl Into<String>) -> Result<T, ConfigError> {
    Err(ConfigError(reason.into()))
}

/// Reads a text, and variables for what it does not say. The error never quotes a password.
pub fn read(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Said, ConfigError> {
    let mut said = match ["postgresql://", "postgres://"]
        .iter()
        .find_map(|scheme| text.trim().strip_prefix(scheme))
    {
        Some(rest) => read_url(rest)?,
        None => read_pairs(text)?,
    };
    check_keys(&said)?;
    let refusable = REFUSED.iter().map(|refused| (refused.key, refused.variable));
    for (key, name) in KEYS.iter().copied().chain(refusable) {
        if let (false, Some(name)) = (said.contains_key(key), name)
            && let Some(value) = variable(name)
        {
            said.insert(key.into(), value);
        }
    }
    check_values(&said)?;
    Ok(said)
}

fn check_keys(said: &Said) -> Result<(), ConfigError> {
    for key in said.keys().map(String::as_str) {
        let is_refused = REFUSED.iter().any(|refused| refused.key == key);
        if KEYS.iter().any(|(allowed, _)| *allowed == key) || IGNORED.contains(&key) || is_refused {
            continue;
        }
        let keys: Vec<&str> = KEYS.iter().map(|(key, _)| *key).collect();
        return wrong(format!(
            "the description of the server has {key:?}, which is not known here; known are {}",
            keys.join(", ")
        ));
    }
    Ok(())
}

fn check_values(said: &Said) -> Result<(), ConfigError> {
    for Refused { key, harmless, mend, .. } in REFUSED {
        let value = said.get(*key).map_or("", String::as_str);
        if !value.is_empty() && !harmless.contains(&value) {
            return wrong(format!("{key} of the server: {mend}"));
        }
    }
    Ok(())
}

/// `user:password@host:port,host/database?key=value&...`, behind the scheme. As in libpq, the first
/// `@` ends the password, and a `?` before it is part of the password.
fn read_url(rest: &str) -> Result<Said, ConfigError> {
    let mut said = Said::new();
    let end = rest.find(['@', '/']).filter(|at| rest[*at..].starts_with('@'));
    let (who, rest) = end.map_or(("", rest), |at| (&rest[..at], &rest[at + 1..]));
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (hosts, database) = place.split_once('/').unwrap_or((place, ""));
    let (user, password) = who.split_once(':').unwrap_or((who, ""));
    if hosts.contains('@') {
        return wrong("an @ of the password is written %40 in a URL");
    }
    let mut set = |key: &str, value: &str| -> Result<(), ConfigError> {
        if !value.is_empty() {
            said.insert(key.into(), decoded(value)?);
        }
        Ok(())
    };
    set("user", user)?;
    set("password", password)?;
    set("dbname", database)?;
    let (mut names, mut ports) = (Vec::new(), Vec::new());
    for host in hosts.split(',') {
        // An address of version 6 stands in brackets, because it has colons of its own.
        let (name, port) = match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
            Some((address, behind)) => (address, behind.strip_prefix(':').unwrap_or("")),
            None => host.split_once(':').unwrap_or((host, "")),
        };
        names.push(name);
        ports.push(port);
    }
    set("host", &names.join(","))?;
    if ports.iter().any(|port| !port.is_empty()) {
        set("port", &ports.join(","))?;
    }
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let Some((key, value)) = pair.split_once('=') else {
            return wrong("a parameter of the URL has no value: write key=value");
        };
        match (decoded(key)?.as_str(), value) {
            ("ssl", "true") => set("sslmode", "require")?,
            (key, value) => set(key, value)?,
        }
    }
    Ok(said)
}

fn decoded(text: &str) -> Result<String, ConfigError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        match (digit(rest.next()), digit(rest.next())) {
            (Some(high), Some(low)) => bytes.push((high * 16 + low) as u8),
            _ => return wrong("a % in the URL is not followed by two hexadecimal digits"),
        }
    }
    String::from_utf8(bytes).or_else(|_| wrong("the URL is not UTF-8 behind its % signs"))
}

/// `key = value key='a value with \' and \\'`.
fn read_pairs(text: &str) -> Result<Said, ConfigError> {
    let mut said = Said::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let Some((key, behind)) = rest.split_once('=') else {
            return wrong(
                "the description of the server is neither a URL (postgresql://user@host/database) \
                 nor key=value pairs",
            );
        };
        let (value, behind) = read_value(behind.trim_start())?;
        said.insert(key.trim().into(), value);
        rest = behind.trim_start();
    }
    Ok(said)
}

/// A value, quoted or not, and what is behind it.
fn read_value(text: &str) -> Result<(String, &str), ConfigError> {
    let quoted = text.starts_with('\'');
    let mut value = String::new();
    let mut letters = text.char_indices().skip(usize::from(quoted));
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some((_, escaped)) => value.push(escaped),
                None => return wrong("the description of the server ends in a backslash"),
            },
            '\'' if quoted => return Ok((value, &text[at + 1..])),
            letter if letter.is_whitespace() && !quoted => return Ok((value, &text[at..])),
            letter => value.push(letter),
        }
    }
    if quoted {
        return wrong("a quote in the description of the server is not closed");
    }
    Ok((value, ""))
}
