//! A week of open load on a clock that stands still: no event is lost, none drifts, and no time or
//! number overflows. The clock begins shortly before the milliseconds of a host that runs for seven
//! weeks leave 32 bits; microseconds and nanoseconds leave them within the first hours.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_ipc::reader::StreamReader;
use assay_drive::books::Books;
use assay_drive::drive::{Shared, Worker};
use assay_drive::recorder::{Notes, Recorder, rings};
use assay_drive::schedule::Schedule;
use assay_drive::session::null::{Answer, NullSession};
use assay_drive::terminal::Terminal;
use assay_drive::watchdog::Watch;
use assay_drive::{Clock, VirtualClock};
use assay_model::{Arrival, Phase, Plan};

const MS_NS: i64 = 1_000_000;
const SECOND_NS: i64 = 1_000 * MS_NS;
const DAY_NS: i64 = 86_400 * SECOND_NS;
const WEEK_NS: i64 = 7 * DAY_NS;
/// 46.7 days: three days before 2^32 ms.
const BEGUN_NS: i64 = (1 << 32) * MS_NS - 3 * DAY_NS;
/// No whole number of nanoseconds lies between two operations, so a sum of intervals would drift.
const RATE_PER_S: f64 = 0.7;
const DRIFT_NS: i64 = 1;

fn plan() -> Plan {
    let phase = Phase {
        name: "measured".into(),
        arrival: Arrival::Open { rate_per_s: RATE_PER_S, clients: 1 },
        operations: vec![0],
        orders: vec![],
        steady: None,
        weights: vec![],
        deck: false,
        in_order: false,
        waits: vec![],
        passes_min: 1,
        passes_max: 0,
        duration_ns: WEEK_NS,
        operations_max: 0,
        late_limit_ns: 0,
        memory: false,
        dues: vec![],
    };
    Plan {
        operations: vec!["select".into()],
        variants: vec![],
        statements: vec![],
        phases: vec![phase],
        seed: 1,
        operation_deadline_ns: 0,
        run_deadline_ns: 0,
        loses_engine: false,
        retries_max: 0,
        results_kept: 1,
        sessions_per_worker: 1,
    }
}

/// The times of all events of a stream: sequence, scheduled, started, finished.
fn times(raw: &Path) -> Vec<(u64, i64, i64, i64)> {
    let file = File::open(raw.join("events.arrows")).unwrap();
    let mut rows = Vec::new();
    for batch in StreamReader::try_new(file, None).unwrap().map(Result::unwrap) {
        let ints = |name| batch.column_by_name(name).unwrap().as_primitive::<Int64Type>();
        let numbers = batch.column_by_name("sequence").unwrap().as_primitive::<UInt64Type>();
        let (due, start, end) = (ints("scheduled_ns"), ints("started_ns"), ints("finished_ns"));
        rows.extend(
            (0..batch.num_rows())
                .map(|row| (numbers.value(row), due.value(row), start.value(row), end.value(row))),
        );
    }
    rows
}

/// Says that the load is over when it is dropped, so that no failure leaves the recorder waiting.
struct Ended<'a>(&'a AtomicBool);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

#[test]
fn a_week_loses_no_event_does_not_drift_and_overflows_nothing() {
    let plan = plan();
    let raw = tempfile::tempdir().unwrap();
    let notes = Notes::default();
    let (sink, source) = rings(&notes);
    let mut recorder = Recorder::create(&plan, notes, vec![source], raw.path()).unwrap();
    let clock = VirtualClock::default();
    clock.advance(BEGUN_NS);
    let schedule = Schedule::new(&plan.phases[0], plan.seed);
    schedule.begin(clock.now_ns());
    // One operation in ten thousand takes two minutes: later ones wait, and none is left out.
    let delay = |number: u64| if number % 10_000 == 9_999 { 120 * SECOND_NS } else { MS_NS };
    let script = move |number| Answer { delay_ns: delay(number), fails: false };
    let mut session = NullSession::scripted(clock.clone(), script);
    let is_over = AtomicBool::new(false);
    let played = std::thread::scope(|scope| {
        let ended = Ended(&is_over);
        let drained = scope.spawn(|| {
            while !is_over.load(Ordering::Acquire) {
                recorder.drain().unwrap();
                std::thread::yield_now();
            }
        });
        let mut worker = Worker {
            number: 0,
            clock: &clock,
            session: &mut session,
            terminal: Terminal::new(plan.seed, 0),
            meter: None,
            weighed: Vec::new(),
            observer: None,
            watch: &Watch::default(),
            free_ns: 0,
            books: Books::new(sink, None, plan.operations.len()),
        };
        worker.play(&plan, 0, &schedule, &Shared::default()).unwrap();
        let (counts, latencies) = (worker.books.counts[0], worker.books.latencies.latency(0));
        drop(ended);
        drained.join().unwrap();
        let longest_ns = latencies.unwrap().max_ns as i64;
        assert!((longest_ns - 120 * SECOND_NS).abs() < SECOND_NS / 5, "{longest_ns}");
        assert!(counts.balanced());
        assert_eq!((counts.failed, counts.skipped), (0, 0));
        counts.ok
    });
    recorder.finish().unwrap();
    let rows = times(raw.path());
    let due = (WEEK_NS as f64 / SECOND_NS as f64 * RATE_PER_S).ceil() as u64;
    assert_eq!((played, rows.len() as u64), (due, due));
    let mut free_ns = i64::MIN;
    for (place, (sequence, scheduled_ns, started_ns, finished_ns)) in rows.iter().enumerate() {
        assert_eq!(*sequence, place as u64);
        // 7 of them in 10 s, in whole numbers.
        let exact_ns = i128::from(BEGUN_NS) + place as i128 * 10 * i128::from(SECOND_NS) / 7;
        assert!((i128::from(*scheduled_ns) - exact_ns).abs() <= i128::from(DRIFT_NS), "{place}");
        assert_eq!(*started_ns, free_ns.max(*scheduled_ns), "{place}");
        assert_eq!(*finished_ns - *started_ns, delay(*sequence), "{place}");
        free_ns = *finished_ns;
    }
    let last_ns = rows[rows.len() - 1].1;
    assert!(BEGUN_NS < (1 << 32) * MS_NS && last_ns > (1 << 32) * MS_NS);
    assert!(last_ns >= BEGUN_NS + WEEK_NS - 2 * SECOND_NS);
}
