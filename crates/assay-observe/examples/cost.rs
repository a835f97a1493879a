//! What observing costs: all three probes at ten samples a second for ten seconds, then readings of
//! the process meter. `cargo run --release -p assay-observe --example cost [pid...]` follows the
//! given processes and this one.

use std::time::{Duration, Instant};

use assay_model::{Edge, Meter};
use assay_observe::{ObserveError, ProbeKind, ProcessMeter, Sampler, SamplerConfig, SamplerReport};

const SECONDS: u64 = 10;
const INTERVAL: Duration = Duration::from_millis(100);
const READINGS: usize = 1_000;
const THREADS: usize = 8;

fn main() -> Result<(), ObserveError> {
    let pids = std::env::args().skip(1).filter_map(|pid| pid.parse().ok()).collect::<Vec<u32>>();
    probes(&pids)?;
    println!("meter of this process, {THREADS} idle threads, median of {READINGS} readings:");
    for _ in 0..THREADS {
        std::thread::spawn(|| std::thread::sleep(Duration::from_secs(3_600)));
    }
    meter("without PSS", false)?;
    meter("with PSS", true)
}

fn probes(pids: &[u32]) -> Result<(), ObserveError> {
    let raw = std::env::temp_dir().join(format!("assay-cost-{}", std::process::id()));
    std::fs::create_dir_all(&raw)
        .map_err(|source| ObserveError::Io { path: raw.clone(), source })?;
    let kinds = [ProbeKind::System, ProbeKind::Processes, ProbeKind::Disks];
    let mut samplers = Vec::new();
    for kind in kinds {
        samplers.push(Sampler::start(SamplerConfig {
            kind,
            raw_dir: raw.clone(),
            interval: INTERVAL,
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

fn followed(kind: ProbeKind, pids: &[u32]) -> Vec<(u32, String)> {
    if kind != ProbeKind::Processes {
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

fn meter(name: &str, with_pss: bool) -> Result<(), ObserveError> {
    let mut meter = ProcessMeter::of_self(with_pss)?;
    let (mut starts_us, mut ends_us) = (Vec::new(), Vec::new());
    for _ in 0..READINGS {
        starts_us.push(timed_us(|| meter.read(Edge::Start)));
        ends_us.push(timed_us(|| meter.read(Edge::End)));
    }
    println!("  {name}: start {:.0} us, end {:.0} us", median(starts_us), median(ends_us));
    Ok(())
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
