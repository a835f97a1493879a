//! A program whose profile is known: 70, 20 and 10 % of its CPU time are in three functions.
//! `known_shape SECONDS [steady|short-lived|children]` waits for a line on standard input (or its
//! end), works on two threads, and prints what it measured of itself as JSON.
//!
//! Shares are true on a busy machine, too: which function is next is decided by the CPU time that
//! each has had so far, by the clock of its own thread, never by the wall. How long it goes on is
//! drawn, so that no sampler of a fixed period is in step with it.

use std::error::Error;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Duration;

use assay_kernel::clock::thread_cpu_ns;
use assay_kernel::usage::{Usage, UsageOf};

type Failure = Box<dyn Error + Send + Sync>;

/// CPU nanoseconds that each function had.
type HadNs = [u64; 3];
/// Name, per cent, the function.
type Part = (&'static str, u64, fn(u64, u64) -> u64);

const FUNCTIONS: [Part; 3] = [("seventy", 70, seventy), ("twenty", 20, twenty), ("ten", 10, ten)];
const THREADS: usize = 2;
const SHORT_LIFE: Duration = Duration::from_millis(50);
const CHILD_LIFE: Duration = Duration::from_millis(250);
/// The most turns of a loop between two looks at the clock: some tens of microseconds.
const TURNS_MAX: u64 = 40_000;
/// Knuth's, of a linear congruential generator of 64 bits.
const DRAW_FACTOR: u64 = 6_364_136_223_846_793_005;

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let seconds: f64 = arguments.next().ok_or("known_shape SECONDS [VARIANT]")?.parse()?;
    let life = Duration::from_secs_f64(seconds);
    let variant = arguments.next().unwrap_or_else(|| "steady".to_owned());
    if variant == "child" {
        print_line(on_one_thread(life));
        return Ok(());
    }
    wait_for_a_line()?;
    let before_ns = cpu_ns_with_children();
    let had_ns = match variant.as_str() {
        "steady" => on_threads(life)?,
        "short-lived" => again_and_again(life, SHORT_LIFE, on_threads)?,
        "children" => again_and_again(life, CHILD_LIFE, in_children)?,
        other => return Err(format!("{other} is none of steady, short-lived, children").into()),
    };
    let cpu_ns = cpu_ns_with_children() - before_ns;
    println!("{}", report(&variant, had_ns, cpu_ns));
    Ok(())
}

fn wait_for_a_line() -> Result<(), Failure> {
    let mut byte = [0];
    while std::io::stdin().read(&mut byte)? == 1 && byte != *b"\n" {}
    Ok(())
}

/// Spends `life` in parts, one after the other.
fn again_and_again(
    life: Duration,
    part: Duration,
    spend: fn(Duration) -> Result<HadNs, Failure>,
) -> Result<HadNs, Failure> {
    let mut had_ns = HadNs::default();
    for _ in 0..life.as_nanos().div_ceil(part.as_nanos()) {
        add(&mut had_ns, spend(part)?);
    }
    Ok(had_ns)
}

fn on_threads(life: Duration) -> Result<HadNs, Failure> {
    let threads = [(); THREADS].map(|()| std::thread::spawn(move || on_one_thread(life)));
    let mut had_ns = HadNs::default();
    for thread in threads {
        add(&mut had_ns, thread.join().map_err(|_| "a thread panicked")?);
    }
    Ok(had_ns)
}

fn in_children(life: Duration) -> Result<HadNs, Failure> {
    let own = std::env::current_exe()?;
    let seconds = life.as_secs_f64().to_string();
    let start = || Command::new(&own).args([&seconds, "child"]).stdout(Stdio::piped()).spawn();
    let children = [start()?, start()?];
    let mut had_ns = HadNs::default();
    for child in children {
        let output = child.wait_with_output()?;
        add(&mut had_ns, read_line(&String::from_utf8(output.stdout)?)?);
    }
    Ok(had_ns)
}

/// Uses `life` of this thread's CPU time; the function furthest behind its share is next.
fn on_one_thread(life: Duration) -> HadNs {
    let mut had_ns = HadNs::default();
    let (mut value, mut drawn) = (1, thread_cpu_ns());
    let mut now_ns = thread_cpu_ns();
    while u128::from(had_ns.iter().sum::<u64>()) < life.as_nanos() {
        let next = furthest_behind(had_ns);
        drawn = drawn.wrapping_mul(DRAW_FACTOR).wrapping_add(1);
        value = FUNCTIONS[next].2(value, (drawn >> 32) % TURNS_MAX);
        let after_ns = thread_cpu_ns();
        had_ns[next] += after_ns - now_ns;
        now_ns = after_ns;
    }
    std::hint::black_box(value);
    had_ns
}

fn furthest_behind(had_ns: HadNs) -> usize {
    let parts = had_ns.iter().zip(FUNCTIONS).map(|(had_ns, (_, percent, _))| had_ns / percent);
    parts.enumerate().min_by_key(|(_, part_ns)| *part_ns).map_or(0, |(number, _)| number)
}

// The three differ in more than constants, so that none is folded into another.

#[inline(never)]
fn seventy(value: u64, turns: u64) -> u64 {
    (0..turns).fold(value, |value, turn| std::hint::black_box(value.rotate_left(7) ^ turn))
}

#[inline(never)]
fn twenty(value: u64, turns: u64) -> u64 {
    (0..turns).fold(value, |value, turn| std::hint::black_box(value.wrapping_mul(31) + (turn >> 3)))
}

#[inline(never)]
fn ten(value: u64, turns: u64) -> u64 {
    (0..turns)
        .fold(value, |value, turn| std::hint::black_box(value.swap_bytes().wrapping_sub(turn)))
}

fn cpu_ns_with_children() -> u64 {
    Usage::of(UsageOf::Process).cpu_ns() + Usage::of(UsageOf::Children).cpu_ns()
}

fn add(sum_ns: &mut HadNs, had_ns: HadNs) {
    sum_ns.iter_mut().zip(had_ns).for_each(|(sum_ns, had_ns)| *sum_ns += had_ns);
}

fn print_line(had_ns: HadNs) {
    println!("{} {} {}", had_ns[0], had_ns[1], had_ns[2]);
}

fn read_line(line: &str) -> Result<HadNs, Failure> {
    let numbers = line.split_whitespace().map(str::parse).collect::<Result<Vec<u64>, _>>()?;
    HadNs::try_from(numbers).map_err(|_| format!("a child said {line:?}").into())
}

fn report(variant: &str, had_ns: HadNs, cpu_ns: u64) -> serde_json::Value {
    let sum_ns = had_ns.iter().sum::<u64>() as f64;
    let shares = FUNCTIONS.iter().zip(had_ns).map(|((name, ..), had_ns)| {
        ((*name).to_owned(), serde_json::Value::from(had_ns as f64 / sum_ns))
    });
    serde_json::json!({
        "variant": variant,
        "shares": shares.collect::<serde_json::Map<_, _>>(),
        "cpu_s": cpu_ns as f64 / 1e9,
    })
}
