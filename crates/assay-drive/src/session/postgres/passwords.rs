//! The password file.

use crate::session::connecting::Secret;

/// Where servers put their sockets when nobody says otherwise; the file calls them `localhost`.
pub const SOCKET_DIRS: [&str; 2] = ["/var/run/postgresql", "/tmp"];

/// Who asks whom, as the file's lines name it.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The host as it was written, or its address where only that was.
    pub host: &'a str,
    /// The port.
    pub port: u16,
    /// The database.
    pub database: &'a str,
    /// The user.
    pub user: &'a str,
}

/// The password of the first line `host:port:database:user:password` that fits, each field or `*`.
pub fn password_from((text, mode): &(String, u32), wanted: Wanted<'_>) -> Option<Secret> {
    // A file that others may read is not taken, as PostgreSQL's clients do not.
    if mode & 0o077 != 0 {
        return None;
    }
    let is_default = wanted.host.is_empty() || SOCKET_DIRS.contains(&wanted.host);
    let host = if is_default { "localhost" } else { wanted.host };
    let port = wanted.port.to_string();
    let values = [host, &port, wanted.database, wanted.user];
    let lines = text.lines().filter(|line| !line.starts_with('#')).filter_map(fields);
    let mut fitting = lines.filter(|fields| {
        fields.iter().zip(values).all(|(field, value)| field == "*" || field == value)
    });
    fitting.next().map(|[_, _, _, _, password]| Secret(password))
}

/// Five fields; `\:` and `\\` stand for themselves. `None`: the line has fewer.
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
    (place == 4).then_some(fields)
}
