//! Tests of what a description means.

use std::path::Path;

use super::config::{Config, ConfigError, Surroundings};
use crate::session::connecting::{Place, Secret, SslMode};
use crate::session::tls::{Identity, Trust};
use proptest::prelude::*;

/// The files that there are.
const EXISTING: [&str; 4] =
    ["/home/me/.postgresql/root.crt", "/root.crt", "/client.crt", "/client.key"];

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
    Config::read(
        text,
        &Surroundings {
            variable: &variable,
            file: &file,
            exists: &|path| EXISTING.contains(&path.to_str().unwrap()),
            user: &user,
        },
    )
}

fn read(text: &str) -> Config {
    read_with(text, &[], None).unwrap()
}

fn at(config: &Config) -> Vec<Place> {
    config.servers.iter().map(|server| server.place.clone()).collect()
}

fn password(config: &Config) -> Option<Secret> {
    config.servers[0].password.clone()
}

fn tcp(host: &str, port: u16) -> Place {
    Place::Tcp(host.into(), port)
}

#[test]
fn a_url_says_everything() {
    let url =
        "postgresql://jo%40x:p%3Aw@h1:6000,[::1]:6001/my%20db?sslmode=require&options=-c%20a%3Db";
    let config = read(url);
    assert_eq!(at(&config), [tcp("h1", 6000), tcp("::1", 6001)]);
    assert_eq!((config.user.as_str(), config.database.as_str()), ("jo@x", "my db"));
    assert_eq!(password(&config), Some(Secret("p:w".into())));
    assert_eq!((config.ssl, config.options.as_deref()), (SslMode::Require, Some("-c a=b")));
    assert!(!format!("{config:?}").contains("p:w"));
}

