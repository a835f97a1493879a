//! Sessions of a server that sends back each byte, and what they record.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use arrow_ipc::reader::StreamReader;
use assay_drive::run::Parts;
use assay_drive::session::{Backend, SharedSession, Step};
use assay_drive::{CancelFlag, Fetched, Session, SessionError};
use assay_model::{Arrival, Phase, Plan};

/// How long a session waits for a server that says nothing.
pub const SILENCE: Duration = Duration::from_millis(600);

/// Sends a byte and waits for it to come back. Its server drops the line after `answers` answers.
pub struct Echo {
    pub line: Option<UnixStream>,
    pub answers: usize,
    pub delay: Duration,
    /// How long its rows are digested, beyond the clock.
    pub digested: Duration,
    /// Whether a lost connection can be made anew.
    pub comes_back: bool,
    /// A server that takes connections and says nothing, for which it waits before it gives up.
    pub silent: Option<SocketAddr>,
    pub connections: u32,
    pub reported: u32,
}

impl Echo {
    pub fn open(answers: usize, delay: Duration, comes_back: bool) -> Self {
        let digested = Duration::ZERO;
        let mut session = Self {
            line: None,
            answers,
            delay,
            digested,
            comes_back,
            silent: None,
            connections: 0,
            reported: 0,
        };
        session.connect();
        session
    }

    fn connect(&mut self) {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let (answers, delay) = (self.answers, self.delay);
        std::thread::spawn(move || {
            let mut byte = [0];
            for _ in 0..answers {
                if theirs.read_exact(&mut byte).is_err() {
                    return;
                }
                std::thread::sleep(delay);
                if theirs.write_all(&byte).is_err() {
                    return;
                }
            }
        });
        self.line = Some(ours);
        self.connections += 1;
    }

    fn lost(&mut self) -> SessionError {
        self.line = None;
        SessionError { class: "lost".into(), message: "gone".into(), retryable: false }
    }
}

impl Session for Echo {
    fn execute(&mut self, operation: u16) -> Result<(), SessionError> {
        self.begin(operation)?;
        let line = self.line.as_mut().unwrap();
        line.set_nonblocking(false).unwrap();
        line.read_exact(&mut [0]).map_err(|_| self.lost())
    }
    fn fetched(&mut self) -> Result<Fetched, SessionError> {
        std::thread::sleep(self.digested);
        Ok(Fetched { rows: 1, ..Fetched::default() })
    }
    fn keep(&mut self, _: &Path) -> Result<(), SessionError> {
        Ok(())
    }
    fn take_backend(&mut self) -> Option<Backend> {
        let new = self.connections != self.reported;
        self.reported = self.connections;
        new.then_some(Backend::Process(self.connections))
    }
    fn shared(&mut self) -> Option<&mut dyn SharedSession> {
        Some(self)
    }
}

impl SharedSession for Echo {
    fn share(&mut self) -> Result<(), SessionError> {
        Ok(())
    }
    fn connection(&self) -> Option<(BorrowedFd<'_>, u32)> {
        Some((self.line.as_ref()?.as_fd(), self.connections))
    }
    fn begin(&mut self, _: u16) -> Result<Step, SessionError> {
        if self.line.is_none() {
            if let Some(silent) = self.silent {
                let mut line = TcpStream::connect(silent).unwrap();
                line.set_read_timeout(Some(SILENCE)).unwrap();
                line.read_exact(&mut [0]).unwrap_err();
            }
            if !self.comes_back {
                return Err(self.lost());
            }
            self.connect();
        }
        let line = self.line.as_mut().unwrap();
        line.set_nonblocking(true).unwrap();
        line.write_all(b"x").map_err(|_| self.lost())?;
        Ok(Step::Reads)
    }
    fn advance(&mut self) -> Result<Step, SessionError> {
        match self.line.as_mut().unwrap().read(&mut [0]) {
            Ok(1) => Ok(Step::Ended),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(Step::Reads),
            _ => Err(self.lost()),
        }
    }
}

pub fn plan(arrival: Arrival, duration_ns: i64, operations_max: u64) -> Plan {
    let phase = Phase {
        name: "measured".into(),
        arrival,
        operations: vec![0],
        orders: vec![],
        steady: None,
        weights: vec![],
        deck: false,
        in_order: false,
        waits: vec![],
        passes_min: 1,
        passes_max: 0,
        duration_ns,
        operations_max,
        late_limit_ns: 0,
        memory: false,
        dues: vec![],
    };
    Plan {
        operations: vec!["echo".into()],
        variants: vec![],
        statements: vec![],
        phases: vec![phase],
        seed: 1,
        operation_deadline_ns: 0,
        run_deadline_ns: 0,
        loses_engine: false,
        retries_max: 0,
        results_kept: 1,
        sessions_per_worker: 3,
    }
}

pub fn parts(plan: &Plan, answers: usize) -> Parts {
    let session = |_| Echo::open(answers, Duration::ZERO, true);
    parts_of((0..plan.sessions()).map(session))
}

pub fn parts_of(sessions: impl Iterator<Item = Echo>) -> Parts {
    Parts {
        sessions: sessions.map(|echo| Box::new(echo) as Box<dyn Session>).collect(),
        first_session: 0,
        gate: None,
        meter: None,
        observer: None,
        listener: None,
        cancel: CancelFlag::default(),
    }
}

pub fn rows(path: &Path, mut each: impl FnMut(&arrow_array::RecordBatch, usize)) {
    let file = std::fs::File::open(path).unwrap();
    for batch in StreamReader::try_new(file, None).unwrap() {
        let batch = batch.unwrap();
        (0..batch.num_rows()).for_each(|row| each(&batch, row));
    }
}
