//! Functions of generated code, by the list that its process writes: `perf-PID.map`.

use std::fs::{self, Metadata, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use assay_kernel::text::{number, words_of};

use super::{Resolved, SampledProcess, Symbol, SymbolKind, SymbolRoots};

/// The list of a large JVM has some tens of megabytes. A sparse file of any length costs no disk.
const LIST_BYTES_MAX: u64 = 256 << 20;
/// A file's time and a process's are of clocks with different steps.
const CLOCKS_APART: Duration = Duration::from_secs(1);

pub(super) fn resolve(
    process: &SampledProcess,
    addresses: &[u64],
    roots: &SymbolRoots,
) -> Resolved {
    let writer = Writer::of(process, &roots.proc_root);
    let text = places(process, roots).iter().find_map(|path| read_list(path, &writer));
    let Some(text) = text else {
        let pid = process.pid;
        let note = format!(
            "Generated code of process {pid} has no names: there is no file perf-{pid}.map that the \
             process's user wrote after the process had started. Many runtimes write it if they \
             are told to, the JVM by -XX:+DumpPerfMapAtExit or jcmd."
        );
        return Resolved::nothing(addresses, note);
    };
    Resolved { symbols: resolve_perf_map(&text, addresses), notes: Vec::new() }
}

/// The list as the process itself sees its path and its number, then as we do.
fn places(process: &SampledProcess, roots: &SymbolRoots) -> Vec<PathBuf> {
    let file = |dir: &Path, pid: u32| dir.join(format!("perf-{pid}.map"));
    let inside = process.folder(&roots.proc_root).into_iter().flat_map(|folder| {
        let own = own_pid(&folder).unwrap_or(process.pid);
        let root = folder.join("root");
        let dirs = roots.jit_dirs.iter();
        dirs.map(move |dir| file(&root.join(dir.strip_prefix("/").unwrap_or(dir)), own))
    });
    inside.chain(roots.jit_dirs.iter().map(|dir| file(dir, process.pid))).collect()
}

/// Who may have written a process's list, and when. After its end another process may have its
/// number, and write a list under the same name.
struct Writer {
    owner: u32,
    from: Option<SystemTime>,
    until: Option<SystemTime>,
}

impl Writer {
    fn of(process: &SampledProcess, proc_root: &Path) -> Self {
        Self {
            owner: process.owner(proc_root),
            from: process.begun(),
            until: process.next_begun(proc_root),
        }
    }

    fn wrote(&self, metadata: &Metadata) -> bool {
        let Ok(written) = metadata.modified() else { return false };
        [self.owner, 0].contains(&metadata.uid())
            && self.from.is_none_or(|from| written + CLOCKS_APART >= from)
            && self.until.is_none_or(|until| written + CLOCKS_APART < until)
    }
}

/// The content of a list that the process's user or root wrote. Everybody may write to /tmp: a link, a
/// pipe and a file of somebody else are left alone, and a list of an earlier or later process with the
/// same number. Of a list that is longer than any runtime writes, the first part is read.
fn read_list(path: &Path, writer: &Writer) -> Option<Vec<u8>> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    let metadata = file.metadata().ok()?;
    if !metadata.is_file() || !writer.wrote(&metadata) {
        return None;
    }
    let mut text = Vec::new();
    file.take(LIST_BYTES_MAX).read_to_end(&mut text).ok()?;
    Some(text)
}

/// The number that the process has in its own namespace.
fn own_pid(process: &Path) -> Option<u32> {
    let status = fs::read(process.join("status")).ok()?;
    number(words_of(&status, "NSpid")?.last()?)?.try_into().ok()
}

/// The functions that `addresses` are in, by `text`: a line `START SIZE NAME` each, in hexadecimal.
/// Memory is used again, so that a later line wins over an earlier one.
pub fn resolve_perf_map(text: &[u8], addresses: &[u64]) -> Vec<Symbol> {
    let mut order: Vec<usize> = (0..addresses.len()).collect();
    order.sort_unstable_by_key(|index| addresses[*index]);
    let mut covering: Vec<Option<Line>> = vec![None; addresses.len()];
    for line in text.split(|byte| *byte == b'\n').filter_map(Line::parse) {
        let first = order.partition_point(|index| addresses[*index] < line.start);
        let covered = order[first..].iter().take_while(|index| addresses[**index] < line.end);
        for index in covered {
            covering[*index] = Some(line);
        }
    }
    covering.into_iter().map(|line| line.map_or(Symbol::NONE, Line::symbol)).collect()
}

