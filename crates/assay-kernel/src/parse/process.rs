//! `/proc/<pid>/stat` and `/proc/<pid>/task/<tid>/stat`: one process, or one task of it.

use std::path::Path;

use crate::text::{Line, number, words};
use crate::{KernelError, Units};

/// Field numbers of proc(5), counted from the state (its field 3) as zero.
mod place {
    pub const PPID: usize = 1;
    pub const PGRP: usize = 2;
    pub const MINFLT: usize = 7;
    pub const CMINFLT: usize = 8;
    pub const MAJFLT: usize = 9;
    pub const CMAJFLT: usize = 10;
    pub const UTIME: usize = 11;
    pub const STIME: usize = 12;
    pub const CUTIME: usize = 13;
    pub const CSTIME: usize = 14;
    pub const NUM_THREADS: usize = 17;
    pub const STARTTIME: usize = 19;
    pub const RSS: usize = 21;
    pub const PROCESSOR: usize = 36;
    pub const DELAYACCT_BLKIO: usize = 39;
    pub const COUNT: usize = 40;
}

/// What is kept of the file. In a process's own file times and faults are of all its tasks, ended
/// ones included, but state and block delay are of its first task alone. What is of children is of
/// those that ended and were waited for, with their own such children.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessStat {
    /// Process or task.
    pub pid: u32,
    /// Name, which may hold any byte; what is not UTF-8 is replaced.
    pub comm: String,
    /// State letter: R running, S sleeping, D waiting for a device, Z ended and not yet reaped.
    pub state: char,
    /// Parent process.
    pub ppid: u32,
    /// Process group; the kernel prints -1 while it takes an ended task away.
    pub pgrp: Option<u32>,
    /// Page faults answered without a read.
    pub minor_faults: u64,
    /// Page faults that read from storage.
    pub major_faults: u64,
    /// Page faults of children answered without a read.
    pub children_minor_faults: u64,
    /// Page faults of children that read from storage.
    pub children_major_faults: u64,
    /// CPU time in user mode.
    pub user_ns: u64,
    /// CPU time in the kernel.
    pub system_ns: u64,
    /// CPU time of children in user mode.
    pub children_user_ns: u64,
    /// CPU time of children in the kernel.
    pub children_system_ns: u64,
    /// Live tasks.
    pub threads: u64,
    /// When it started, since boot. With the pid it names a process for good.
    pub started_ns: u64,
    /// Resident memory.
    pub rss_bytes: u64,
    /// Time it waited for block devices; zero where delay accounting is off, see
    /// [`crate::ProcRoot::counts_block_delay`].
    pub block_delay_ns: Option<u64>,
}

impl ProcessStat {
    /// Reads the text of one stat file. The name is what lies between the first opening and the
    /// last closing parenthesis, whatever it contains, line ends included.
    pub fn parse(path: &Path, text: &[u8], units: &Units) -> Result<Self, KernelError> {
        let line = Line { path, text };
        let open = text.iter().position(|byte| *byte == b'(');
        let close = text.iter().rposition(|byte| *byte == b')');
        let (Some(open), Some(close)) = (open, close) else {
            return Err(line.bad("comm"));
        };
        let (Some(comm), Some(after)) = (text.get(open + 1..close), text.get(close + 1..)) else {
            return Err(line.bad("comm"));
        };
        let pid = small(line, "pid", words(&text[..open]).next())?;
        let comm = String::from_utf8_lossy(comm).into_owned();
        Self { pid, comm, ..Self::default() }.with_numbers(line, after, units)
    }

