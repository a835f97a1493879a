//! Which proofs a server may ask for: `require_auth` and `channel_binding`, as libpq has them.

use super::config::ConfigError;

/// A way in which a client proves who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// None: the server trusts it, or knows its certificate.
    Nothing,
    /// The password as it is.
    Password,
    /// The password's MD5 hash.
    Md5,
    /// Kerberos.
    Gss,
    /// Windows.
    Sspi,
    /// SCRAM, with or without channel binding.
    Scram,
    /// A token.
    Oauth,
}

impl Proof {
    const ALL: [(&str, Self); 7] = [
        ("none", Self::Nothing),
        ("password", Self::Password),
        ("md5", Self::Md5),
        ("gss", Self::Gss),
        ("sspi", Self::Sspi),
        ("scram-sha-256", Self::Scram),
        ("oauth", Self::Oauth),
    ];

    /// Its name in `require_auth`.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, proof)| *proof == self).map_or("", |(name, _)| name)
    }
}

/// Whether a proof by SCRAM is bound to the encrypted line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Binding {
    /// Never.
    Disable,
    /// If the server can.
    #[default]
    Prefer,
    /// Always.
    Require,
}

impl Binding {
    /// The value of `channel_binding`.
    pub fn read(text: Option<&str>) -> Result<Self, ConfigError> {
        match text {
            None | Some("prefer") => Ok(Self::Prefer),
            Some("disable") => Ok(Self::Disable),
            Some("require") => Ok(Self::Require),
            Some(other) => Err(ConfigError(format!(
                "channel_binding {other:?}: one of disable, prefer, require"
            ))),
        }
    }
}

/// The proofs that `require_auth` allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed(Vec<Proof>);

impl Allowed {
    /// The value of `require_auth`: a list of proofs, or of those that are not allowed, each behind
    /// an exclamation mark.
    pub fn read(text: &str) -> Result<Self, ConfigError> {
        let names: Vec<&str> = text.split(',').collect();
        let excludes = names.iter().filter(|name| name.starts_with('!')).count();
        if excludes != 0 && excludes != names.len() {
            return Err(ConfigError(
                "require_auth names either proofs that are allowed or, each with an exclamation \
                 mark, proofs that are not"
                    .into(),
            ));
        }
        let mut proofs = Vec::new();
        for name in names {
            proofs.push(parse_proof(name.strip_prefix('!').unwrap_or(name))?);
        }
        let all = Proof::ALL.map(|(_, proof)| proof);
        let allowed = all.into_iter().filter(|proof| proofs.contains(proof) == (excludes == 0));
        Ok(Self(allowed.collect()))
    }

    /// Whether a server may ask for this proof.
    pub fn has(&self, proof: Proof) -> bool {
        self.0.contains(&proof)
    }
}

fn parse_proof(name: &str) -> Result<Proof, ConfigError> {
    let entry = Proof::ALL.iter().find(|(entry_name, _)| *entry_name == name);
    entry.map(|(_, proof)| *proof).ok_or_else(|| {
        let names = Proof::ALL.map(|(name, _)| name);
        ConfigError(format!("require_auth {name:?}: one of {}", names.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_allows_what_it_names_or_all_but_that() {
        let only = Allowed::read("scram-sha-256,md5").unwrap();
        assert!(only.has(Proof::Scram) && only.has(Proof::Md5));
        assert!(!only.has(Proof::Password) && !only.has(Proof::Nothing));
        let but = Allowed::read("!password,!none").unwrap();
        assert!(but.has(Proof::Scram) && !but.has(Proof::Password) && !but.has(Proof::Nothing));
        for text in ["md5,!none", "md5, none", "pasword", ""] {
            assert!(Allowed::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn binding_has_three_values() {
        assert_eq!(Binding::read(Some("require")).unwrap(), Binding::Require);
        assert!(Binding::read(Some("always")).unwrap_err().to_string().contains("require"));
    }
}
