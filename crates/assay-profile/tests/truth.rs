//! The sampler against a program whose profile is known (`examples/known_shape.rs`): shares of its
//! functions against its own clock, CPU time against getrusage(2). Which addresses a function has
//! is read from the program's symbol table here, so our own naming has no part in it.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::StreamReader;
use assay_profile::{Profiler, ProfilerReport, Stacks, Wish};
use object::{Object, ObjectSymbol};

/// Ten thousand samples of each variant, so that chance alone is half a point (one standard
/// deviation) and the tolerance four of those. Copies are small, so that rings hold as long a time
/// as they do with large copies at the usual frequency.
const FREQUENCY_HZ: u32 = 4_999;
const COPIES: Stacks = Stacks::Copies(1024);
const SECONDS: &str = "1";
const SHARE_TOLERANCE: f64 = 0.02;
/// The kernel's clock of a process and its timers agree to some thousandths.
const CPU_TOLERANCE: f64 = 0.03;

#[test]
fn two_threads_by_events_of_their_own() {
    agrees(&take("steady", COPIES, false));
}

#[test]
fn two_threads_where_the_machine_is_watched() {
    agrees(&take("steady", COPIES, true));
}

#[test]
fn threads_that_live_for_a_moment() {
    agrees(&take("short-lived", COPIES, false));
}

#[test]
fn children_that_are_made_while_we_look() {
    agrees(&take("children", COPIES, false));
}

#[test]
fn children_where_the_machine_is_watched() {
    agrees(&take("children", COPIES, true));
}

/// Rust's functions keep no frame pointers here, so only the CPU time is compared.
#[test]
fn cpu_time_by_frame_pointers() {
    let taken = take("steady", Stacks::FramePointers, false);
    assert_close("CPU seconds", taken.sampled_s(), taken.cpu_s(), CPU_TOLERANCE * taken.cpu_s());
}

fn agrees(taken: &Taken) {
    assert_eq!(taken.report.error, None);
    assert_eq!(taken.report.counts.lost, 0);
    assert_close("CPU seconds", taken.sampled_s(), taken.cpu_s(), CPU_TOLERANCE * taken.cpu_s());
    let sampled = taken.shares();
    for (name, own) in taken.program_report["shares"].as_object().unwrap() {
        let share = sampled.get(name.as_str()).copied().unwrap_or_default();
        assert_close(name, share, own.as_f64().unwrap(), SHARE_TOLERANCE);
    }
}

fn assert_close(what: &str, sampled: f64, expected: f64, tolerance: f64) {
    assert!((sampled - expected).abs() <= tolerance, "{what}: sampled {sampled}, told {expected}");
}

/// A profile, and what the program told of itself.
struct Taken {
    report: ProfilerReport,
    program_report: serde_json::Value,
    raw: tempfile::TempDir,
}

fn take(variant: &str, stacks: Stacks, may_watch_all: bool) -> Taken {
    let raw = tempfile::tempdir().unwrap();
    let mut program = start(variant);
    let pids = vec![program.id()];
    let wish = Wish {
        pids,
        frequency_hz: FREQUENCY_HZ,
        stacks: Some(stacks),
        may_watch_all,
        kernel: true,
    };
    let profiler = Profiler::start(raw.path(), &wish).unwrap();
    program.stdin.take().unwrap().write_all(b"\n").unwrap();
    let mut line = String::new();
    BufReader::new(program.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(program.wait().unwrap().success());
    let report = profiler.stop().unwrap();
    Taken { report, program_report: serde_json::from_str(&line).unwrap(), raw }
}

fn start(variant: &str) -> Child {
    let mut command = Command::new(known_shape());
    let command = command.args([SECONDS, variant]).stdin(Stdio::piped()).stdout(Stdio::piped());
    command.spawn().unwrap()
}

/// Cargo puts examples beside the folder that tests are in.
fn known_shape() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let program = own.ancestors().nth(2).unwrap().join("examples/known_shape");
    assert!(
        program.exists(),
        "{} is missing: cargo build --example known_shape",
        program.display()
    );
    program
}

