//! How a client proves who it is, and to whom it hands a password.

use mysql_common::auth::plugins::{AuthProc, ChallengeResponsePlugin, Context};
use mysql_common::constants::{CapabilityFlags, MariadbCapabilities};
use mysql_common::packets::{AuthPlugin, HandshakeResponse};
use mysql_common::proto::MySerialize;

use super::packets::Fields;
use super::startup::{Greeting, PACKET_BYTES, Talk, status, text};
use crate::session::connecting::{ConnectError, is_private};
use crate::session::stream::Stream;

const OK: u8 = 0x00;
const MORE: u8 = 0x01;
const SWITCH: u8 = 0xfe;
/// The server does not remember the password's hash, and wants the password itself.
const WHOLE: &[u8] = &[0x04];
const TRUSTED: &str = "ssl_mode=verify-ca or verify-identity with ssl_ca=FILE";

/// The inputs of a proof of the password.
struct Proof<'a> {
    password: &'a [u8],
    nonce: &'a [u8],
    stream: &'a Stream,
    key: Option<&'a [u8]>,
}

impl Context for Proof<'_> {
    fn pass(&self) -> &[u8] {
        self.password
    }

    fn is_ipc_transport(&self) -> bool {
        matches!(self.stream, Stream::Unix(_))
    }

    fn is_tls_transport(&self) -> bool {
        matches!(self.stream, Stream::Tls(_))
    }

    fn scramble(&self) -> &[u8] {
        self.nonce
    }

    fn server_key_pem(&self) -> Option<&[u8]> {
        self.key
    }
}

/// One proof under way.
struct Proving {
    steps: AuthProc,
    /// Whether the server may remember the password's hash.
    is_remembered: bool,
    nonce: Vec<u8>,
}

