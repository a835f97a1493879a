//! The loop on a clock that stands still: coordinated omission and overload, exactly, in no time.

use assay_drive::books::{Books, Sink};
use assay_drive::drive::{Shared, Worker};
use assay_drive::schedule::Schedule;
use assay_drive::session::Backend;
use assay_drive::session::null::{Answer, NullSession};
use assay_drive::terminal::Terminal;
use assay_drive::watchdog::Watch;
use assay_drive::{Clock, SessionError, VirtualClock};
use assay_model::event::{AttemptEvent, ReceiptEvent, StatementEvent};
use assay_model::{
    Arrival, Due, Edge, Event, Meter, Outcome, OutcomeCounts, Phase, Plan, TaskCounters, Wait,
};

const MS_NS: i64 = 1_000_000;
const SECOND_NS: i64 = 1_000 * MS_NS;

#[derive(Default)]
struct Log {
    events: Vec<Event>,
    attempts: Vec<AttemptEvent>,
    pss_bytes: Vec<Option<u64>>,
}

/// A meter that tells proportional memory only where it is wanted.
struct Scales;

impl Meter for Scales {
    fn read(&mut self, _: Edge) -> TaskCounters {
        TaskCounters::default()
    }

    fn read_pss_bytes(&mut self, wanted: bool) -> Option<u64> {
        wanted.then_some(7)
    }

    fn error(&self) -> Option<String> {
        None
    }
}

impl Sink for &mut Log {
    fn event(&mut self, event: &Event) {
        self.events.push(*event);
    }
    fn statement(&mut self, _: &StatementEvent) {}
    fn receipt(&mut self, _: &ReceiptEvent) {}
    fn attempt(&mut self, event: &AttemptEvent) {
        self.attempts.push(*event);
    }
    fn reading(&mut self, _: u64, edge: Edge, counters: &TaskCounters) {
        if edge == Edge::End {
            self.pss_bytes.push(counters.pss_bytes);
        } else {
            assert_eq!(counters.pss_bytes, None);
        }
    }
    fn error_class(&mut self, _: u16, _: &SessionError) -> u16 {
        0
    }
    fn connected(&mut self, _: u32, _: Backend) {}
    fn chose(&mut self, _: u32, _: String) {}
}

struct Played {
    events: Vec<Event>,
    attempts: Vec<AttemptEvent>,
    pss_bytes: Vec<Option<u64>>,
    counts: OutcomeCounts,
    latency_p99_ns: i64,
    service_p50_ns: i64,
    histograms: usize,
}

fn plan(arrival: Arrival, duration_ns: i64) -> Plan {
    let phase = Phase {
        name: "measured".into(),
        arrival,
        operations: vec![0],
        orders: vec![],
        steady: None,
        weights: vec![],
        deck: false,
        in_order: false,
        waits: vec![],
        passes_min: 3,
        passes_max: 0,
        duration_ns,
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
        retries_max: 2,
        results_kept: 1,
        sessions_per_worker: 1,
    }
}

fn play(plan: &Plan, script: impl FnMut(u64) -> Answer + Send) -> Played {
    let clock = VirtualClock::default();
    clock.advance(SECOND_NS);
    let schedule = Schedule::new(&plan.phases[0], plan.seed);
    schedule.begin(clock.now_ns());
    let mut session = NullSession::scripted(clock.clone(), script);
    let mut log = Log::default();
    let mut worker = Worker {
        number: 0,
        clock: &clock,
        session: &mut session,
        terminal: Terminal::new(plan.seed, 0),
        meter: Some(Box::new(Scales)),
        weighed: Vec::new(),
        observer: None,
        watch: &Watch::default(),
        free_ns: 0,
        books: Books::new(&mut log, None, plan.operations.len()),
    };
    worker.play(plan, 0, &schedule, &Shared::default()).unwrap();
    let Books { latencies, counts, .. } = &worker.books;
    let histograms = latencies.histograms();
    let (counts, latency, service) = (counts[0], latencies.latency(0), latencies.service(0));
    Played {
        events: log.events,
        attempts: log.attempts,
        pss_bytes: log.pss_bytes,
        counts,
        latency_p99_ns: latency.map_or(0, |quantiles| quantiles.p99_ns as i64),
        service_p50_ns: service.map_or(0, |quantiles| quantiles.p50_ns as i64),
        histograms,
    }
}

/// Two operations, one after the other, three times over.
fn passes(memory: bool) -> Plan {
    let mut plan = plan(Arrival::Power, 0);
    plan.operations.push("other".into());
    plan.phases[0].operations = vec![0, 1];
    plan.phases[0].memory = memory;
    plan
}

#[test]
fn proportional_memory_of_each_operation_is_read_once_at_least() {
    let played = play(&passes(true), |_| takes(MS_NS));
    assert_eq!(played.pss_bytes, [Some(7), Some(7), None, None, None, None]);
}