impl Taken {
    fn cpu_s(&self) -> f64 {
        self.program_report["cpu_s"].as_f64().unwrap()
    }

    fn sampled_s(&self) -> f64 {
        self.numbers("samples", "stack").len() as f64 / f64::from(FREQUENCY_HZ)
    }

    /// Share of each function, with all that it called, of the samples that are in any of them.
    fn shares(&self) -> HashMap<&'static str, f64> {
        let functions = functions_of(&known_shape());
        let function_of_frame = self.functions_of_frames(&functions);
        let parents = self.numbers("stacks", "parent");
        let frames = self.numbers("stacks", "frame");
        let mut counts: HashMap<&str, f64> = HashMap::new();
        for stack in self.numbers("samples", "stack") {
            let nodes = std::iter::successors(stack, |node| parents[*node as usize]);
            let mut in_functions =
                nodes.filter_map(|node| function_of_frame[frames[node as usize].unwrap() as usize]);
            if let Some(function) = in_functions.next() {
                *counts.entry(function).or_default() += 1.0;
            }
        }
        let sum: f64 = counts.values().sum();
        counts.into_iter().map(|(name, count)| (name, count / sum)).collect()
    }

    fn functions_of_frames(
        &self,
        functions: &[(&'static str, Range<u64>)],
    ) -> Vec<Option<&'static str>> {
        let paths = self.texts("modules", "path");
        let module = paths.iter().position(|path| path.ends_with("/known_shape")).unwrap() as u64;
        let modules = self.numbers("frames", "module");
        let addresses = self.numbers("frames", "address");
        let function = |(of, address): (&Option<u64>, &Option<u64>)| {
            let is_inside = |(_, range): &&(_, Range<u64>)| range.contains(&address.unwrap());
            let entry = functions.iter().find(is_inside)?;
            (*of == Some(module)).then_some(entry.0)
        };
        modules.iter().zip(&addresses).map(function).collect()
    }

    fn batches(&self, stream: &str) -> Vec<RecordBatch> {
        let file = File::open(self.raw.path().join(format!("{stream}.arrows"))).unwrap();
        StreamReader::try_new(file, None).unwrap().map(Result::unwrap).collect()
    }

    fn numbers(&self, stream: &str, column: &str) -> Vec<Option<u64>> {
        let numbers = |batch: RecordBatch| -> Vec<Option<u64>> {
            let column = batch.column_by_name(column).unwrap();
            match column.as_primitive_opt::<UInt32Type>() {
                Some(column) => column.iter().map(|number| number.map(u64::from)).collect(),
                None => column.as_primitive::<UInt64Type>().iter().collect(),
            }
        };
        self.batches(stream).into_iter().flat_map(numbers).collect()
    }

    fn texts(&self, stream: &str, column: &str) -> Vec<String> {
        let texts = |batch: RecordBatch| -> Vec<String> {
            let column = batch.column_by_name(column).unwrap().as_string::<i32>();
            (0..column.len()).map(|row| column.value(row).to_owned()).collect()
        };
        self.batches(stream).into_iter().flat_map(texts).collect()
    }
}

/// Where the program's own symbol table says that the three functions are.
fn functions_of(program: &Path) -> Vec<(&'static str, Range<u64>)> {
    let bytes = std::fs::read(program).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let of = |name: &'static str| {
        let is_it = |symbol: &object::Symbol<'_, '_>| {
            symbol
                .name()
                .is_ok_and(|full| full.contains(&format!("11known_shape{}{name}17h", name.len())))
        };
        let symbol = file.symbols().find(is_it);
        let symbol = symbol.unwrap_or_else(|| panic!("{name} is not in {}", program.display()));
        (name, symbol.address()..symbol.address() + symbol.size())
    };
    ["seventy", "twenty", "ten"].map(of).into()
}