impl Talk<'_> {
    /// Says who we are, and answers what the server asks until it is content.
    pub(super) fn prove(
        mut self,
        greeting: &Greeting,
        capabilities: CapabilityFlags,
        extensions: MariadbCapabilities,
    ) -> Result<(Stream, u16), ConnectError> {
        let plugin = first_plugin(greeting);
        let (mut proving, first) = self.begin(&plugin, &greeting.nonce)?;
        let first = first.unwrap_or_default();
        self.introduce(plugin, first, greeting, capabilities, extensions)?;
        loop {
            let body = self.next()?;
            let answer = match body.split_first() {
                Some((&OK, rest)) => {
                    let status = status(rest).map_err(|reason| self.garbled(reason))?;
                    return Ok((self.stream, status));
                }
                Some((&SWITCH, rest)) => {
                    let mut fields = Fields(rest);
                    let name = text(&mut fields).map_err(|_| {
                        self.proof("a proof of before version 4.1: give the account a newer one")
                    })?;
                    let nonce = fields.0.strip_suffix(&[0]).unwrap_or(fields.0);
                    let (next, answer) = self.begin(&AuthPlugin::from_bytes(name), nonce)?;
                    proving = next;
                    Some(answer.unwrap_or_default())
                }
                Some((&MORE, challenge)) => self.go_on(&mut proving, challenge)?,
                _ => return Err(self.garbled("no answer to a proof".into())),
            };
            if let Some(answer) = answer {
                self.send(&answer)?;
            }
        }
    }

    fn introduce(
        &mut self,
        plugin: AuthPlugin<'static>,
        first: Vec<u8>,
        greeting: &Greeting,
        mut capabilities: CapabilityFlags,
        extensions: MariadbCapabilities,
    ) -> Result<(), ConnectError> {
        if matches!(self.stream, Stream::Tls(_)) {
            capabilities |= CapabilityFlags::CLIENT_SSL;
        }
        let mut body = Vec::new();
        HandshakeResponse::new(
            Some(first),
            (5, 5, 3),
            Some(self.config.user.as_bytes()),
            self.config.database.as_deref().map(str::as_bytes),
            Some(plugin),
            capabilities & greeting.capabilities,
            None,
            PACKET_BYTES,
        )
        .with_mariadb_ext_capabilities(extensions)
        .serialize(&mut body);
        self.send(&body)
    }

    /// Begins a proof of the kind that the server wants, and what is sent first.
    fn begin(
        &self,
        plugin: &AuthPlugin<'_>,
        nonce: &[u8],
    ) -> Result<(Proving, Option<Vec<u8>>), ConnectError> {
        match plugin {
            AuthPlugin::MysqlClearPassword => self.check_cleartext()?,
            AuthPlugin::Sha256Password => self.check_password()?,
            AuthPlugin::MysqlOldPassword => return Err(self.foreign(plugin)),
            _ => {}
        }
        let steps = plugin.init().map_err(|_| self.foreign(plugin))?;
        let is_remembered = *plugin == AuthPlugin::CachingSha2Password;
        let mut proving = Proving { steps, is_remembered, nonce: nonce.to_vec() };
        let answer = self.step(&mut proving, nonce)?;
        let answer = answer.map_err(|_| self.foreign(plugin))?;
        Ok((proving, answer))
    }

    fn go_on(
        &self,
        proving: &mut Proving,
        challenge: &[u8],
    ) -> Result<Option<Vec<u8>>, ConnectError> {
        if proving.is_remembered && challenge == WHOLE {
            self.check_password()?;
        }
        let answer = self.step(proving, challenge)?;
        answer.map_err(|reason| self.garbled(format!("in a proof: {reason}")))
    }

    /// One step of a proof; the inner error is that of the protocol.
    #[allow(clippy::type_complexity)]
    fn step(
        &self,
        proving: &mut Proving,
        challenge: &[u8],
    ) -> Result<Result<Option<Vec<u8>>, String>, ConnectError> {
        let key = self.pinned_key()?;
        let proof = Proof {
            password: self.config.password(),
            nonce: &proving.nonce,
            stream: &self.stream,
            key: key.as_deref(),
        };
        let answer = proving.steps.run(proof, challenge);
        Ok(answer.map(|answer| answer.data().map(<[u8]>::to_vec)).map_err(|e| e.to_string()))
    }

    fn pinned_key(&self) -> Result<Option<Vec<u8>>, ConnectError> {
        let Some(path) = &self.config.server_public_key else { return Ok(None) };
        let unreadable = |error| {
            self.proof(&format!(
                "the password encrypted with the key of server_public_key, and {} cannot be read: \
                 {error}",
                path.display()
            ))
        };
        std::fs::read(path).map(Some).map_err(unreadable)
    }

    /// Whether only the server that is meant can read what is sent.
    fn is_private(&self) -> bool {
        is_private(&self.stream, self.config.tls.policy().verifies())
    }

    /// Refuses to send a password as it is to a server that may be anyone.
    fn check_cleartext(&self) -> Result<(), ConnectError> {
        if self.config.password().is_empty() || self.is_private() {
            return Ok(());
        }
        Err(self.proof(&format!(
            "the password in the clear (mysql_clear_password), and the server has not proved who it \
             is: use {TRUSTED}"
        )))
    }

    /// Refuses a password to a server that may be anyone, over TLS or encrypted with its own key.
    fn check_password(&self) -> Result<(), ConnectError> {
        let config = self.config;
        let encrypts = matches!(self.stream, Stream::Tcp(_)) && config.server_public_key.is_some();
        let is_safe = encrypts || self.is_private() || config.trusts_any_server;
        if is_safe || config.password().is_empty() {
            return Ok(());
        }
        let pinned = match self.stream {
            Stream::Tcp(_) => ", name its key with server_public_key=FILE",
            _ => "",
        };
        Err(self.proof(&format!(
            "the password, and has not proved who it is: use {TRUSTED}{pinned}, or trust whoever \
             answers with get_server_public_key=1"
        )))
    }

    fn foreign(&self, plugin: &AuthPlugin<'_>) -> ConnectError {
        let name = String::from_utf8_lossy(plugin.as_bytes());
        self.proof(&format!(
            "a proof by the plugin {name}, which is not spoken here: use an account with \
             caching_sha2_password or mysql_native_password"
        ))
    }
}

/// The server's favourite need not be the account's: then it asks for another one.
fn first_plugin(greeting: &Greeting) -> AuthPlugin<'static> {
    match AuthPlugin::from_bytes(&greeting.plugin) {
        AuthPlugin::CachingSha2Password => AuthPlugin::CachingSha2Password,
        AuthPlugin::Sha256Password => AuthPlugin::Sha256Password,
        _ => AuthPlugin::MysqlNativePassword,
    }
}
