//! How a client proves who it is, and what it asks of the server's proof.

use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{
    ChannelBinding, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramSha256,
};
use postgres_protocol::message::backend::{AuthenticationSaslBody, Message};
use postgres_protocol::message::frontend;

use fallible_iterator::FallibleIterator;

use super::proofs::{Binding, Proof};
use super::startup::Talk;
use crate::session::connecting::{ConnectError, is_private};
use crate::session::stream::Stream;
use crate::session::tls::end_point_digest;

/// The library's error for a password of more rounds than it computes.
const TOO_MANY_ROUNDS: &str = "iteration count exceeds";

/// How far each side has proved who it is.
#[derive(Clone, Copy, Debug, Default)]
struct Proved {
    /// The client has said all that the server asked for.
    is_finished: bool,
    /// The proof is bound to the encrypted line.
    is_bound: bool,
}

impl Talk<'_> {
    /// Answers what the server asks, until it is content.
    pub(super) fn prove(&mut self) -> Result<(), ConnectError> {
        let mut proved = Proved::default();
        loop {
            match self.next()? {
                Message::AuthenticationOk => return self.check_proved(proved),
                _ if proved.is_finished => {
                    return Err(self.proof("another proof after the one that it asked for"));
                }
                Message::AuthenticationCleartextPassword => {
                    self.check_unbound(Proof::Password)?;
                    self.check_cleartext()?;
                    let password = self.known_password()?;
                    self.password(password.as_bytes())?;
                    proved.is_finished = true;
                }
                Message::AuthenticationMd5Password(body) => {
                    self.check_unbound(Proof::Md5)?;
                    let password = self.known_password()?;
                    let user = self.config.user.as_bytes();
                    let hash = md5_hash(user, password.as_bytes(), body.salt());
                    self.password(hash.as_bytes())?;
                    proved.is_finished = true;
                }
                Message::AuthenticationSasl(body) => {
                    self.check_allowed(Proof::Scram)?;
                    proved = Proved { is_finished: true, is_bound: self.scram(&body)? };
                }
                _ => {
                    return Err(self.proof(
                        "a proof other than a password (Kerberos, GSSAPI or SSPI): use a role with a \
                         password",
                    ));
                }
            }
        }
    }

    fn known_password(&self) -> Result<String, ConnectError> {
        let password = self.endpoint.server.password.clone();
        password.map(|secret| secret.0).ok_or_else(|| {
            self.proof(
                "a password, and none is known: put it into the password file (~/.pgpass), into \
                 PGPASSWORD or into the URL",
            )
        })
    }

    fn check_allowed(&self, proof: Proof) -> Result<(), ConnectError> {
        if self.config.allowed.as_ref().is_none_or(|allowed| allowed.has(proof)) {
            return Ok(());
        }
        Err(self.proof(&match proof {
            Proof::Nothing => "no proof of who the client is, and require_auth wants one".into(),
            proof => format!("the proof {:?}, which require_auth does not allow", proof.name()),
        }))
    }

    /// Refuses a proof that cannot be bound to the encrypted line where it has to be.
    fn check_unbound(&self, proof: Proof) -> Result<(), ConnectError> {
        self.check_allowed(proof)?;
        if self.config.binding == Binding::Require {
            return Err(self.unbound());
        }
        Ok(())
    }

    fn unbound(&self) -> ConnectError {
        self.proof(
            "a proof that is not bound to the line by TLS, and channel_binding=require wants one \
             that is: use TLS and a role with a SCRAM-SHA-256 password",
        )
    }

    /// Refuses to send a password as it is to a server that may be anyone.
    fn check_cleartext(&self) -> Result<(), ConnectError> {
        let is_said = self.config.allowed.is_some();
        if is_said || is_private(&self.stream, self.config.tls.verifies()) {
            return Ok(());
        }
        Err(self.proof(
            "the password in the clear, and has not proved who it is: use sslmode=verify-full with \
             sslrootcert, or allow it with require_auth=password",
        ))
    }

    fn check_proved(&self, proved: Proved) -> Result<(), ConnectError> {
        if !proved.is_finished {
            self.check_allowed(Proof::Nothing)?;
        }
        if self.config.binding == Binding::Require && !proved.is_bound {
            return Err(self.unbound());
        }
        Ok(())
    }

    fn password(&mut self, text: &[u8]) -> Result<(), ConnectError> {
        frontend::password_message(text, &mut self.out).map_err(|error| self.garbled(&error))?;
        self.send()
    }

    /// The mechanism of SCRAM, and how it is bound to the line.
    fn mechanism(
        &self,
        body: &AuthenticationSaslBody,
    ) -> Result<(&'static str, ChannelBinding), ConnectError> {
        let offered: Vec<String> = body
            .mechanisms()
            .map(|name| Ok(name.to_owned()))
            .collect()
            .map_err(|error| self.garbled(&error))?;
        let offers = |name: &str| offered.iter().any(|offer| offer == name);
        let is_encrypted = matches!(self.stream, Stream::Tls(_));
        let wants = self.config.binding != Binding::Disable;
        if offers(SCRAM_SHA_256_PLUS) && !is_encrypted {
            return Err(self.proof("a proof that is bound to TLS over a line without it"));
        }
        if let (true, true, Some(digest)) =
            (wants, offers(SCRAM_SHA_256_PLUS), self.end_point_digest())
        {
            return Ok((SCRAM_SHA_256_PLUS, ChannelBinding::tls_server_end_point(digest)));
        }
        if self.config.binding == Binding::Require {
            return Err(self.unbound());
        }
        if !offers(SCRAM_SHA_256) {
            return Err(self.proof("a kind of SASL other than SCRAM-SHA-256"));
        }
        // Says whether we would have bound it, so that the server notes an offer that was removed.
        let would = is_encrypted && wants && !offers(SCRAM_SHA_256_PLUS);
        let binding =
            if would { ChannelBinding::unrequested() } else { ChannelBinding::unsupported() };
        Ok((SCRAM_SHA_256, binding))
    }

    fn end_point_digest(&self) -> Option<Vec<u8>> {
        let Stream::Tls(line) = &self.stream else { return None };
        end_point_digest(line.conn.peer_certificates()?.first()?)
    }

    /// Whether the proof was bound to the line.
    fn scram(&mut self, body: &AuthenticationSaslBody) -> Result<bool, ConnectError> {
        let (mechanism, binding) = self.mechanism(body)?;
        let password = self.known_password()?;
        let mut scram = ScramSha256::new(password.as_bytes(), binding);
        frontend::sasl_initial_response(mechanism, scram.message(), &mut self.out)
            .map_err(|error| self.garbled(&error))?;
        self.send()?;
        let Message::AuthenticationSaslContinue(body) = self.next()? else {
            return Err(self.proof("something else in the middle of SCRAM"));
        };
        scram.update(body.data()).map_err(|error| {
            if error.to_string().contains(TOO_MANY_ROUNDS) {
                return self.proof(
                    "a proof by SCRAM with more than 100,000 rounds, which sessions do not compute: \
                     lower the server's scram_iterations, and set the password again",
                );
            }
            self.garbled(&error)
        })?;
        frontend::sasl_response(scram.message(), &mut self.out)
            .map_err(|error| self.garbled(&error))?;
        self.send()?;
        let Message::AuthenticationSaslFinal(body) = self.next()? else {
            return Err(self.proof("something else at the end of SCRAM"));
        };
        scram.finish(body.data()).map_err(|error| self.garbled(&error))?;
        Ok(mechanism == SCRAM_SHA_256_PLUS)
    }
}
