//! What the packets of an answer say, one after another.

use super::super::packets::{self, ERR, Fields};
use super::super::startup::ServerError;
use super::{Link, Reply, Request, Stage};
use crate::session::inbox::Message;

const OK: u8 = 0x00;
const LOCAL_INFILE: u8 = 0xfb;
const END: u8 = 0xfe;
/// The longest packet of the older form that ends rows.
const OLD_END_BYTES_MAX: usize = 8;
const MORE_RESULTS: u16 = 0x0008;

impl Link {
    pub(super) fn packet(&mut self, message: Message) -> Result<Option<Reply>, String> {
        let body = self.line.inbox.body(message);
        let first = *body.first().ok_or(packets::SHORT)?;
        if first == ERR {
            let error = ServerError::read(body)?;
            self.end_answer();
            return Ok(Some(Reply::Error(error)));
        }
        match self.stage {
            Stage::Head => match self.answering() {
                Some(Request::Prepare(_)) => self.prepared(message),
                Some(_) => self.head(message, first),
                None => Err("an answer to nothing that was asked".into()),
            },
            Stage::Parameters { left, columns } => {
                self.stage = Stage::Parameters { left: left - 1, columns };
                Ok(self.definitions_come())
            }
            Stage::PreparedColumns { left } => {
                self.define(message, left);
                self.stage = Stage::PreparedColumns { left: left - 1 };
                Ok(self.definitions_come())
            }
            Stage::Columns { left } => {
                self.define(message, left);
                if left > 1 {
                    self.stage = Stage::Columns { left: left - 1 };
                    return Ok(None);
                }
                self.stage = Stage::Rows;
                Ok(Some(Reply::Columns(!self.definitions.ends.is_empty())))
            }
            Stage::Rows => {
                let end_bytes_max =
                    if self.deprecates_eof { packets::FULL_BYTES - 1 } else { OLD_END_BYTES_MAX };
                if first == END && body.len() <= end_bytes_max {
                    return self.rows_end(message);
                }
                self.affected = self.affected.saturating_add(1);
                self.rows_end = message.end;
                Ok((message.end >= self.hands_out_after).then_some(Reply::Row(message)))
            }
        }
    }

    /// Packets that end so many definitions.
    fn and_end(&self, definitions: u16) -> u32 {
        u32::from(definitions) + u32::from(!self.deprecates_eof && definitions > 0)
    }

    /// Notes a definition, if this packet is one and does not end them.
    fn define(&mut self, message: Message, left: u32) {
        if self.deprecates_eof || left > 1 {
            self.definitions.push(self.line.inbox.body(message));
        }
    }

    fn prepared(&mut self, message: Message) -> Result<Option<Reply>, String> {
        let mut fields = Fields(self.line.inbox.body(message));
        fields.byte()?;
        let id = fields.long()?;
        let (columns, parameters) = (fields.short()?, fields.short()?);
        self.prepared = (id, parameters);
        self.definitions.clear();
        self.stage = Stage::Parameters { left: self.and_end(parameters), columns };
        Ok(self.definitions_come())
    }

    /// What is awaited next of a statement that was prepared.
    fn definitions_come(&mut self) -> Option<Reply> {
        if let Stage::Parameters { left: 0, columns } = self.stage {
            self.stage = Stage::PreparedColumns { left: self.and_end(columns) };
        }
        if self.stage != (Stage::PreparedColumns { left: 0 }) {
            return None;
        }
        self.end_answer();
        Some(Reply::Prepared(self.prepared.0, self.prepared.1))
    }

    /// The first packet of a result.
    fn head(&mut self, message: Message, first: u8) -> Result<Option<Reply>, String> {
        let mut fields = Fields(self.line.inbox.body(message));
        match first {
            OK => {
                fields.byte()?;
                let affected = fields.number()?;
                fields.number()?;
                (self.status, self.warnings) = (fields.short()?, fields.short()?);
                // A server may say any number.
                self.affected = self.affected.saturating_add(affected);
                Ok(self.end_result())
            }
            LOCAL_INFILE => Ok(Some(Reply::SendFile)),
            _ => {
                let columns = u16::try_from(fields.number()?);
                let columns = columns.map_err(|_| "more columns than a table can have")?;
                let has_definitions = !self.caches_metadata || fields.byte()? != 0;
                self.definitions.clear();
                let left = if has_definitions { u32::from(columns) } else { 0 };
                let left = left + u32::from(!self.deprecates_eof);
                self.stage = if left == 0 { Stage::Rows } else { Stage::Columns { left } };
                Ok((left == 0).then_some(Reply::Columns(false)))
            }
        }
    }

    fn rows_end(&mut self, message: Message) -> Result<Option<Reply>, String> {
        let mut fields = Fields(self.line.inbox.body(message));
        fields.byte()?;
        if self.deprecates_eof {
            fields.number()?;
            fields.number()?;
            (self.status, self.warnings) = (fields.short()?, fields.short()?);
        } else {
            (self.warnings, self.status) = (fields.short()?, fields.short()?);
        }
        Ok(self.end_result())
    }

    fn end_result(&mut self) -> Option<Reply> {
        if self.status & MORE_RESULTS != 0 {
            self.stage = Stage::Head;
            return None;
        }
        self.end_answer();
        Some(Reply::Done)
    }

    fn end_answer(&mut self) {
        self.stage = Stage::Head;
        self.asked.pop_front();
        if let Some((_, number)) = self.asked.front() {
            self.line.inbox.framing.expect(*number);
        }
    }
}
