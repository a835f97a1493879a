//! Where a server is, who asks, and what each has to prove: what a description means to libpq.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use assay_kernel::user::user_name;

use super::dsn::{self, Said};
use super::passwords::{SOCKET_DIRS, Wanted, password_from};
use super::proofs::{Allowed, Binding};
use super::role::Role;
use crate::session::connecting::{Place, Secret, SslMode};
use crate::session::tls::{Identity, Policy, Trust, Versions};

const PORT: u16 = 5432;
const APPLICATION: &str = "assay";
const TIMEOUT: Duration = Duration::from_secs(10);
/// Longer than any run.
const UNLIMITED: Duration = Duration::from_secs(i32::MAX as u64);
/// Where the home directory has certificates and keys.
const FOLDER: &str = ".postgresql";
/// The protocol's name where TLS begins at once.
const PROTOCOL: &[u8] = b"postgresql";

/// One server of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Where it is.
    pub place: Place,
    /// The host as it was written, which its certificate has to name; `None`: only an address was.
    pub name: Option<String>,
    /// The password for it.
    pub password: Option<Secret>,
}

/// All that a connection needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Servers in the order in which they are tried.
    pub servers: Vec<Server>,
    /// The state that a server must be in (`target_session_attrs`).
    pub role: Role,
    /// Whether each connection tries servers and addresses in an order of its own
    /// (`load_balance_hosts=random`).
    pub spreads: bool,
    /// Who asks.
    pub user: String,
    /// Which database.
    pub database: String,
    /// Settings of the session, as the server's command line has them.
    pub options: Option<String>,
    /// What the server's own views call the session.
    pub application: String,
    /// How far TLS goes.
    pub ssl: SslMode,
    /// The rules of encrypted lines.
    pub tls: Policy,
    /// Proofs that a server may ask for; `None`: any, the password as it is only in private.
    pub allowed: Option<Allowed>,
    /// Whether SCRAM is bound to the encrypted line.
    pub binding: Binding,
    /// Whose process has to be behind a socket.
    pub peer: Option<String>,
    /// How long one place may take to answer.
    pub timeout: Duration,
}

/// A description of a connection that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub String);

fn wrong<T>(reason: impl Into<String>) -> Result<T, ConfigError> {
    Err(ConfigError(reason.into()))
}

/// What a connection takes from its surroundings, handed in so that tests have their own.
pub struct Surroundings<'a> {
    /// An environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// A file's text and the bits of its mode, if it can be read.
    pub file: &'a dyn Fn(&Path) -> Option<(String, u32)>,
    /// Whether there is such a file.
    pub exists: &'a dyn Fn(&Path) -> bool,
    /// The user of this process.
    pub user: &'a dyn Fn() -> Option<String>,
}

impl Config {
    /// Reads a text, with the process's environment and files.
    pub fn from_environment(text: &str) -> Result<Self, ConfigError> {
        use std::os::unix::fs::PermissionsExt;
        let file = |path: &Path| {
            let mode = std::fs::metadata(path).ok()?.permissions().mode();
            Some((std::fs::read_to_string(path).ok()?, mode))
        };
        let around = Surroundings {
            variable: &|name| std::env::var(name).ok(),
            file: &file,
            exists: &|path| path.exists(),
            user: &user_name,
        };
        Self::read(text, &around)
    }

    /// Reads a text: a URL, or `key=value` pairs.
    pub fn read(text: &str, around: &Surroundings<'_>) -> Result<Self, ConfigError> {
        let said = dsn::read(text, around.variable)?;
        let value = |key: &str| said.get(key).filter(|value| !value.is_empty()).cloned();
        let Some(user) = value("user").or_else(|| (around.user)()) else {
            return wrong("no user is named: write user=NAME, or set PGUSER");
        };
        let database = value("dbname").unwrap_or_else(|| user.clone());
        let application = value("application_name").or_else(|| value("fallback_application_name"));
        let ssl = ssl_mode(&said)?;
        let allowed = value("require_auth").map(|text| Allowed::read(&text)).transpose()?;
        Ok(Self {
            servers: servers(&said, &user, &database, around)?,
            role: Role::read(value("target_session_attrs").as_deref())?,
            spreads: spreads(&said)?,
            tls: policy(&said, ssl, around)?,
            user,
            database,
            options: value("options"),
            application: application.unwrap_or_else(|| APPLICATION.into()),
            ssl,
            allowed,
            binding: Binding::read(value("channel_binding").as_deref())?,
            peer: value("requirepeer"),
            timeout: timeout(value("connect_timeout").as_deref())?,
        })
    }
}

