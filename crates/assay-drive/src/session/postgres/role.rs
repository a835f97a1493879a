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

    /// Why a server is not taken, by what it said of itself; versions before 14 say nothing.
    pub fn refusal(self, parameters: &BTreeMap<String, String>) -> Option<&'static str> {
        let is_on = |name: &str| parameters.get(name).map(|value| value == "on");
        if self == Self::Any {
            return None;
        }
        let (Some(replays), Some(reads)) =
            (is_on("in_hot_standby"), is_on("default_transaction_read_only"))
        else {
            return Some("it is older than version 14, and does not say whether it is a standby");
        };
        match self {
            Self::ReadWrite if replays || reads => Some("its sessions can only read"),
            Self::ReadOnly if !replays && !reads => Some("its sessions can write"),
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
            Role::read(Some(text)).unwrap().refusal(server).is_none()
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
        assert!(!taken("primary", &BTreeMap::new()) && taken("any", &BTreeMap::new()));
        assert!(Role::read(Some("leader")).unwrap_err().to_string().contains("standby"));
    }
}
