//! What observing costs: all probes for ten seconds, ten samples a second and a hundred looks at
//! what threads wait for, then readings of the process meter and of the server meter. `cargo run
//! --release -p assay-observe --example cost [pid...]` follows the given processes and this one, and
//! then three processes of 250 threads each, a tenth of which wake ten times a second, as a cluster of
//! Java has them.

use std::process::Command;
use std::time::{Duration, Instant};

use assay_model::{Edge, Meter};
use assay_observe::{
    ObserveError, ProbeKind, ProcessMeter, Sampler, SamplerConfig, SamplerReport, ServerMeter,
};

const SECONDS: u64 = 10;
const INTERVAL: Duration = Duration::from_millis(100);
const LOOK_INTERVAL: Duration = Duration::from_millis(10);
const READINGS: usize = 1_000;
const PSS_READINGS: usize = 50;
const THREADS: usize = 8;
const PROCESSES: usize = 20;
const CROWDS: usize = 3;
const CROWD_THREADS: usize = 250;
const CROWD_AWAKE_ONE_IN: usize = 10;
/// What a process that is to be a crowd is started with.
const CROWD: &str = "crowd";

fn main() -> Result<(), ObserveError> {
    if std::env::args().nth(1).as_deref() == Some(CROWD) {
        crowd();
    }
    let pids = std::env::args().skip(1).filter_map(|pid| pid.parse().ok()).collect::<Vec<u32>>();
    probes(&pids)?;
    with_crowds()?;
    println!("meter of a server, median of {READINGS} readings:");
    let own = std::process::id();
    pids.first().map_or(Ok(()), |pid| server_meter("of the first process that was given", *pid))?;
    server_meter_with_children(own)?;
    println!("meter of this process, {THREADS} idle threads, median of {READINGS} readings:");
    for _ in 0..THREADS {
        std::thread::spawn(|| std::thread::sleep(Duration::from_secs(3_600)));
    }
    meter("of itself", ProcessMeter::of_self()?);
    proportional_memory("this process", ProcessMeter::of_self()?);
    pids.first().map_or(Ok(()), |pid| {
        let mut server = ServerMeter::of(&[*pid])?;
        server.read(Edge::Start);
        proportional_memory("the first process that was given", server);
        Ok(())
    })
}

fn probes(pids: &[u32]) -> Result<(), ObserveError> {
    let raw = std::env::temp_dir().join(format!("assay-cost-{}", std::process::id()));
    std::fs::create_dir_all(&raw)
        .map_err(|source| ObserveError::Io { path: raw.clone(), source })?;
    let kinds = [ProbeKind::System, ProbeKind::Processes, ProbeKind::Disks, ProbeKind::Waits];
    let mut samplers = Vec::new();
    for kind in kinds {
        samplers.push(Sampler::start(SamplerConfig {
            kind,
            raw_dir: raw.clone(),
            interval: if kind == ProbeKind::Waits { LOOK_INTERVAL } else { INTERVAL },
            core_share_max: None,
            proc_root: assay_observe::ProcRoot::default(),
            sys_root: assay_observe::SysRoot::default(),
            followed: followed(kind, pids),
        })?);
    }
    std::thread::sleep(Duration::from_secs(SECONDS));
    let mut cpu_ns = 0;
    for (kind, sampler) in kinds.iter().zip(samplers) {
        let report = sampler.stop()?;
        cpu_ns += report.cpu_ns;
        print(kind.name(), &report);
    }
    println!("all: {:.2} % of one core", percent(cpu_ns));
    // The folder is in the temporary directory; leaving it behind harms nothing.
    let _ = std::fs::remove_dir_all(&raw);
    Ok(())
}

