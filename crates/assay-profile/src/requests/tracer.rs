//! The requests probe: a thread that empties the rings that the tracepoint writes into.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use assay_kernel::clock::{monotonic_ns, thread_cpu_ns};
use assay_model::Cell;
use assay_record::Stream;

use super::format::Format;
use super::sample::{Record, Request, parse};
use super::tables::{PROBE_REQUESTS, REQUESTS};
use super::tracefs::block_rq_issue;
use crate::attach::{is_for_want_of_room, processors};
use crate::perf::{Event, Ring};
use crate::{ProfileError, ProfilerReport};

/// Of all processors together: room for as many requests between two looks as any device takes.
const ROOM_BYTES: usize = 32 << 20;
const RING_BYTES_MAX: usize = 8 << 20;
const RING_BYTES_MIN: usize = 128 << 10;
const LOOK_INTERVAL: Duration = Duration::from_millis(50);
/// A killed process loses at most what came after its last flush.
const FLUSH_INTERVAL_NS: i64 = 1_000_000_000;
const MEND: &str =
    "tracing needs root or CAP_PERFMON, or `sudo sysctl kernel.perf_event_paranoid=-1`";

/// Requests that are being traced. Dropping it ends that, too.
pub struct RequestTracer {
    stopping: Arc<AtomicBool>,
    thread: Option<JoinHandle<ProfilerReport>>,
}

impl RequestTracer {
    /// Begins to trace; the streams are on disk and the tracepoint is heard when this returns.
    ///
    /// # Errors
    /// If the kernel does not allow it, with what would; if a stream cannot be made.
    pub fn start(raw_dir: &Path) -> Result<Self, ProfileError> {
        let format = block_rq_issue()?;
        let rings = rings(format.id)?;
        let work = Work {
            rings,
            format,
            requests: Stream::create(raw_dir, &REQUESTS)?,
            cost: Stream::create(raw_dir, &PROBE_REQUESTS)?,
            names: HashMap::new(),
            of_kernel: HashMap::new(),
            lost: 0,
            report: ProfilerReport::default(),
            flushed_ns: 0,
        };
        let stopping = Arc::new(AtomicBool::new(false));
        let stop_flag = Arc::clone(&stopping);
        let thread = Builder::new()
            .name("assay-probe-requests".to_owned())
            .spawn(move || work.carry_out(&stop_flag))
            .map_err(|source| ProfileError::Io { path: PathBuf::from("thread"), source })?;
        Ok(Self { stopping, thread: Some(thread) })
    }

    /// Takes what is left in the rings and ends the streams.
    pub fn stop(mut self) -> Result<ProfilerReport, ProfileError> {
        self.join().ok_or(ProfileError::Panicked)
    }

    fn join(&mut self) -> Option<ProfilerReport> {
        self.stopping.store(true, Ordering::Relaxed);
        let thread = self.thread.take()?;
        thread.thread().unpark();
        thread.join().ok()
    }
}

impl Drop for RequestTracer {
    fn drop(&mut self) {
        self.join();
    }
}

/// What the thread owns.
struct Work {
    rings: Vec<Ring>,
    format: Format,
    requests: Stream,
    cost: Stream,
    names: HashMap<(u32, u32), String>,
    of_kernel: HashMap<u32, bool>,
    lost: u64,
    report: ProfilerReport,
    flushed_ns: i64,
}

impl Work {
    fn carry_out(mut self, stopping: &AtomicBool) -> ProfilerReport {
        let traced = self.trace_until(stopping);
        // After an error the streams are ended as far as possible; the first error is told.
        let finished = self.requests.finish().and_then(|()| self.cost.finish());
        self.report.error =
            traced.and(finished.map_err(ProfileError::from)).err().map(|error| error.to_string());
        if self.lost > 0 {
            self.report.notes.push(format!(
                "{} requests came faster than they were taken and are missing",
                self.lost
            ));
        }
        self.report.cpu_ns = thread_cpu_ns();
        self.report
    }

    fn trace_until(&mut self, stopping: &AtomicBool) -> Result<(), ProfileError> {
        while !stopping.load(Ordering::Relaxed) {
            std::thread::park_timeout(LOOK_INTERVAL);
            self.look()?;
        }
        for ring in &self.rings {
            // What is in the ring can still be read.
            let _ = ring.event().disable();
        }
        self.look()?;
        // A record in a ring says so only if another one found room after it.
        let lost = self.rings.iter().filter_map(|ring| ring.event().lost()).sum();
        self.lost = self.lost.max(lost);
        self.flush(monotonic_ns())
    }

