//! Looks at threads whose files are written here, so that each test says what the kernel prints.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use proptest::prelude::*;
use tempfile::TempDir;

use super::family::Family;
use super::thread::Seen;
use crate::ProcRoot;
use assay_kernel::parse::{SchedStat, SystemCall};

const MS: i64 = 1_000_000;
const SECOND: i64 = 1_000 * MS;

/// A procfs whose files a test writes.
struct Proc(TempDir);

/// What was told of a look.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    tid: u32,
    seen_ns: Option<i64>,
    seen: Seen,
}

impl Proc {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn dir(&self, pid: u32, tid: u32) -> PathBuf {
        self.0.path().join(format!("{pid}/task/{tid}"))
    }

    fn write(&self, (pid, tid): (u32, u32), file: &str, text: &str) {
        fs::create_dir_all(self.dir(pid, tid)).unwrap();
        fs::write(self.dir(pid, tid).join(file), text).unwrap();
    }

    fn state(&self, thread: (u32, u32), comm: &str, state: char) {
        let text =
            format!("{} ({comm}) {state} 1 1 1 0 -1 0 0 0 0 0 5 6 0 0 20 0 1 0 7 0 8", thread.1);
        self.write(thread, "stat", &text);
    }

    fn clock(&self, thread: (u32, u32), on_cpu_ns: u64) {
        self.write(thread, "schedstat", &format!("{on_cpu_ns} 20 {}\n", on_cpu_ns / 10));
    }

    /// A thread that waits in a futex call.
    fn sleeper(&self, thread: (u32, u32), comm: &str) {
        self.state(thread, comm, 'S');
        self.clock(thread, 100);
        self.write(thread, "wchan", "futex_do_wait");
        self.write(thread, "syscall", "455 0x7f00 0x80 0x0 0x0 0x0 0x0 0x7ffe 0x7f4d\n");
        self.write(thread, "children", "");
    }

    /// A thread that is on a CPU.
    fn runner(&self, thread: (u32, u32), on_cpu_ns: u64) {
        self.state(thread, "worker", 'R');
        self.clock(thread, on_cpu_ns);
        self.write(thread, "wchan", "0");
        self.write(thread, "syscall", "running\n");
        self.write(thread, "children", "");
    }

    fn family(&self, pid: u32) -> Family {
        let mut family = Family::new(ProcRoot(self.0.path().to_owned()));
        family.follow(pid);
        family
    }
}

fn look(family: &mut Family, time_ns: i64) -> Vec<Row> {
    let mut rows = Vec::new();
    let note = |change: super::Change<'_>| {
        let (tid, seen_ns) = (change.tid, change.seen_ns);
        rows.push(Row { tid, seen_ns, seen: change.seen.clone() });
    };
    family.look(time_ns, note).unwrap();
    rows
}

fn tids(rows: &[Row]) -> Vec<u32> {
    rows.iter().map(|row| row.tid).collect()
}

#[test]
fn the_first_look_tells_of_every_thread() {
    let proc = Proc::new();
    proc.sleeper((7, 7), "main");
    proc.runner((7, 8), 300);
    let mut rows = look(&mut proc.family(7), 0);
    rows.sort_by_key(|row| row.tid);
    let main = Seen {
        comm: "main".to_owned(),
        state: 'S',
        channel: Some("futex_do_wait".to_owned()),
        call: Some(SystemCall { number: 455, address: Some(0x7f00) }),
        clock: Some(SchedStat { on_cpu_ns: 100, run_delay_ns: 20, timeslices: 10 }),
    };
    let worker = Seen {
        comm: "worker".to_owned(),
        state: 'R',
        channel: None,
        call: None,
        clock: Some(SchedStat { on_cpu_ns: 300, run_delay_ns: 20, timeslices: 30 }),
    };
    let first = |tid, seen| Row { tid, seen_ns: None, seen };
    assert_eq!(rows, [first(7, main), first(8, worker)]);
}

#[test]
fn a_thread_that_slept_on_is_not_told_of_and_its_other_files_are_not_read() {
    let proc = Proc::new();
    proc.sleeper((7, 7), "main");
    let mut family = proc.family(7);
    look(&mut family, 0);
    proc.write((7, 7), "stat", "this would be an error");
    assert_eq!(look(&mut family, 10 * MS), []);
    proc.runner((7, 7), 200);
    let rows = look(&mut family, 20 * MS);
    assert_eq!((rows[0].seen_ns, rows[0].seen.state), (Some(10 * MS), 'R'));
}

