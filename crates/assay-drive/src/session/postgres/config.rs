//! Where a server is and who asks: URLs, `key=value` texts, the PG* variables and the password
//! file, as PostgreSQL's own clients read them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use assay_kernel::user::user_name;

use crate::session::connecting::{Place, Secret, SslMode};

/// What can be said of a connection, and the variable that says it where the text does not.
const KEYS: &[(&str, Option<&str>)] = &[
    ("application_name", Some("PGAPPNAME")),
    ("connect_timeout", Some("PGCONNECT_TIMEOUT")),
    ("dbname", Some("PGDATABASE")),
    ("host", Some("PGHOST")),
    ("hostaddr", Some("PGHOSTADDR")),
    ("options", Some("PGOPTIONS")),
    ("passfile", Some("PGPASSFILE")),
    ("password", Some("PGPASSWORD")),
    ("port", Some("PGPORT")),
    ("sslmode", Some("PGSSLMODE")),
    ("sslrootcert", Some("PGSSLROOTCERT")),
    ("user", Some("PGUSER")),
];
/// Known to PostgreSQL's clients, and without a meaning for a session that is measured.
const IGNORED: &[&str] = &[
    "channel_binding",
    "client_encoding",
    "fallback_application_name",
    "gssencmode",
    "keepalives",
    "keepalives_count",
    "keepalives_idle",
    "keepalives_interval",
    "load_balance_hosts",
    "target_session_attrs",
    "tcp_user_timeout",
];
const PORT: u16 = 5432;
const APPLICATION: &str = "assay";
const TIMEOUT: Duration = Duration::from_secs(10);
/// Where servers put their sockets when nobody says otherwise.
const SOCKET_DIRS: [&str; 2] = ["/var/run/postgresql", "/tmp"];

/// All that a connection needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Where the server may be.
    pub places: Vec<Place>,
    /// Who asks.
    pub user: String,
    /// How they prove it.
    pub password: Option<Secret>,
    /// Which database.
    pub database: String,
    /// Settings of the session, as the server's command line has them.
    pub options: Option<String>,
    /// What the server's own views call the session.
    pub application: String,
    /// How far TLS goes.
    pub ssl: SslMode,
    /// Certificates that are trusted; `None`: the host's.
    pub trusted: Option<PathBuf>,
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
    /// The user of this process.
    pub user: &'a dyn Fn() -> Option<String>,
}

type Said = BTreeMap<String, String>;

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
            user: &user_name,
        };
        Self::read(text, &around)
    }

    /// Reads a text: a URL, or `key=value` pairs.
    pub fn read(text: &str, around: &Surroundings<'_>) -> Result<Self, ConfigError> {
        let mut said = match ["postgresql://", "postgres://"]
            .iter()
            .find_map(|scheme| text.trim().strip_prefix(scheme))
        {
            Some(rest) => read_url(rest)?,
            None => read_pairs(text)?,
        };
        check_keys(&said)?;
        for (key, variable) in KEYS {
            if let (false, Some(variable)) = (said.contains_key(*key), variable)
                && let Some(value) = (around.variable)(variable)
            {
                said.insert((*key).into(), value);
            }
        }
        Self::resolved(&said, around)
    }

    fn resolved(said: &Said, around: &Surroundings<'_>) -> Result<Self, ConfigError> {
        let value_of = |key: &str| said.get(key).filter(|value| !value.is_empty()).cloned();
        let Some(user) = value_of("user").or_else(|| (around.user)()) else {
            return wrong("no user is named: write user=NAME, or set PGUSER");
        };
        let database = value_of("dbname").unwrap_or_else(|| user.clone());
        let (places, hosts) =
            places(value_of("hostaddr").or_else(|| value_of("host")), value_of("port"))?;
        let password = value_of("password").map(Secret).or_else(|| {
            let home = (around.variable)("HOME").map(PathBuf::from);
            let path =
                value_of("passfile").map(PathBuf::from).or(home.map(|h| h.join(".pgpass")))?;
            password_from(&(around.file)(&path)?, &hosts, &database, &user)
        });
        Ok(Self {
            places,
            user,
            password,
            database,
            options: value_of("options"),
            application: value_of("application_name").unwrap_or_else(|| APPLICATION.into()),
            ssl: ssl_mode(value_of("sslmode").as_deref())?,
            trusted: value_of("sslrootcert").filter(|path| path != "system").map(PathBuf::from),
            timeout: timeout(value_of("connect_timeout").as_deref())?,
        })
    }
}