#[derive(Clone, Copy)]
struct Line<'t> {
    start: u64,
    end: u64,
    name: &'t [u8],
}

impl<'t> Line<'t> {
    fn parse(line: &'t [u8]) -> Option<Self> {
        let line = line.trim_ascii();
        let mut fields = line.splitn(3, |byte| *byte == b' ');
        let start = hexadecimal(fields.next()?)?;
        let end = start.checked_add(hexadecimal(fields.next()?)?)?;
        let name = fields.next()?.trim_ascii();
        (!name.is_empty()).then_some(Self { start, end, name })
    }

    fn symbol(self) -> Symbol {
        let name = String::from_utf8_lossy(self.name).into_owned();
        Symbol::new(name, SymbolKind::Jit, self.start, self.end)
    }
}

fn hexadecimal(word: &[u8]) -> Option<u64> {
    let word = str::from_utf8(word).ok()?;
    let digits = word.strip_prefix("0x").unwrap_or(word);
    u64::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::super::process::tests::write as write_process;
    use super::*;

    const TEXT: &[u8] = b"7f00 100 Lorg/Table;::scan(I)V\n\
        0x8000 0x40 old\n\
        8020 40 new with words\n\
        zz 10 broken\n\
        9000 10\n\
        ffffffffffffffff 10 past the end\n";

    #[test]
    fn a_later_line_wins_where_it_covers_the_address() {
        let addresses = [0x8030, 0x7fff, 0x8000, 0x8060, 0x7f00, 0x9000, u64::MAX];
        let symbols = resolve_perf_map(TEXT, &addresses);
        let names: Vec<_> = symbols.iter().map(|symbol| symbol.name.as_deref()).collect();
        let scan = Some("Lorg/Table;::scan(I)V");
        let new = Some("new with words");
        assert_eq!(names, [new, scan, Some("old"), None, scan, None, None]);
        assert_eq!(symbols[0].start, Some(0x8020));
        assert_eq!(symbols[0].size_bytes, Some(0x40));
        assert_eq!(symbols[0].kind, SymbolKind::Jit);
    }

    #[test]
    fn the_list_of_a_container_is_found_by_the_number_inside_it() {
        let dir = tempfile::tempdir().unwrap();
        let proc_root = dir.path().join("proc");
        let tmp = proc_root.join("4711/root/tmp");
        fs::create_dir_all(&tmp).unwrap();
        write_process(&proc_root, 4711, rustix::process::geteuid().as_raw(), 1);
        fs::write(tmp.join("perf-7.map"), TEXT).unwrap();
        let process = SampledProcess::of(&proc_root, 4711);
        let roots = SymbolRoots { proc_root, ..SymbolRoots::default() };
        let resolved = resolve(&process, &[0x8000], &roots);
        assert_eq!(resolved.symbols[0].name.as_deref(), Some("old"));
        assert!(resolved.notes.is_empty());
    }

    #[test]
    fn a_process_that_ended_has_its_list_where_we_see_it() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("perf-4711.map"), TEXT).unwrap();
        let roots = SymbolRoots {
            proc_root: dir.path().join("proc"),
            jit_dirs: vec![dir.path().to_owned()],
            ..SymbolRoots::default()
        };
        let resolved = resolve(&SampledProcess::ended(4711), &[0x8000], &roots);
        assert_eq!(resolved.symbols[0].name.as_deref(), Some("old"));
        let without = resolve(&SampledProcess::ended(4712), &[0x8000], &roots);
        assert_eq!(without.symbols, [Symbol::NONE]);
        assert!(without.notes[0].contains("perf-4712.map"));
    }

    /// What a list at `path` tells of an address that `TEXT` covers, of a process of the user `uid`.
    fn name_in_list(write: impl FnOnce(&Path), uid: u32) -> Option<String> {
        let dir = tempfile::tempdir().unwrap();
        let proc_root = dir.path().join("proc");
        write_process(&proc_root, 4711, uid, 1);
        let process = SampledProcess::of(&proc_root, 4711);
        write(&dir.path().join("perf-4711.map"));
        name_of(&process, proc_root, dir.path())
    }

    /// The name that the lists in a folder have for an address that `TEXT` covers.
    fn name_of(process: &SampledProcess, proc_root: PathBuf, dir: &Path) -> Option<String> {
        let roots =
            SymbolRoots { proc_root, jit_dirs: vec![dir.to_owned()], ..SymbolRoots::default() };
        resolve(process, &[0x8000], &roots).symbols.remove(0).name
    }

    fn owned_by(uid: u32) -> impl FnOnce(&Path) {
        move |path| {
            fs::write(path, TEXT).unwrap();
            // Only root gives files away.
            let _ = std::os::unix::fs::chown(path, Some(uid), None);
        }
    }

    #[test]
    fn the_list_of_another_user_is_not_read() {
        let us = rustix::process::geteuid().as_raw();
        let stranger = if us == 0 { 12_345 } else { us };
        assert_eq!(name_in_list(owned_by(us), us).as_deref(), Some("old"));
        assert_eq!(name_in_list(owned_by(stranger), 54_321), None);
        let of_root = name_in_list(owned_by(0), 54_321);
        assert_eq!(of_root.is_some(), us == 0);
    }

    #[test]
    fn a_list_that_is_older_than_the_process_is_of_another_one() {
        let dir = tempfile::tempdir().unwrap();
        let proc_root = PathBuf::from("/proc");
        let process = SampledProcess::of(&proc_root, std::process::id());
        let path = dir.path().join(format!("perf-{}.map", process.pid));
        fs::write(&path, TEXT).unwrap();
        let name = || name_of(&process, proc_root.clone(), dir.path());
        assert_eq!(name().as_deref(), Some("old"));
        let before = process.begun().unwrap() - Duration::from_secs(60);
        fs::File::options().write(true).open(&path).unwrap().set_modified(before).unwrap();
        assert_eq!(name(), None);
    }

    /// The name of an address in the list of a process of the user `uid`, which ended; a process of
    /// another user has its number now.
    fn name_after_the_end(uid: u32, write: impl FnOnce(&Path)) -> Option<String> {
        let dir = tempfile::tempdir().unwrap();
        let proc_root = dir.path().join("proc");
        let path = dir.path().join("perf-4711.map");
        write_process(&proc_root, 4711, uid, 1);
        let process = SampledProcess::of(&proc_root, 4711);
        write(&path);
        let tmp = proc_root.join("4711/root").join(dir.path().strip_prefix("/").unwrap());
        fs::create_dir_all(&tmp).unwrap();
        owned_by(54_321)(&tmp.join("perf-7.map"));
        write_process(&proc_root, 4711, 54_321, boot_ticks());
        name_of(&process, proc_root, dir.path())
    }

    /// Ticks since boot.
    fn boot_ticks() -> u64 {
        let stat = fs::read("/proc/thread-self/stat").unwrap();
        assay_kernel::parse::start_ticks(&stat).unwrap()
    }

    #[test]
    fn who_has_the_number_after_the_end_gives_no_names() {
        let us = rustix::process::geteuid().as_raw();
        let later = owned_by(us);
        let earlier = |path: &Path| {
            fs::write(path, TEXT).unwrap();
            let before = SystemTime::now() - Duration::from_secs(60);
            fs::File::options().write(true).open(path).unwrap().set_modified(before).unwrap();
        };
        assert_eq!(name_after_the_end(us, owned_by(54_321)), None);
        assert_eq!(name_after_the_end(us, later), None);
        assert_eq!(name_after_the_end(us, earlier).as_deref(), Some("old"));
    }

    #[test]
    fn of_an_endless_list_the_first_part_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("perf-4711.map");
        fs::write(&path, TEXT).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
        let writer = Writer::of(&SampledProcess::ended(4711), dir.path());
        let text = read_list(&path, &writer).unwrap();
        assert_eq!(text.len() as u64, LIST_BYTES_MAX);
        assert!(text.starts_with(TEXT));
    }

    #[test]
    fn a_link_and_a_pipe_are_no_list() {
        let us = rustix::process::geteuid().as_raw();
        let link = |path: &Path| {
            fs::write(path.with_extension("real"), TEXT).unwrap();
            std::os::unix::fs::symlink(path.with_extension("real"), path).unwrap();
        };
        assert_eq!(name_in_list(link, us), None);
        let pipe = |path: &Path| {
            let (fifo, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR);
            rustix::fs::mknodat(rustix::fs::CWD, path, fifo, mode, 0).unwrap();
        };
        assert_eq!(name_in_list(pipe, us), None);
    }
}