#[test]
fn a_thread_that_was_seen_before_it_named_itself_has_its_own_name_later() {
    let proc = Proc::new();
    proc.runner((7, 7), 100);
    proc.state((7, 7), "parent", 'R');
    let mut family = proc.family(7);
    assert_eq!(look(&mut family, 0)[0].seen.comm, "parent");
    proc.runner((7, 7), 9_000_000);
    assert_eq!(look(&mut family, 10 * MS)[0].seen.comm, "worker");
}

#[test]
fn a_thread_that_runs_is_told_of_as_often_as_its_clock_goes_on() {
    let proc = Proc::new();
    proc.runner((7, 7), 100);
    let mut family = proc.family(7);
    look(&mut family, 0);
    assert_eq!(look(&mut family, 10 * MS), [], "it waits for a CPU, and nothing was counted");
    proc.clock((7, 7), 200);
    let rows = look(&mut family, 20 * MS);
    assert_eq!((rows[0].seen_ns, rows[0].seen.state), (Some(10 * MS), 'R'));
    // It goes to sleep without having been given a CPU anew.
    proc.sleeper((7, 7), "worker");
    proc.clock((7, 7), 200);
    let rows = look(&mut family, 30 * MS);
    assert_eq!((rows[0].seen_ns, rows[0].seen.state), (Some(20 * MS), 'S'));
}

#[test]
fn a_wait_for_a_device_and_one_in_a_page_fault() {
    let proc = Proc::new();
    proc.sleeper((7, 7), "reader");
    proc.state((7, 7), "reader", 'D');
    proc.write((7, 7), "wchan", "folio_wait_bit_common");
    proc.write((7, 7), "syscall", "17 0x4 0x5 0x6 0x7 0x0 0x0 0x7ffe 0x7f4d\n");
    let mut family = proc.family(7);
    let seen = look(&mut family, 0).remove(0).seen;
    assert_eq!((seen.state, seen.channel.as_deref()), ('D', Some("folio_wait_bit_common")));
    assert_eq!(seen.call, Some(SystemCall { number: 17, address: None }));
    proc.clock((7, 7), 200);
    proc.write((7, 7), "syscall", "-1 0x7ffe 0x7f4d\n");
    let seen = look(&mut family, 10 * MS).remove(0).seen;
    assert_eq!(seen.call, Some(SystemCall { number: -1, address: None }));
}

#[test]
fn what_the_kernel_does_not_tell_is_absent() {
    let proc = Proc::new();
    proc.sleeper((7, 7), "main");
    proc.write((7, 7), "wchan", "0");
    fs::remove_file(proc.dir(7, 7).join("syscall")).unwrap();
    let mut family = proc.family(7);
    let seen = look(&mut family, 0).remove(0).seen;
    assert_eq!((seen.state, seen.channel, seen.call), ('S', None, None));
    let counts = family.sleep_counts();
    assert_eq!((counts.asleep, counts.channels, counts.calls), (1, 0, 0));
}

#[test]
fn a_kernel_without_the_clock_has_every_file_read_each_time() {
    let proc = Proc::new();
    proc.sleeper((7, 7), "main");
    proc.write((7, 7), "schedstat", "0 0 0\n");
    let mut family = proc.family(7);
    look(&mut family, 0);
    assert_eq!(look(&mut family, 10 * MS), []);
    proc.write((7, 7), "wchan", "do_epoll_wait");
    let rows = look(&mut family, 20 * MS);
    assert_eq!(rows[0].seen.channel.as_deref(), Some("do_epoll_wait"));
}

#[test]
fn a_long_sleep_is_looked_at_less_often_and_a_parent_always() {
    let proc = Proc::new();
    proc.sleeper((7, 7), "parent");
    proc.sleeper((8, 8), "child");
    proc.write((7, 7), "children", "8 ");
    let mut family = proc.family(7);
    assert_eq!(tids(&look(&mut family, 0)), [7, 8]);
    assert_eq!(look(&mut family, SECOND / 2), []);
    proc.clock((7, 7), 200);
    proc.clock((8, 8), 200);
    // It had slept for half a second, so it is looked at again after a tenth of that.
    assert_eq!(tids(&look(&mut family, SECOND / 2 + 49 * MS)), [7]);
    let rows = look(&mut family, SECOND / 2 + 50 * MS);
    assert_eq!((rows[0].tid, rows[0].seen_ns), (8, Some(SECOND / 2)));
}

