//! What a connection is opened with.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::path::PathBuf;

use rusqlite::{Connection, Error, OpenFlags, ffi};
use serde::Deserialize;

use super::library;
use crate::session::SessionError;

/// Classes that stand for a result code whatever more it says.
const PRIMARY_MASK: c_int = 0xff;

/// A database file, and how its connections are set up.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The file.
    pub path: PathBuf,
    /// Statements that a new connection executes, such as pragmas.
    #[serde(default)]
    pub init: Vec<String>,
    /// SQLite's names of its result codes, extended ones included.
    #[serde(default)]
    pub names: BTreeMap<c_int, String>,
}

impl Config {
    /// A connection more to the file, which has to be there.
    ///
    /// # Errors
    /// If SQLite has not handed over its functions, or refuses the file or a statement.
    pub fn open(&self) -> Result<Connection, SessionError> {
        if !library::is_there() {
            return Err(failure("library", "no connection of apsw has loaded Assay's core yet"));
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let open = || {
            let connection = Connection::open_with_flags(&self.path, flags)?;
            for statement in &self.init {
                let mut prepared = connection.prepare(statement)?;
                let mut rows = prepared.raw_query();
                while rows.next()?.is_some() {}
            }
            Ok(connection)
        };
        open().map_err(|error| self.session_error(error))
    }

    /// An error as the driver counts it: by SQLite's name of it. Whoever finds the file or a table locked may try
    /// again.
    pub fn session_error(&self, error: Error) -> SessionError {
        let (code, message) = match error {
            Error::SqliteFailure(cause, Some(message)) => (cause.extended_code, message),
            Error::SqlInputError { error: cause, msg, .. } => (cause.extended_code, msg),
            Error::SqliteFailure(cause, None) => (cause.extended_code, cause.to_string()),
            other => return failure("sqlite", other.to_string()),
        };
        let name = self.names.get(&code).or_else(|| self.names.get(&(code & PRIMARY_MASK)));
        SessionError {
            class: name.map_or_else(|| format!("SQLITE_{code}"), Clone::clone),
            message,
            retryable: [ffi::SQLITE_BUSY, ffi::SQLITE_LOCKED].contains(&(code & PRIMARY_MASK)),
        }
    }
}

/// An error of ours.
pub fn failure(class: &str, message: impl Into<String>) -> SessionError {
    SessionError { class: class.into(), message: message.into(), retryable: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Config {
        serde_json::from_str(
            r#"{"path": "x", "names": {"5": "SQLITE_BUSY", "517": "SQLITE_BUSY_SNAPSHOT", "1": "SQLITE_ERROR"}}"#,
        )
        .unwrap()
    }

    #[test]
    fn an_error_has_the_name_of_its_extended_code_or_else_of_its_code() {
        let session_error = |code, message: Option<&str>| {
            config()
                .session_error(Error::SqliteFailure(ffi::Error::new(code), message.map(Into::into)))
        };
        let busy = session_error(517, Some("database is locked"));
        assert_eq!((busy.class.as_str(), busy.retryable), ("SQLITE_BUSY_SNAPSHOT", true));
        assert_eq!(busy.message, "database is locked");
        assert_eq!(session_error(5 | 9 << 8, Some("")).class, "SQLITE_BUSY");
        let other = session_error(1, Some(""));
        assert_eq!((other.class.as_str(), other.retryable), ("SQLITE_ERROR", false));
        assert_eq!(session_error(77, Some("")).class, "SQLITE_77");
    }

    #[test]
    fn nothing_is_opened_before_sqlite_is_there() {
        assert!(config().open().unwrap_err().message.contains("apsw"));
    }
}
