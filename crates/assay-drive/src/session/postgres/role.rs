//! What a server of a list has to be: `target_session_attrs`, as libpq has it.

use std::collections::BTreeMap;

use super::config::ConfigError;

/// The state that a server must be in for a session to stay with it (`target_session_attrs`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// Anything.
    #[default]
    Any,
    /// Sessions can write.
    ReadWrite,
    /// Sessions can only read.
    ReadOnly,
    /// It replays no other server's log.
    Primary,
    /// It replays another server's log.
    Standby,
    /// A standby; any server where none of the listed ones is a standby.
    PreferStandby,
}

/// Parameters by which a server reports its state, from version 14 on.
const REPLAYS: &str = "in_hot_standby";
const READS: &str = "default_transaction_read_only";

impl Role {
    const ALL: [(&str, Self); 6] = [
        ("any", Self::Any),
        ("read-write", Self::ReadWrite),
        ("read-only", Self::ReadOnly),
        ("primary", Self::Primary),
        ("standby", Self::Standby),
        ("prefer-standby", Self::PreferStandby),
    ];

    /// The value of `target_session_attrs`.
    pub fn read(text: Option<&str>) -> Result<Self, ConfigError> {
        let text = text.unwrap_or("any");
        let entry = Self::ALL.iter().find(|(name, _)| *name == text);
        entry.map(|(_, role)| *role).ok_or_else(|| {
            let names = Self::ALL.map(|(name, _)| name);
            ConfigError(format!("target_session_attrs {text:?}: one of {}", names.join(", ")))
        })
    }

    /// The roles that a list of servers is gone through for, one after another.
    pub const fn rounds(self) -> &'static [Self] {
        match self {
            Self::Any => &[Self::Any],
            Self::ReadWrite => &[Self::ReadWrite],
            Self::ReadOnly => &[Self::ReadOnly],
            Self::Primary => &[Self::Primary],
            Self::Standby => &[Self::Standby],
            Self::PreferStandby => &[Self::Standby, Self::Any],
        }
    }

    /// The query whose one value, a boolean, says about a server what its parameters do not; `None`:
    /// nothing is to be asked. Versions before 14, and most poolers, report neither parameter.
    pub fn question(self, parameters: &BTreeMap<String, String>) -> Option<&'static str> {
        let is_missing = |name: &str| !parameters.contains_key(name);
        match self {
            Self::Any => None,
            Self::ReadWrite | Self::ReadOnly => {
                (is_missing(REPLAYS) || is_missing(READS)).then_some("show transaction_read_only")
            }
            Self::Primary | Self::Standby | Self::PreferStandby => {
                is_missing(REPLAYS).then_some("select pg_catalog.pg_is_in_recovery()")
            }
        }
    }

    /// Why a server is not taken, by its parameters, or by its answer to the question.
    pub fn refusal(
        self,
        parameters: &BTreeMap<String, String>,
        answer: Option<bool>,
    ) -> Option<&'static str> {
        let is_on = |name: &str| parameters.get(name).is_some_and(|value| value == "on");
        let replays = answer.unwrap_or_else(|| is_on(REPLAYS));
        let reads = answer.unwrap_or_else(|| is_on(REPLAYS) || is_on(READS));
        match self {
            Self::ReadWrite if reads => Some("its sessions can only read"),
            Self::ReadOnly if !reads => Some("its sessions can write"),
            Self::Primary if replays => Some("it is a standby"),
            Self::Standby | Self::PreferStandby if !replays => Some("it is no standby"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(replays: &str, reads: &str) -> BTreeMap<String, String> {
        let said = [("in_hot_standby", replays), ("default_transaction_read_only", reads)];
        said.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn a_server_is_taken_by_what_it_says_of_itself() {
        let taken = |text: &str, server: &BTreeMap<String, String>| {
            let role = Role::read(Some(text)).unwrap();
            assert_eq!(role.question(server), None);
            role.refusal(server, None).is_none()
        };
        let (primary, standby) = (server("off", "off"), server("on", "off"));
        let reader = server("off", "on");
        for (text, expected) in [
            ("any", [true, true, true]),
            ("read-write", [true, false, false]),
            ("read-only", [false, true, true]),
            ("primary", [true, false, true]),
            ("standby", [false, true, false]),
        ] {
            let all = [&primary, &standby, &reader].map(|server| taken(text, server));
            assert_eq!(all, expected, "{text}");
        }
        assert!(Role::read(Some("leader")).unwrap_err().to_string().contains("standby"));
    }

    #[test]
    fn a_server_that_says_nothing_of_itself_is_asked() {
        let silent = BTreeMap::new();
        for (text, question, [on, off]) in [
            ("any", None, [true, true]),
            ("read-write", Some("read_only"), [false, true]),
            ("read-only", Some("read_only"), [true, false]),
            ("primary", Some("in_recovery"), [false, true]),
            ("standby", Some("in_recovery"), [true, false]),
        ] {
            let role = Role::read(Some(text)).unwrap();
            let asked = role.question(&silent);
            assert_eq!(asked.is_some(), question.is_some(), "{text}");
            assert!(asked.is_none_or(|sql| sql.contains(question.unwrap())), "{text}");
            let taken = |answer| role.refusal(&silent, Some(answer)).is_none();
            assert_eq!([taken(true), taken(false)], [on, off], "{text}");
        }
        let recent = server("off", "off");
        assert_eq!(Role::ReadWrite.question(&recent), None);
    }
}