#[test]
fn threads_of_ours_are_left_out() {
    let proc = Proc::new();
    proc.sleeper((7, 7), "host");
    proc.sleeper((7, 8), "assay-recorder");
    proc.sleeper((7, 9), "host");
    let mut family = proc.family(7);
    let mut seen = tids(&look(&mut family, 0));
    seen.sort_unstable();
    assert_eq!(seen, [7, 9]);
    // One that gave itself its name only now leaves the record.
    proc.sleeper((7, 9), "assay-probe");
    proc.clock((7, 9), 200);
    let rows = look(&mut family, 10 * MS);
    assert_eq!((rows[0].tid, rows[0].seen.state), (9, 'X'));
    assert_eq!(look(&mut family, 2 * SECOND), []);
}

#[test]
fn threads_and_children_that_start_later_are_found() {
    let proc = Proc::new();
    proc.runner((7, 7), 100);
    let mut family = proc.family(7);
    look(&mut family, 0);
    proc.sleeper((7, 8), "second");
    proc.sleeper((9, 9), "child");
    proc.write((7, 8), "children", "9");
    proc.clock((7, 7), 200);
    assert_eq!(tids(&look(&mut family, 50 * MS)), [7, 8]);
    // A thread other than the first one started it, which is asked of once a second.
    let rows = look(&mut family, SECOND);
    assert_eq!(rows.iter().map(|row| (row.tid, row.seen_ns)).collect::<Vec<_>>(), [(9, None)]);
}

#[test]
fn children_are_found_where_the_kernel_does_not_list_them() {
    let proc = Proc::new();
    proc.sleeper((7, 7), "parent");
    fs::remove_file(proc.dir(7, 7).join("children")).unwrap();
    proc.sleeper((8, 8), "child");
    fs::write(
        proc.0.path().join("8/stat"),
        "8 (child) S 7 1 1 0 -1 0 0 0 0 0 5 6 0 0 20 0 1 0 7 0 8",
    )
    .unwrap();
    let mut seen = tids(&look(&mut proc.family(7), 0));
    seen.sort_unstable();
    assert_eq!(seen, [7, 8]);
}

#[test]
fn a_thread_that_is_gone_is_told_of_once_with_what_was_last_seen() {
    let mut child = Command::new("sleep").arg("60").spawn().unwrap();
    let mut family = Family::new(ProcRoot::default());
    family.follow(child.id());
    let first = look(&mut family, 0);
    assert_eq!(first.len(), 1);
    child.kill().unwrap();
    child.wait().unwrap();
    let last = look(&mut family, 10 * MS);
    assert_eq!((last[0].seen_ns, last[0].seen.state), (Some(0), 'X'));
    assert_eq!((&last[0].seen.channel, last[0].seen.call), (&None, None));
    assert_eq!(last[0].seen.clock, first[0].seen.clock);
    assert_eq!(look(&mut family, 2 * SECOND), []);
}

#[test]
fn a_thread_that_the_kernel_calls_dead_is_told_of_once() {
    let proc = Proc::new();
    proc.sleeper((7, 7), "main");
    let mut family = proc.family(7);
    look(&mut family, 0);
    proc.clock((7, 7), 300);
    proc.state((7, 7), "main", 'X');
    let last = look(&mut family, 10 * MS);
    assert_eq!((last.len(), last[0].seen_ns, last[0].seen.state), (1, Some(0), 'X'));
    assert_eq!(look(&mut family, 2 * SECOND), []);
}

#[test]
fn a_text_that_is_not_as_documented_is_an_error_that_names_the_file() {
    let proc = Proc::new();
    proc.sleeper((7, 7), "main");
    proc.write((7, 7), "syscall", "455 here");
    let error = proc.family(7).look(0, |_| {}).unwrap_err().to_string();
    assert!(
        error.ends_with(r#"7/task/7/syscall: cannot read address as a number in line "455 here""#),
        "{error}"
    );
}

proptest! {
    #[test]
    fn a_text_that_is_cut_anywhere_is_absent_or_an_error_that_names_the_file(
        file in prop::sample::select(vec!["stat", "schedstat", "wchan", "syscall", "children"]),
        cut in 0_usize..80,
    ) {
        let proc = Proc::new();
        proc.sleeper((7, 7), "main");
        let whole = fs::read_to_string(proc.dir(7, 7).join(file)).unwrap();
        proc.write((7, 7), file, whole.get(..cut).unwrap_or(&whole));
        let mut rows = 0;
        match proc.family(7).look(0, |_| rows += 1) {
            Ok(()) => prop_assert_eq!(rows, 1),
            Err(error) => {
                let named = error.to_string().contains(&format!("7/task/7/{file}: "));
                prop_assert!(named, "{}", error);
            }
        }
    }
}