#[test]
fn it_is_not_read_where_the_time_between_operations_counts() {
    let played = play(&passes(false), |_| takes(MS_NS));
    assert_eq!(played.pss_bytes, [None; 6]);
}

const fn takes(delay_ns: i64) -> Answer {
    Answer { delay_ns, fails: false }
}

#[test]
fn a_one_second_stall_shows_in_p99_latency_and_not_in_p50_service_time() {
    let plan = plan(Arrival::Open { rate_per_s: 100.0, clients: 1 }, 20 * SECOND_NS);
    let played = play(&plan, |n| takes(if n == 50 { SECOND_NS } else { MS_NS }));
    assert_eq!(played.counts.ok, 2_000);
    assert!(played.latency_p99_ns > 800 * MS_NS, "{}", played.latency_p99_ns);
    assert!(played.service_p50_ns < 2 * MS_NS, "{}", played.service_p50_ns);
}

#[test]
fn latency_of_what_was_recorded_counts_from_its_own_moment_and_nothing_is_left_out() {
    let mut plan = plan(Arrival::Open { rate_per_s: 1.0, clients: 1 }, SECOND_NS);
    plan.phases[0].dues = [0, 10, 10, 500, 999].map(|at_ms| Due(at_ms * MS_NS, 0, 0)).into();
    let played = play(&plan, |n| takes(if n == 0 { 1_500 * MS_NS } else { MS_NS }));
    let latencies: Vec<i64> = played
        .events
        .iter()
        .map(|event| (event.finished_ns.unwrap() - event.scheduled_ns) / MS_NS)
        .collect();
    assert_eq!(latencies, [1_500, 1_491, 1_492, 1_003, 505]);
    assert_eq!(played.events[3].scheduled_ns, SECOND_NS + 500 * MS_NS);
    assert_eq!((played.counts.ok, played.counts.skipped), (5, 0));
}

#[test]
fn overload_shows_a_backlog_and_skipped_operations_and_no_abort() {
    let plan = plan(Arrival::Open { rate_per_s: 1_000.0, clients: 1 }, 10 * SECOND_NS);
    let played = play(&plan, |_| takes(2 * MS_NS));
    assert_eq!(played.counts.scheduled, 10_000);
    assert_eq!(played.counts.ok, 5_000);
    assert_eq!(played.counts.skipped, 5_000);
    assert!(played.counts.balanced());
    let lateness: Vec<i64> =
        played.events.iter().filter_map(|e| Some(e.started_ns? - e.scheduled_ns)).collect();
    assert!(lateness.is_sorted(), "the backlog only grows");
    assert_eq!(*lateness.last().unwrap(), 4_999 * MS_NS);
}

#[test]
fn a_late_limit_sheds_load_instead_of_queueing_it() {
    let mut plan = plan(Arrival::Open { rate_per_s: 1_000.0, clients: 1 }, SECOND_NS);
    plan.phases[0].late_limit_ns = 10 * MS_NS;
    let played = play(&plan, |_| takes(2 * MS_NS));
    assert!(played.latency_p99_ns <= 12 * MS_NS + MS_NS, "{}", played.latency_p99_ns);
    assert!(played.counts.skipped > 400, "{:?}", played.counts);
}

#[test]
fn a_session_that_is_not_free_is_no_lag_of_the_driver() {
    let plan = plan(Arrival::Open { rate_per_s: 1_000.0, clients: 1 }, SECOND_NS);
    let played = play(&plan, |_| takes(2 * MS_NS));
    assert!(played.events.iter().any(|event| event.started_ns > Some(event.scheduled_ns)));
    for event in &played.events {
        assert_eq!(event.lag_ns, event.started_ns.map(|_| 0));
    }
}

#[test]
fn in_a_closed_loop_the_schedule_is_the_start() {
    let plan = plan(Arrival::Closed { clients: 1 }, SECOND_NS);
    let played = play(&plan, |_| takes(MS_NS));
    assert_eq!(played.counts.ok, 1_000);
    assert!(played.events.iter().all(|event| event.started_ns == Some(event.scheduled_ns)));
}

#[test]
fn a_worker_that_plays_one_of_five_operations_allocates_histograms_of_one() {
    let names = ["a", "b", "c", "d", "e"].map(String::from);
    let mut closed = plan(Arrival::Closed { clients: 1 }, SECOND_NS);
    closed.operations = names.to_vec();
    closed.phases[0].operations = vec![3];
    // Latency and service time are the same in a closed load, and stand in one histogram.
    assert_eq!(play(&closed, |_| takes(MS_NS)).histograms, 1);
    let mut open = plan(Arrival::Open { rate_per_s: 100.0, clients: 1 }, SECOND_NS);
    open.operations = names.to_vec();
    open.phases[0].operations = vec![3];
    // The first takes too long, so the second is late: its latency is not its service time.
    assert_eq!(play(&open, |issued| takes(if issued == 0 { 15 } else { 1 } * MS_NS)).histograms, 3);
}