#[test]
fn pairs_may_be_quoted_and_sockets_are_directories() {
    let config = read(r"host=/run/x port = 7 user='a b' password='\'\\' dbname=d");
    assert_eq!(at(&config), [Place::Unix("/run/x/.s.PGSQL.7".into())]);
    assert_eq!((config.user.as_str(), config.database.as_str()), ("a b", "d"));
    assert_eq!(password(&config), Some(Secret(r"'\".into())));
    assert_eq!(
        at(&read("postgresql://%2Frun%2Fx/d")),
        [Place::Unix("/run/x/.s.PGSQL.5432".into())]
    );
}

#[test]
fn what_nobody_says_is_as_people_expect() {
    let config = read("");
    assert_eq!((config.user.as_str(), config.database.as_str()), ("me", "me"));
    assert_eq!(at(&config)[0], Place::Unix("/var/run/postgresql/.s.PGSQL.5432".into()));
    assert_eq!(at(&config)[2], tcp("localhost", 5432));
    assert_eq!((config.application.as_str(), config.ssl), ("assay", SslMode::Prefer));
}

#[test]
fn variables_say_what_the_text_does_not() {
    let variables = [("PGHOST", "other"), ("PGPORT", "99"), ("PGUSER", "you")];
    let config = read_with("host=h", &variables, None).unwrap();
    assert_eq!((at(&config), config.user.clone()), (vec![tcp("h", 99)], "you".into()));
}

#[test]
fn the_password_file_is_read_by_its_first_line_that_fits() {
    let text = "# no\nh:1:*:*:wrong\n*:5432:d\\:x:me:right:er\\\\\n*:*:*:*:last";
    let asked = |text: &str, mode, dsn: &str| {
        let home = [("HOME", "/home/me")];
        password(&read_with(dsn, &home, Some((text, mode))).unwrap())
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

#[test]
fn an_address_says_where_and_a_name_what_certificates_and_the_password_file_call_it() {
    let home = [("HOME", "/home/me")];
    let file = "127.0.0.1:*:*:*:of the address\ndb.example:*:*:*:of the name";
    let read = |text: &str| read_with(text, &home, Some((file, 0o600))).unwrap();
    let config = read("host=db.example hostaddr=127.0.0.1");
    assert_eq!(at(&config), [tcp("127.0.0.1", 5432)]);
    assert_eq!(config.servers[0].name.as_deref(), Some("db.example"));
    assert_eq!(password(&config), Some(Secret("of the name".into())));
    let config = read("hostaddr=127.0.0.1");
    assert_eq!((config.servers[0].name.clone(), at(&config)), (None, vec![tcp("127.0.0.1", 5432)]));
    assert_eq!(password(&config), Some(Secret("of the address".into())));
    let refused = |text: &str| read_with(text, &[], None).unwrap_err().to_string();
    assert!(refused("host=a,b hostaddr=127.0.0.1").contains("1 addresses for 2 hosts"));
    assert!(refused("hostaddr=db.example").contains("is no address"));
}

#[test]
fn each_server_of_a_list_has_its_own_password() {
    let home = [("HOME", "/home/me")];
    let file = "a:*:*:*:of a\nb:*:*:*:of b";
    let config = read_with("host=a,b,c", &home, Some((file, 0o600))).unwrap();
    let passwords: Vec<_> = config
        .servers
        .iter()
        .map(|s| s.password.as_ref().map(|secret| secret.0.as_str()))
        .collect();
    assert_eq!(passwords, [Some("of a"), Some("of b"), None]);
}

#[test]
fn the_file_calls_sockets_of_the_default_directories_localhost() {
    let home = [("HOME", "/home/me")];
    let file = "localhost:*:*:*:of localhost\n/run/x:*:*:*:of the directory";
    let asked = |text: &str| password(&read_with(text, &home, Some((file, 0o600))).unwrap());
    let secret = |text: &str| Some(Secret(text.into()));
    assert_eq!(asked(""), secret("of localhost"));
    assert_eq!(asked("host=/tmp"), secret("of localhost"));
    assert_eq!(asked("host=/run/x"), secret("of the directory"));
    assert_eq!(asked("host=/run/y"), None);
}

#[test]
fn certificates_that_are_trusted_are_looked_at_in_every_mode() {
    let home = [("HOME", "/home/me")];
    let trust = |text: &str| read_with(text, &home, None).map(|config| config.tls.trust);
    let file = |path: &str| Ok(Trust::File(path.into()));
    assert_eq!(trust("sslmode=require sslrootcert=/root.crt"), file("/root.crt"));
    assert_eq!(trust("sslmode=require"), file("/home/me/.postgresql/root.crt"));
    assert_eq!(trust("sslmode=require sslrootcert=/nosuch"), Ok(Trust::Anyone));
    assert_eq!(trust("sslmode=verify-ca sslrootcert=/nosuch"), file("/nosuch"));
    assert_eq!(trust("sslrootcert=system"), Ok(Trust::Host));
    assert!(trust("sslrootcert=system sslmode=require").is_err());
    let system = read("sslrootcert=system");
    assert!(system.ssl == SslMode::VerifyFull && system.tls.checks_name);
    assert!(!read("sslmode=require sslrootcert=/root.crt").tls.checks_name);
    assert!(read_with("sslmode=verify-ca", &[], None).is_err(), "no root certificate is named");
}

#[test]
fn a_certificate_that_is_there_is_shown_with_its_key() {
    let identity = |text: &str| read(text).tls.identity;
    let pair = Identity { certificate: "/client.crt".into(), key: "/client.key".into() };
    let said = "sslcert=/client.crt sslkey=/client.key";
    assert_eq!(identity(said), Some(pair));
    assert_eq!(identity(&format!("{said} sslcertmode=disable")), None);
    assert_eq!(identity("sslcert=/nosuch sslkey=/client.key"), None);
}

#[test]
fn what_sessions_cannot_keep_is_refused_and_what_asks_for_nothing_is_not() {
    let refused = |text: &str| read_with(text, &[], None).unwrap_err().to_string();
    for (text, word) in [
        ("gssencmode=require", "sslmode"),
        ("host=a,b load_balance_hosts=roundrobin", "disable, random"),
        ("sslpassword=x", "passphrase"),
        ("service=x", "service file"),
        ("sslcertmode=require", "clientcert"),
        ("sslnegotiation=direct", "sslmode=require"),
        ("ssl_max_protocol_version=TLSv1.1", "TLSv1.2"),
        ("require_auth=md5,!none", "exclamation"),
        ("channel_binding=yes", "disable, prefer, require"),
        ("target_session_attrs=leader", "prefer-standby"),
        ("postgresql://me:a@b@h/d", "%40"),
    ] {
        assert!(refused(text).contains(word), "{text}: {}", refused(text));
    }
    read("gssencmode=prefer load_balance_hosts=disable replication=false sslcompression=1");
    let variables = [("PGLOADBALANCEHOSTS", "random")];
    assert!(read_with("host=a,b", &variables, None).unwrap().spreads);
    assert!(!read_with("host=a,b load_balance_hosts=disable", &variables, None).unwrap().spreads);
    assert!(!read_with("", &variables, None).unwrap().spreads, "these places are one server's");
}

#[test]
fn a_url_is_cut_as_libpq_cuts_it() {
    let config = read("postgresql://me:a?b@h/d?ssl=true");
    assert_eq!(password(&config), Some(Secret("a?b".into())));
    assert_eq!((at(&config), config.ssl), (vec![tcp("h", 5432)], SslMode::Require));
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