    fn look(&mut self) -> Result<(), ProfileError> {
        let begun_ns = monotonic_ns();
        let mut scratch = Vec::new();
        let Self { rings, format, requests, names, of_kernel, lost, report, .. } = self;
        for ring in rings {
            drain(ring, &mut scratch, |bytes| match parse(bytes, format) {
                Record::Request(request) => {
                    report.counts.samples += 1;
                    let name = names.entry(request.dev).or_insert_with(|| name(request.dev));
                    let is_kernel =
                        of_kernel.entry(request.pid).or_insert_with(|| is_of_kernel(request.pid));
                    requests.push(&cells(&request, name, *is_kernel));
                }
                Record::Lost(count) => *lost += count,
                Record::Other => {}
            });
        }
        let took_ns = monotonic_ns() - begun_ns;
        self.report.longest_ns = self.report.longest_ns.max(took_ns as u64);
        if begun_ns - self.flushed_ns > FLUSH_INTERVAL_NS {
            self.flush(begun_ns)?;
        }
        Ok(())
    }

    fn flush(&mut self, now: i64) -> Result<(), ProfileError> {
        self.flushed_ns = now;
        self.cost.push(&[
            Cell::Int(now),
            Cell::Text("requests"),
            Cell::Count(thread_cpu_ns()),
            Cell::Count(self.report.counts.samples),
            Cell::Count(self.report.longest_ns),
        ]);
        self.requests.flush()?;
        Ok(self.cost.flush()?)
    }
}

/// Hands every record to `take` and gives its room back.
fn drain(ring: &mut Ring, scratch: &mut Vec<u8>, mut take: impl FnMut(&[u8])) {
    let head = ring.head();
    let mut position = ring.tail();
    while position < head {
        // The size of a record is in the last two of the eight bytes that it begins with.
        let length = usize::from(u16::from_ne_bytes(last_two(ring.word(position).to_ne_bytes())));
        if length == 0 {
            break;
        }
        take(ring.bytes(position, length, scratch));
        position += length as u64;
    }
    ring.release(head);
}

const fn last_two(bytes: [u8; 8]) -> [u8; 2] {
    [bytes[6], bytes[7]]
}

fn cells<'a>(request: &Request<'a>, device: &'a str, is_kernel: bool) -> [Cell<'a>; 7] {
    [
        Cell::Int(request.time_ns),
        Cell::Text(device),
        Cell::Count(request.sector),
        Cell::Count(request.bytes),
        Cell::Text(request.rwbs),
        if is_kernel { Cell::Null } else { Cell::Count(u64::from(request.pid)) },
        Cell::Count(u64::from(request.tid)),
    ]
}

/// Whether a process is a thread of the kernel: those alone have no program.
fn is_of_kernel(pid: u32) -> bool {
    let program = std::fs::read_link(format!("/proc/{pid}/exe"));
    let command = std::fs::read(format!("/proc/{pid}/cmdline"));
    program.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
        && command.is_ok_and(|arguments| arguments.is_empty())
}

/// The kernel's name of a device, else its numbers.
fn name((major, minor): (u32, u32)) -> String {
    let numbers = format!("{major}:{minor}");
    let link = std::fs::read_link(Path::new("/sys/dev/block").join(&numbers));
    let named = link.ok().and_then(|path| Some(path.file_name()?.to_str()?.replace('!', "/")));
    named.unwrap_or(numbers)
}

/// A ring for each processor, enabled. Where the kernel does not let us lock as much memory they
/// are smaller.
fn rings(id: u64) -> Result<Vec<Ring>, ProfileError> {
    let processors = processors()?;
    let each = (ROOM_BYTES / processors.len().next_power_of_two()).max(RING_BYTES_MIN);
    let mut room = each.min(RING_BYTES_MAX);
    loop {
        let ring = |cpu: &u32| Ring::map(Event::open_tracepoint(id, *cpu)?, room);
        match processors.iter().map(ring).collect::<io::Result<Vec<Ring>>>() {
            Err(error) if is_for_want_of_room(&error) && room > RING_BYTES_MIN => room /= 2,
            Err(source) => return Err(refused(source)),
            Ok(rings) => {
                for ring in &rings {
                    ring.event().enable().map_err(refused)?;
                }
                return Ok(rings);
            }
        }
    }
}

fn refused(source: io::Error) -> ProfileError {
    ProfileError::NotTraced { source, mend: MEND }
}