fn check_keys(said: &Said) -> Result<(), ConfigError> {
    for key in said.keys() {
        if KEYS.iter().any(|(known, _)| known == key) || IGNORED.contains(&key.as_str()) {
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

fn ssl_mode(text: Option<&str>) -> Result<SslMode, ConfigError> {
    match text {
        // Whether the server has TLS decides. Unlike libpq, a refusal is not tried the other way.
        None | Some("prefer" | "allow") => Ok(SslMode::Prefer),
        Some("disable") => Ok(SslMode::Disable),
        Some("require") => Ok(SslMode::Require),
        Some("verify-ca") => Ok(SslMode::VerifyCa),
        Some("verify-full") => Ok(SslMode::VerifyFull),
        Some(other) => wrong(format!(
            "sslmode {other:?}: one of disable, allow, prefer, require, verify-ca, verify-full"
        )),
    }
}

fn timeout(text: Option<&str>) -> Result<Duration, ConfigError> {
    match text.map(str::parse::<u64>) {
        None | Some(Ok(0)) => Ok(TIMEOUT),
        Some(Ok(seconds)) => Ok(Duration::from_secs(seconds)),
        Some(Err(_)) => wrong("connect_timeout is a whole number of seconds"),
    }
}

/// Places by lists of hosts and ports, with the host that the password file knows each by.
#[allow(clippy::type_complexity)]
fn places(
    hosts: Option<String>,
    ports: Option<String>,
) -> Result<(Vec<Place>, Vec<(String, u16)>), ConfigError> {
    let mut numbers = Vec::new();
    for text in ports.as_deref().unwrap_or("").split(',') {
        numbers.push(match text.trim() {
            "" => PORT,
            text => match text.parse() {
                Ok(number) if number > 0 => number,
                _ => return wrong(format!("port {text:?} is no number from 1 to 65535")),
            },
        });
    }
    let hosts = hosts.unwrap_or_default();
    let hosts: Vec<&str> = hosts.split(',').map(str::trim).collect();
    if numbers.len() != 1 && numbers.len() != hosts.len() {
        return wrong(format!("{} ports for {} hosts", numbers.len(), hosts.len()));
    }
    let (mut places, mut named) = (Vec::new(), Vec::new());
    for (index, host) in hosts.iter().enumerate() {
        let port = if numbers.len() == 1 { numbers[0] } else { numbers[index] };
        let socket = |dir: &str| Place::Unix(Path::new(dir).join(format!(".s.PGSQL.{port}")));
        match *host {
            "" => {
                places.extend(SOCKET_DIRS.map(socket));
                places.push(Place::Tcp("localhost".into(), port));
                named.push(("localhost".into(), port));
            }
            dir if dir.starts_with('/') => {
                places.push(socket(dir));
                named.push((dir.into(), port));
                named.push(("localhost".into(), port));
            }
            host => {
                places.push(Place::Tcp(host.into(), port));
                named.push((host.into(), port));
            }
        }
    }
    Ok((places, named))
}

/// `user:password@host:port,host/database?key=value&...`, behind the scheme.
fn read_url(rest: &str) -> Result<Said, ConfigError> {
    let mut said = Said::new();
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (place, database) = place.split_once('/').unwrap_or((place, ""));
    let (who, hosts) = place.rsplit_once('@').unwrap_or(("", place));
    let (user, password) = who.split_once(':').unwrap_or((who, ""));
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
            return wrong(format!("{pair:?} in the URL: write key=value"));
        };
        set(&decoded(key)?, value)?;
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

/// The first line `host:port:database:user:password` that fits, each field or `*`.
fn password_from(
    (text, mode): &(String, u32),
    hosts: &[(String, u16)],
    database: &str,
    user: &str,
) -> Option<Secret> {
    // A file that others may read is not taken, as PostgreSQL's clients do not.
    if mode & 0o077 != 0 {
        return None;
    }
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let [host, port, base, name, password] = fields(line)?;
        let fits = |field: &str, value: &str| field == "*" || field == value;
        let here = hosts.iter().any(|(h, p)| fits(&host, h) && fits(&port, &p.to_string()));
        if here && fits(&base, database) && fits(&name, user) {
            return Some(Secret(password));
        }
    }
    None
}

/// Five fields; `\:` and `\\` stand for themselves.
fn fields(line: &str) -> Option<[String; 5]> {
    let mut fields: [String; 5] = Default::default();
    let mut place = 0;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => fields[place].push(letters.next()?),
            ':' if place < 4 => place += 1,
            letter => fields[place].push(letter),
        }
    }
    // A line with fewer fields fits nothing.
    if place < 4 {
        fields[0] = "\0".into();
    }
    Some(fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read_with(
        text: &str,
        variables: &[(&str, &str)],
        file: Option<(&str, u32)>,
    ) -> Result<Config, ConfigError> {
        let variable = |name: &str| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        let file = |_: &Path| file.map(|(text, mode)| (text.to_owned(), mode));
        let user = || Some("me".to_owned());
        Config::read(text, &Surroundings { variable: &variable, file: &file, user: &user })
    }

    fn read(text: &str) -> Config {
        read_with(text, &[], None).unwrap()
    }

    fn tcp(host: &str, port: u16) -> Place {
        Place::Tcp(host.into(), port)
    }

    #[test]
    fn a_url_says_everything() {
        let url = "postgresql://jo%40x:p%3Aw@h1:6000,[::1]:6001/my%20db?sslmode=require&options=-c%20a%3Db";
        let config = read(url);
        assert_eq!(config.places, [tcp("h1", 6000), tcp("::1", 6001)]);
        assert_eq!((config.user.as_str(), config.database.as_str()), ("jo@x", "my db"));
        assert_eq!(config.password, Some(Secret("p:w".into())));
        assert_eq!((config.ssl, config.options.as_deref()), (SslMode::Require, Some("-c a=b")));
        assert!(!format!("{config:?}").contains("p:w"));
    }

    #[test]
    fn pairs_may_be_quoted_and_sockets_are_directories() {
        let config = read(r"host=/run/x port = 7 user='a b' password='\'\\' dbname=d");
        assert_eq!(config.places, [Place::Unix("/run/x/.s.PGSQL.7".into())]);
        assert_eq!((config.user.as_str(), config.database.as_str()), ("a b", "d"));
        assert_eq!(config.password, Some(Secret(r"'\".into())));
        assert_eq!(
            read("postgresql://%2Frun%2Fx/d").places,
            [Place::Unix("/run/x/.s.PGSQL.5432".into())]
        );
    }

    #[test]
    fn what_nobody_says_is_as_people_expect() {
        let config = read("");
        assert_eq!((config.user.as_str(), config.database.as_str()), ("me", "me"));
        assert_eq!(config.places[0], Place::Unix("/var/run/postgresql/.s.PGSQL.5432".into()));
        assert_eq!(config.places[2], tcp("localhost", 5432));
        assert_eq!((config.application.as_str(), config.ssl), ("assay", SslMode::Prefer));
    }

    #[test]
    fn variables_say_what_the_text_does_not() {
        let variables = [("PGHOST", "other"), ("PGPORT", "99"), ("PGUSER", "you")];
        let config = read_with("host=h", &variables, None).unwrap();
        assert_eq!((config.places, config.user), (vec![tcp("h", 99)], "you".into()));
    }

    #[test]
    fn the_password_file_is_read_by_its_first_line_that_fits() {
        let text = "# no\nh:1:*:*:wrong\n*:5432:d\\:x:me:right:er\\\\\n*:*:*:*:last";
        let asked = |text: &str, mode, dsn: &str| {
            let home = [("HOME", "/home/me")];
            read_with(dsn, &home, Some((text, mode))).unwrap().password
        };
        let secret = |text: &str| Some(Secret(text.into()));
        assert_eq!(asked(text, 0o100_600, "host=h dbname=d:x"), secret(r"right:er\"));
        assert_eq!(asked(text, 0o100_600, "host=h port=2 dbname=e"), secret("last"));
        assert_eq!(asked(text, 0o100_644, "host=h"), None, "others may read it");
        assert_eq!(asked("h:1", 0o100_600, "host=h port=1"), None);
        assert_eq!(asked(text, 0o100_600, "host=h password=mine"), secret("mine"));
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let refused = |text: &str| read_with(text, &[], None).unwrap_err().to_string();
        assert!(refused("hots=a").contains("\"hots\"") && refused("hots=a").contains("host"));
        assert!(refused("nonsense").contains("neither a URL"));
        assert!(refused("host='a").contains("not closed"));
        assert!(refused("port=x").contains("\"x\""));
        assert!(refused("host=a,b port=1,2,3").contains("3 ports for 2 hosts"));
        assert!(refused("sslmode=yes").contains("verify-full"));
        assert!(refused("postgresql://h/d?a").contains("key=value"));
        assert!(refused("postgresql://%zz").contains("hexadecimal"));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".{0,80}", file in ".{0,80}") {
            let home = [("HOME", "/home/me")];
            let _ = read_with(&text, &home, Some((&file, 0o600)));
            let _ = read_with(&format!("postgresql://{text}"), &home, None);
        }

        #[test]
        fn quoted_values_come_back(value in ".{0,40}") {
            prop_assume!(!value.is_empty());
            let quoted = value.replace('\\', r"\\").replace('\'', r"\'");
            let config = read(&format!("host=h user='{quoted}'"));
            prop_assert_eq!(config.user, value);
        }
    }
}