/// All probes beside processes of hundreds of threads, most of which sleep.
fn with_crowds() -> Result<(), ObserveError> {
    let started = (0..CROWDS).map(|_| {
        let program = std::env::current_exe()?;
        Command::new(program).arg(CROWD).spawn()
    });
    let started: Result<Vec<_>, _> = started.collect();
    let mut crowds = started.map_err(|source| ObserveError::Io { path: CROWD.into(), source })?;
    std::thread::sleep(INTERVAL);
    println!(
        "{CROWDS} processes of {CROWD_THREADS} threads each, one in {CROWD_AWAKE_ONE_IN} awake:"
    );
    let measured = probes(&crowds.iter().map(std::process::Child::id).collect::<Vec<u32>>());
    for child in &mut crowds {
        // One that cannot be ended ends by itself.
        let _ = child.kill();
        let _ = child.wait();
    }
    measured
}

/// Most threads sleep as those of a pool do; the first of each ten wakes as a timer's does.
fn crowd() {
    for number in 1..CROWD_THREADS {
        let nap = if number % CROWD_AWAKE_ONE_IN == 0 { INTERVAL } else { Duration::from_secs(60) };
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(nap);
            }
        });
    }
    std::thread::sleep(Duration::from_secs(60));
    std::process::exit(0)
}

fn followed(kind: ProbeKind, pids: &[u32]) -> Vec<(u32, String)> {
    if !kind.follows() {
        return Vec::new();
    }
    let given = pids.iter().map(|pid| (*pid, "engine".to_owned()));
    given.chain([(std::process::id(), "driver".to_owned())]).collect()
}

fn percent(cpu_ns: u64) -> f64 {
    cpu_ns as f64 / (SECONDS as f64 * 1e9) * 100.0
}

fn print(name: &str, report: &SamplerReport) {
    let per_sample_us = report.cpu_ns as f64 / report.samples as f64 / 1e3;
    println!(
        "{name}: {} samples, {per_sample_us:.0} us of CPU each, longest {:.0} us, {:.2} % of one core",
        report.samples,
        report.longest_ns as f64 / 1e3,
        percent(report.cpu_ns),
    );
}

fn server_meter(name: &str, pid: u32) -> Result<(), ObserveError> {
    let mut server = ServerMeter::of(&[pid])?;
    server.read(Edge::Start);
    meter(&format!("{name}, {} processes", server.processes()), server);
    Ok(())
}

/// As a server with idle connections: a root at work and children that sleep.
fn server_meter_with_children(own: u32) -> Result<(), ObserveError> {
    let sleeping = (1..PROCESSES).map(|_| Command::new("sleep").arg("3600").spawn());
    let sleeping: Result<Vec<_>, _> = sleeping.collect();
    let mut sleeping =
        sleeping.map_err(|source| ObserveError::Io { path: "sleep".into(), source })?;
    let measured = server_meter("this process at work, its children asleep", own);
    for child in &mut sleeping {
        // One that cannot be ended ends by itself.
        let _ = child.kill();
        let _ = child.wait();
    }
    measured
}

fn meter(name: &str, mut meter: impl Meter) {
    let (mut starts_us, mut ends_us) = (Vec::new(), Vec::new());
    for _ in 0..READINGS {
        starts_us.push(timed_us(|| meter.read(Edge::Start)));
        ends_us.push(timed_us(|| meter.read(Edge::End)));
    }
    println!("  {name}: start {:.0} us, end {:.0} us", median(starts_us), median(ends_us));
}

fn proportional_memory(name: &str, mut meter: impl Meter) {
    let mut took_us = Vec::new();
    for _ in 0..PSS_READINGS {
        took_us.push(timed_us(|| meter.read_pss_bytes(true)));
    }
    let size_mib = meter.read_pss_bytes(true).unwrap_or_default() >> 20;
    println!("proportional memory of {name}, {size_mib} MiB: {:.0} us", median(took_us));
}

fn timed_us<T>(work: impl FnOnce() -> T) -> f64 {
    let begin = Instant::now();
    let result = work();
    let took = begin.elapsed().as_secs_f64() * 1e6;
    drop(result);
    took
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
