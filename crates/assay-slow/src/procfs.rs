//! What /proc tells of a task, in as few reads as it takes. Files stay open: an open file cannot be
//! confused with a later task of the same number.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

const ROOT: &str = "/proc";
/// Longer than any line that is read here.
const LINE_BYTES: usize = 1024;

/// A task by the scheduler's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Clock {
    /// Time on a CPU.
    pub on_cpu_ns: u64,
    /// Time runnable and without one; counted when it gets one.
    pub run_delay_ns: u64,
}

/// Whose a number is that the kernel gave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kinship {
    /// The process that it is a thread of; the number itself if it is a process.
    pub process: u32,
    /// The parent of that.
    pub parent: u32,
}

/// A file of one line that is read again and again.
pub(crate) struct Line(File);

impl Line {
    pub fn open(path: &Path) -> io::Result<Self> {
        File::open(path).map(Self)
    }

    /// What is made of the line as it is now; `None`: what it tells of is gone, or it is strange.
    pub fn read<T>(&self, parse: impl FnOnce(&[u8]) -> Option<T>) -> Option<T> {
        let mut buffer = [0; LINE_BYTES];
        let length = self.0.read_at(&mut buffer, 0).ok()?;
        parse(buffer.get(..length)?)
    }
}

pub(crate) fn task_folder(pid: u32, tid: u32) -> PathBuf {
    PathBuf::from(format!("{ROOT}/{pid}/task/{tid}"))
}

/// Threads of a process; none if it is gone.
pub(crate) fn threads(pid: u32) -> Vec<u32> {
    numbers(&Path::new(ROOT).join(pid.to_string()).join("task"))
}

/// All processes.
pub(crate) fn processes() -> Vec<u32> {
    numbers(Path::new(ROOT))
}

/// Whose a number is; `None` if nobody has it.
pub(crate) fn kinship(number: u32) -> Option<Kinship> {
    let text = fs::read_to_string(format!("{ROOT}/{number}/status")).ok()?;
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim_start_matches(':').trim().parse().ok()
    };
    Some(Kinship { process: field("Tgid")?, parent: field("PPid")? })
}

/// The number that was given out last.
pub(crate) fn newest() -> io::Result<Line> {
    Line::open(&Path::new(ROOT).join("loadavg"))
}

pub(crate) fn last_word(line: &[u8]) -> Option<u64> {
    words(line).last().and_then(number)
}

pub(crate) fn clock(line: &[u8]) -> Option<Clock> {
    let mut words = words(line);
    let on_cpu_ns = number(words.next()?)?;
    Some(Clock { on_cpu_ns, run_delay_ns: number(words.next()?)? })
}

/// The letter of a task's state, and the CPU it was on last.
pub(crate) fn state(line: &[u8]) -> Option<(u8, usize)> {
    // The name, in parentheses, may itself hold spaces and parentheses.
    let after = line.iter().rposition(|byte| *byte == b')')? + 1;
    let mut words = words(line.get(after..)?);
    let letter = *words.next()?.first()?;
    // It is the 39th word of the line, and the 36th after the state.
    Some((letter, number(words.nth(35)?)? as usize))
}

pub(crate) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

pub(crate) fn number(word: &[u8]) -> Option<u64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

fn numbers(folder: &Path) -> Vec<u32> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let name = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    entries.flatten().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_state_stands_after_a_name_that_holds_anything() {
        let after = " 0".repeat(35);
        let line = format!("17 (a) b (c) D{after} 3 0 0\n");
        assert_eq!(state(line.as_bytes()), Some((b'D', 3)));
        assert_eq!(state(b"17 (cut"), None);
    }

    #[test]
    fn we_are_a_process_and_our_threads_are_ours() {
        let us = std::process::id();
        assert_eq!(kinship(us).unwrap().process, us);
        let thread = std::thread::spawn(|| {
            let own = fs::read_link("/proc/thread-self").unwrap();
            let tid = own.file_name().unwrap().to_str().unwrap().parse().unwrap();
            (tid, kinship(tid).unwrap(), threads(std::process::id()))
        });
        let (tid, kinship, threads) = thread.join().unwrap();
        assert_eq!(kinship.process, us);
        assert!(threads.contains(&tid) && threads.contains(&us));
    }

    #[test]
    fn a_clock_is_the_first_two_words() {
        assert_eq!(clock(b"12 34 5\n"), Some(Clock { on_cpu_ns: 12, run_delay_ns: 34 }));
        assert_eq!(clock(b"12\n"), None);
        assert_eq!(last_word(b"0.04 0.21 1.07 1/96 10504\n"), Some(10_504));
    }

    proptest! {
        #[test]
        fn any_line_is_understood_or_not(line: Vec<u8>) {
            state(&line);
            clock(&line);
            last_word(&line);
        }
    }
}