fn ssl_mode(said: &Said) -> Result<SslMode, ConfigError> {
    let value = |key: &str| said.get(key).map(String::as_str).filter(|value| !value.is_empty());
    let is_system = value("sslrootcert") == Some("system");
    let mode = match value("sslmode") {
        None if is_system => SslMode::VerifyFull,
        None | Some("prefer") => SslMode::Prefer,
        Some("allow") => SslMode::Allow,
        Some("disable") => SslMode::Disable,
        Some("require") => SslMode::Require,
        Some("verify-ca") => SslMode::VerifyCa,
        Some("verify-full") => SslMode::VerifyFull,
        Some(other) => {
            return wrong(format!(
                "sslmode {other:?}: one of disable, allow, prefer, require, verify-ca, verify-full"
            ));
        }
    };
    if is_system && mode != SslMode::VerifyFull {
        return wrong("sslrootcert=system: write sslmode=verify-full, or leave sslmode out");
    }
    match value("sslnegotiation") {
        Some("direct") if matches!(mode, SslMode::Disable | SslMode::Allow | SslMode::Prefer) => {
            wrong("sslnegotiation=direct: write sslmode=require, verify-ca or verify-full")
        }
        None | Some("postgres" | "direct") => Ok(mode),
        Some(other) => wrong(format!("sslnegotiation {other:?}: one of postgres, direct")),
    }
}

/// The rules of encrypted lines. As in libpq, certificates that are trusted are looked at in every
/// mode that encrypts, so `require` with a root certificate is `verify-ca`.
fn policy(said: &Said, ssl: SslMode, around: &Surroundings<'_>) -> Result<Policy, ConfigError> {
    let files = Files { said, around };
    let verifies = matches!(ssl, SslMode::VerifyCa | SslMode::VerifyFull);
    let value = |key: &str| said.get(key).map(String::as_str).filter(|value| !value.is_empty());
    let revoked = files.named("sslcrl", "root.crl");
    Ok(Policy {
        trust: files.trust(verifies)?,
        checks_name: ssl == SslMode::VerifyFull,
        revoked: revoked.filter(|path| value("sslcrl").is_some() || (around.exists)(path)),
        identity: files.identity(value("sslcertmode"))?,
        hides_name: value("sslsni") == Some("0"),
        versions: versions(value("ssl_min_protocol_version"), value("ssl_max_protocol_version"))?,
        protocol: (value("sslnegotiation") == Some("direct")).then_some(PROTOCOL),
    })
}

/// Files that a description names, or that the home directory has.
struct Files<'a> {
    said: &'a Said,
    around: &'a Surroundings<'a>,
}

impl Files<'_> {
    fn named(&self, key: &str, name: &str) -> Option<PathBuf> {
        let said = self.said.get(key).filter(|path| !path.is_empty()).map(PathBuf::from);
        let home = || (self.around.variable)("HOME").map(PathBuf::from);
        said.or_else(|| Some(home()?.join(FOLDER).join(name)))
    }

    fn trust(&self, verifies: bool) -> Result<Trust, ConfigError> {
        let Some(path) = self.named("sslrootcert", "root.crt") else {
            return if verifies {
                wrong("no root certificate is named: write sslrootcert=FILE, or system")
            } else {
                Ok(Trust::Anyone)
            };
        };
        if path == Path::new("system") {
            let file = (self.around.variable)("SSL_CERT_FILE").map(PathBuf::from);
            return Ok(file.map_or(Trust::Host, Trust::File));
        }
        Ok(if verifies || (self.around.exists)(&path) { Trust::File(path) } else { Trust::Anyone })
    }

    /// A certificate that is not there is none, as in libpq.
    fn identity(&self, mode: Option<&str>) -> Result<Option<Identity>, ConfigError> {
        match mode {
            Some("disable") => return Ok(None),
            None | Some("allow") => {}
            Some("require") => {
                return wrong(
                    "sslcertmode=require: sessions cannot see whether the server asked for their \
                     certificate. Have its pg_hba.conf ask for one: clientcert=verify-full",
                );
            }
            Some(other) => {
                return wrong(format!("sslcertmode {other:?}: one of disable, allow"));
            }
        }
        let certificate = self.named("sslcert", "postgresql.crt");
        let key = self.named("sslkey", "postgresql.key");
        let pair = certificate.filter(|path| (self.around.exists)(path)).zip(key);
        Ok(pair.map(|(certificate, key)| Identity { certificate, key }))
    }
}

fn versions(least: Option<&str>, most: Option<&str>) -> Result<Versions, ConfigError> {
    let number = |text: Option<&str>, default: u8| match text {
        None => Ok(default),
        Some("TLSv1") => Ok(0),
        Some("TLSv1.1") => Ok(1),
        Some("TLSv1.2") => Ok(2),
        Some("TLSv1.3") => Ok(3),
        Some(other) => wrong(format!("TLS version {other:?}: one of TLSv1.2, TLSv1.3")),
    };
    match (number(least, 2)?, number(most, 3)?) {
        (0..=2, 3) => Ok(Versions::Both),
        (0..=2, 2) => Ok(Versions::Only12),
        (3, 3) => Ok(Versions::Only13),
        _ => wrong("ssl_max_protocol_version: sessions speak TLSv1.2 and TLSv1.3"),
    }
}