#[test]
fn a_retry_counts_beside_and_its_time_counts_within() {
    let plan = plan(Arrival::Power, 0);
    let played = play(&plan, |n| Answer { delay_ns: MS_NS, fails: n % 3 != 2 });
    assert_eq!((played.counts.ok, played.counts.retries), (3, 6));
    let taken = |event: &Event| event.finished_ns.unwrap() - event.started_ns.unwrap();
    assert!(played.events.iter().all(|event| taken(event) == 3 * MS_NS));
    let attempts: Vec<(u64, u32)> =
        played.attempts.iter().map(|attempt| (attempt.sequence, attempt.attempt)).collect();
    assert_eq!(attempts, [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]);
    let second = played.attempts[1];
    assert_eq!(second.started_ns, played.attempts[0].finished_ns);
    assert_eq!(second.finished_ns - second.started_ns, MS_NS);
}

/// A terminal that keys for a second and thinks for a while, in a phase of so many seconds.
fn terminal(keying_ns: i64, think_mean_ns: i64, duration_s: i64) -> Plan {
    let mut plan = plan(Arrival::Closed { clients: 1 }, duration_s * SECOND_NS);
    plan.phases[0].waits = vec![Wait { keying_ns, think_mean_ns }];
    plan.validate().unwrap();
    plan
}

#[test]
fn a_terminal_thinks_keys_and_sends() {
    let plan = terminal(SECOND_NS, 3 * SECOND_NS, 4_000);
    let played = play(&plan, |_| takes(MS_NS));
    // 4000 s of about 1 s keying, 3 s thinking and a millisecond.
    assert!((940..1_060).contains(&played.counts.ok), "{:?}", played.counts);
    assert_eq!(played.counts.ok, played.counts.scheduled);
    let mut thought: Vec<i64> = played
        .events
        .windows(2)
        .map(|two| two[1].scheduled_ns - SECOND_NS - two[0].finished_ns.unwrap())
        .collect();
    thought.sort_unstable();
    assert!(thought[0] >= 0 && thought[thought.len() - 1] <= 30 * SECOND_NS);
    let median_s = thought[thought.len() / 2] as f64 / 1e9;
    assert!((1.8..2.4).contains(&median_s), "{median_s}: 3 s times the logarithm of 2 is 2.08 s");
    assert!(played.events.iter().all(|event| event.started_ns == Some(event.scheduled_ns)));
}

#[test]
fn what_would_become_due_after_the_end_is_neither_issued_nor_skipped() {
    let played = play(&terminal(2 * SECOND_NS, 0, 5), |_| takes(MS_NS));
    let due: Vec<i64> = played.events.iter().map(|event| event.scheduled_ns).collect();
    assert_eq!(due, [3 * SECOND_NS, 5 * SECOND_NS + MS_NS], "the phase begins at 1 s");
    assert_eq!(played.counts.skipped, 0);
}

#[test]
fn terminals_end_with_the_number_of_operations() {
    let mut plan = terminal(SECOND_NS, SECOND_NS, 1);
    (plan.phases[0].operations_max, plan.phases[0].duration_ns) = (7, 0);
    assert_eq!(play(&plan, |_| takes(MS_NS)).counts.ok, 7);
}

#[test]
fn a_terminal_whose_operation_took_too_long_starts_thinking_when_it_has_ended() {
    let played =
        play(&terminal(0, SECOND_NS, 100), |n| takes(if n == 2 { 20 * SECOND_NS } else { 0 }));
    let ended_ns = played.events[2].finished_ns.unwrap();
    assert!(played.events[3].scheduled_ns > ended_ns);
    assert_eq!(played.counts.skipped, 0);
}

#[test]
fn an_error_is_an_outcome_and_not_an_end() {
    let mut plan = plan(Arrival::Power, 0);
    plan.retries_max = 0;
    let played = play(&plan, |n| Answer { delay_ns: 0, fails: n == 1 });
    let outcomes: Vec<Outcome> = played.events.iter().map(|event| event.outcome).collect();
    assert_eq!(outcomes, [Outcome::Ok, Outcome::Failed, Outcome::Ok]);
    assert_eq!(played.events[1].digest, None);
}

#[test]
fn an_operation_over_its_deadline_has_failed_even_if_nothing_interrupted_it() {
    let mut plan = plan(Arrival::Power, 0);
    plan.operation_deadline_ns = 2 * MS_NS;
    let played = play(&plan, |n| takes(if n == 1 { 3 * MS_NS } else { MS_NS }));
    assert_eq!((played.counts.ok, played.counts.failed), (2, 1));
}