    fn with_numbers(
        mut self,
        line: Line<'_>,
        after: &[u8],
        units: &Units,
    ) -> Result<Self, KernelError> {
        let mut fields = [None; place::COUNT];
        fields.iter_mut().zip(words(after)).for_each(|(field, word)| *field = Some(word));
        self.state = state(line, fields[0])?;
        self.ppid = small(line, "ppid", fields[place::PPID])?;
        self.pgrp = match fields[place::PGRP] {
            Some(b"-1") => None,
            word => Some(small(line, "pgrp", word)?),
        };
        self.minor_faults = line.scaled("minflt", fields[place::MINFLT], 1)?;
        self.major_faults = line.scaled("majflt", fields[place::MAJFLT], 1)?;
        self.children_minor_faults = line.scaled("cminflt", fields[place::CMINFLT], 1)?;
        self.children_major_faults = line.scaled("cmajflt", fields[place::CMAJFLT], 1)?;
        self.user_ns = line.scaled("utime", fields[place::UTIME], units.tick_ns)?;
        self.system_ns = line.scaled("stime", fields[place::STIME], units.tick_ns)?;
        self.children_user_ns = line.scaled("cutime", fields[place::CUTIME], units.tick_ns)?;
        self.children_system_ns = line.scaled("cstime", fields[place::CSTIME], units.tick_ns)?;
        self.threads = line.scaled("num_threads", fields[place::NUM_THREADS], 1)?;
        self.started_ns = line.scaled("starttime", fields[place::STARTTIME], units.tick_ns)?;
        self.rss_bytes = line.scaled("rss", fields[place::RSS], units.page_bytes)?;
        self.block_delay_ns = line.scaled_if_there(
            "delayacct_blkio_ticks",
            fields[place::DELAYACCT_BLKIO],
            units.tick_ns,
        )?;
        Ok(self)
    }
}

/// The state of a task, without the rest of its stat file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskState {
    /// State letter, as in [`ProcessStat`].
    pub letter: u8,
    /// The CPU that it was on last.
    pub cpu: usize,
}

impl TaskState {
    /// Reads the text of one stat file; `None` if it is none.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let mut fields = words(after_name(text)?);
        let letter = *fields.next()?.first()?;
        Some(Self { letter, cpu: number(fields.nth(place::PROCESSOR - 1)?)? as usize })
    }
}

/// The parent of a process, from the text of its stat file.
pub fn parent(text: &[u8]) -> Option<u32> {
    number(words(after_name(text)?).nth(place::PPID)?)?.try_into().ok()
}

/// When a process started, in ticks since boot, from the text of its stat file. With the pid it names
/// a process for good.
pub fn start_ticks(text: &[u8]) -> Option<u64> {
    number(words(after_name(text)?).nth(place::STARTTIME)?)
}

/// The text behind the name, which is in parentheses and may itself hold spaces and parentheses.
fn after_name(text: &[u8]) -> Option<&[u8]> {
    text.get(text.iter().rposition(|byte| *byte == b')')? + 1..)
}

fn state(line: Line<'_>, word: Option<&[u8]>) -> Result<char, KernelError> {
    match word {
        Some([letter]) if letter.is_ascii_alphabetic() => Ok(char::from(*letter)),
        _ => Err(line.bad("state")),
    }
}

fn small(line: Line<'_>, field: &str, word: Option<&[u8]>) -> Result<u32, KernelError> {
    u32::try_from(line.scaled(field, word, 1)?).map_err(|_| line.bad(field))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_state_stands_after_a_name_that_holds_anything() {
        let text = format!("17 (a) b (c) D 4{} 3 0 0\n", " 0".repeat(34));
        assert_eq!(TaskState::parse(text.as_bytes()), Some(TaskState { letter: b'D', cpu: 3 }));
        assert_eq!(parent(text.as_bytes()), Some(4));
        assert_eq!((TaskState::parse(b"17 (cut"), parent(b"17 (cut")), (None, None));
        let text = format!("17 (a) b (c) D{} 99 0\n", " 0".repeat(18));
        assert_eq!((start_ticks(text.as_bytes()), start_ticks(b"17 (cut")), (Some(99), None));
    }

    proptest! {
        #[test]
        fn any_text_is_a_state_or_none(text: Vec<u8>) {
            TaskState::parse(&text);
            parent(&text);
            start_ticks(&text);
        }
    }
}