/// Where no host is named, the places that are tried belong to one server.
fn spreads(said: &Said) -> Result<bool, ConfigError> {
    let value = |key: &str| said.get(key).map(String::as_str).filter(|value| !value.is_empty());
    match value("load_balance_hosts") {
        None | Some("disable") => Ok(false),
        Some("random") => Ok(value("host").or_else(|| value("hostaddr")).is_some()),
        Some(other) => wrong(format!("load_balance_hosts {other:?}: one of disable, random")),
    }
}

/// Reads `connect_timeout` as libpq does: it may have blanks around it, and 0 or less means no limit.
fn timeout(text: Option<&str>) -> Result<Duration, ConfigError> {
    match text.map(|text| text.trim().parse::<i32>()) {
        None => Ok(TIMEOUT),
        Some(Ok(seconds)) => {
            let seconds = u64::try_from(seconds).unwrap_or(0);
            Ok(if seconds == 0 { UNLIMITED } else { Duration::from_secs(seconds) })
        }
        Some(Err(_)) => wrong("connect_timeout is a whole number of seconds"),
    }
}

fn servers(
    said: &Said,
    user: &str,
    database: &str,
    around: &Surroundings<'_>,
) -> Result<Vec<Server>, ConfigError> {
    let value = |key: &str| said.get(key).filter(|value| !value.is_empty());
    let home = || (around.variable)("HOME").map(PathBuf::from);
    let path = value("passfile").map(PathBuf::from).or_else(|| Some(home()?.join(".pgpass")));
    let file = path.and_then(|path| (around.file)(&path));
    let password = |host: &str, port: u16| {
        let said = value("password").cloned().map(Secret);
        let wanted = Wanted { host, port, database, user };
        said.or_else(|| password_from(file.as_ref()?, wanted))
    };
    let mut servers = Vec::new();
    for (host, address, port) in hosts(said)? {
        let password_host = if host.is_empty() { address } else { host };
        let password = password(password_host, port);
        let name = (!host.is_empty()).then(|| host.to_owned());
        for place in places(host, address, port) {
            servers.push(Server { place, name: name.clone(), password: password.clone() });
        }
    }
    Ok(servers)
}

/// Where one host may be: at its address, else by its name.
fn places(host: &str, address: &str, port: u16) -> Vec<Place> {
    let socket = |dir: &str| Place::Unix(Path::new(dir).join(format!(".s.PGSQL.{port}")));
    match (address, host) {
        ("", "") => {
            let mut places = SOCKET_DIRS.map(socket).to_vec();
            places.push(Place::Tcp("localhost".into(), port));
            places
        }
        ("", dir) if dir.starts_with('/') => vec![socket(dir)],
        ("", host) => vec![Place::Tcp(host.into(), port)],
        (address, _) => vec![Place::Tcp(address.into(), port)],
    }
}

/// Each server's host, address and port; what is not said is empty.
fn hosts(said: &Said) -> Result<Vec<(&str, &str, u16)>, ConfigError> {
    let list = |key: &str| -> Vec<&str> {
        said.get(key).map_or("", String::as_str).split(',').map(str::trim).collect()
    };
    let (hosts, addresses) = (list("host"), list("hostaddr"));
    let (has_hosts, has_addresses) = (hosts != [""], addresses != [""]);
    if has_hosts && has_addresses && hosts.len() != addresses.len() {
        return wrong(format!("{} addresses for {} hosts", addresses.len(), hosts.len()));
    }
    if let Some(address) = addresses.iter().find(|a| !a.is_empty() && a.parse::<IpAddr>().is_err())
    {
        return wrong(format!("hostaddr {address:?} is no address: write a name into host"));
    }
    let count = if has_addresses { addresses.len() } else { hosts.len() };
    let ports = list("port");
    if ports.len() != 1 && ports.len() != count {
        return wrong(format!("{} ports for {count} hosts", ports.len()));
    }
    let nth = |list: &[&'_ str], index: usize| -> usize { index.min(list.len() - 1) };
    let mut servers = Vec::new();
    for index in 0..count {
        let host = if has_hosts { hosts[index] } else { "" };
        let address = if has_addresses { addresses[index] } else { "" };
        servers.push((host, address, port(ports[nth(&ports, index)])?));
    }
    Ok(servers)
}

fn port(text: &str) -> Result<u16, ConfigError> {
    match text.parse() {
        Err(_) if text.is_empty() => Ok(PORT),
        Ok(number) if number > 0 => Ok(number),
        _ => wrong(format!("port {text:?} is no number from 1 to 65535")),
    }
}
