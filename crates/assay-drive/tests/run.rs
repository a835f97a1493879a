//! Whole runs with threads, on real time but without asserting any.

use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_ipc::reader::StreamReader;
use assay_drive::run::{Parts, PhaseGate};
use assay_drive::session::null::steady;
use assay_drive::{CancelFlag, Clock, DriveError, Ended, MonotonicClock, Session, drive};
use assay_model::{Arrival, OutcomeCounts, Phase, Plan};

fn plan(arrival: Arrival, operations_max: u64) -> Plan {
    let phase = |name: &str| Phase {
        name: name.into(),
        arrival: arrival.clone(),
        operations: vec![0, 1],
        orders: vec![],
        steady: None,
        weights: vec![],
        deck: false,
        in_order: false,
        waits: vec![],
        passes_min: 2,
        passes_max: 0,
        duration_ns: 0,
        operations_max,
        late_limit_ns: 0,
        memory: false,
        dues: vec![],
    };
    Plan {
        operations: vec!["a".into(), "b".into()],
        variants: vec![],
        statements: vec![],
        phases: vec![phase("warmup"), phase("measured")],
        seed: 1,
        operation_deadline_ns: 0,
        run_deadline_ns: 0,
        loses_engine: false,
        retries_max: 0,
        results_kept: 1,
        sessions_per_worker: 1,
    }
}

fn parts(plan: &Plan, delay_ns: i64) -> Parts {
    let sessions =
        (0..plan.sessions()).map(|_| Box::new(steady(delay_ns, 0)) as Box<dyn Session>).collect();
    Parts {
        sessions,
        first_session: 0,
        gate: None,
        meter: None,
        observer: None,
        listener: None,
        cancel: CancelFlag::default(),
    }
}

fn rows(path: &Path) -> usize {
    let file = std::fs::File::open(path).unwrap();
    StreamReader::try_new(file, None).unwrap().map(|batch| batch.unwrap().num_rows()).sum()
}

#[test]
fn every_operation_of_every_session_is_on_disk() {
    let raw = tempfile::tempdir().unwrap();
    let plan = plan(Arrival::Closed { clients: 4 }, 100_000);
    let report = drive(&plan, parts(&plan, 0), raw.path(), |_| {}).unwrap();
    assert_eq!(report.ended, Ended::Done);
    assert_eq!(rows(&raw.path().join("events.arrows")), 200_000);
    let counted: u64 = report.phases[1].operations.iter().map(|o| o.counts.ok).sum();
    assert_eq!(counted, 100_000);
}

/// (operation, variant, session) of each event, by the names of the columns.
fn played(path: &Path) -> Vec<(String, u32, u32)> {
    let file = std::fs::File::open(path).unwrap();
    let mut rows = Vec::new();
    for batch in StreamReader::try_new(file, None).unwrap() {
        let batch = batch.unwrap();
        let number = |name: &str, row: usize| {
            batch.column_by_name(name).unwrap().as_primitive::<UInt32Type>().value(row)
        };
        let dictionary = batch.column_by_name("operation").unwrap().as_any_dictionary();
        for row in 0..batch.num_rows() {
            let word =
                dictionary.values().as_string::<i32>().value(dictionary.normalized_keys()[row]);
            rows.push((word.to_owned(), number("variant", row), number("session", row)));
        }
    }
    rows.sort();
    rows
}

#[test]
fn streams_play_their_orders_with_their_variants() {
    let raw = tempfile::tempdir().unwrap();
    let mut plan = plan(Arrival::Throughput { clients: 2 }, 0);
    plan.phases.truncate(1);
    plan.phases[0].operations.clear();
    plan.phases[0].orders = vec![vec![1, 0], vec![2]];
    plan.operations = vec!["a".into(), "b".into(), "a".into()];
    plan.variants = vec![1, 1, 2];
    let report = drive(&plan, parts(&plan, 0), raw.path(), |_| {}).unwrap();
    let wanted = [("a", 1, 0), ("a", 2, 1), ("b", 1, 0)].map(|(a, v, s)| (a.to_owned(), v, s));
    assert_eq!(played(&raw.path().join("events.arrows")), wanted);
    let variants: Vec<u32> = report.phases[0].operations.iter().map(|one| one.variant).collect();
    assert_eq!(variants, [1, 1, 2]);
}

#[test]
fn hosts_that_share_a_plan_begin_when_they_are_told_and_leave_nothing_out() {
    let mut plan = plan(Arrival::Closed { clients: 3 }, 3_000);
    // The first phase has one session: the second host takes no part in it.
    (plan.phases[0].arrival, plan.phases[0].passes_min) = (Arrival::Power, 1);
    let shares = [(0, 2), (2, 1)];
    let reports = shares.map(|(first, sessions)| {
        let raw = tempfile::tempdir().unwrap();
        let gate: PhaseGate = Box::new(|_| Some(MonotonicClock.now_ns() + 20_000_000));
        let mut parts = parts(&plan, 0);
        parts.sessions.truncate(sessions);
        (parts.first_session, parts.gate) = (first, Some(gate));
        let asked_ns = MonotonicClock.now_ns();
        let report = drive(&plan, parts, raw.path(), |_| {}).unwrap();
        assert!(report.phases[0].begun_ns >= asked_ns + 20_000_000);
        let ok = |phase: usize| {
            report.phases[phase].operations.iter().map(|one| one.counts.ok).sum::<u64>()
        };
        assert_eq!(rows(&raw.path().join("events.arrows")) as u64, ok(0) + ok(1));
        (ok(0), ok(1))
    });
    assert_eq!(reports.map(|(_, measured)| measured), [2_000, 1_000]);
    assert!(reports[0].0 > 0);
    assert_eq!(reports[1].0, 0);
}

#[test]
fn a_gate_that_ends_the_run_lets_nothing_begin() {
    let raw = tempfile::tempdir().unwrap();
    let plan = plan(Arrival::Closed { clients: 2 }, 1_000);
    let parts = Parts { gate: Some(Box::new(|_| None)), ..parts(&plan, 0) };
    drive(&plan, parts, raw.path(), |_| {}).unwrap();
    assert_eq!(rows(&raw.path().join("events.arrows")), 0);
}

#[test]
fn attempts_that_are_made_again_are_on_disk_with_their_class() {
    let raw = tempfile::tempdir().unwrap();
    let mut plan = plan(Arrival::Closed { clients: 2 }, 1_000);
    (plan.retries_max, plan.phases[0].name) = (1, "only".into());
    plan.phases.truncate(1);
    let failing = |_| Box::new(steady(0, 5)) as Box<dyn Session>;
    let sessions = (0..2).map(failing).collect();
    let parts = Parts { sessions, ..parts(&plan, 0) };
    let report = drive(&plan, parts, raw.path(), |_| {}).unwrap();
    let mut all = OutcomeCounts::default();
    report.phases[0].operations.iter().for_each(|one| all.merge(&one.counts));
    assert_eq!((all.ok, all.failed), (1_000, 0));
    assert!(all.retries >= 248, "every fifth attempt of each session fails: {all:?}");
    let attempts = raw.path().join("attempts.arrows");
    assert_eq!(rows(&attempts) as u64, all.retries);
    let file = std::fs::File::open(&attempts).unwrap();
    for batch in StreamReader::try_new(file, None).unwrap() {
        let batch = batch.unwrap();
        let classes = batch["error"].as_any_dictionary().values().as_string::<i32>();
        assert!(classes.iter().flatten().all(|class| class == "null_failure"), "{classes:?}");
    }
}

#[test]
fn phases_shorter_than_a_tick_are_told_of_with_their_beginning() {
    let raw = tempfile::tempdir().unwrap();
    let mut plan = plan(Arrival::Power, 0);
    let names = ["power-1", "throughput-1", "power-2", "throughput-2"];
    plan.phases = names.map(|name| Phase { name: name.into(), ..plan.phases[0].clone() }).into();
    let mut beginnings: Vec<(String, i64)> = Vec::new();
    let tick = |progress: &assay_drive::Progress| {
        if beginnings.last().is_none_or(|(phase, _)| *phase != progress.phase) {
            beginnings.push((progress.phase.clone(), progress.phase_ns));
        }
    };
    let report = drive(&plan, parts(&plan, 0), raw.path(), tick).unwrap();
    let phases: Vec<&str> = beginnings.iter().map(|(phase, _)| phase.as_str()).collect();
    assert_eq!(phases, names);
    // Of one that nobody has begun yet it is 0, and not all the time since the host was started.
    assert!(beginnings.iter().all(|(_, phase_ns)| *phase_ns < report.phases[0].begun_ns));
}

#[test]
fn cancelling_leaves_a_readable_record() {
    let raw = tempfile::tempdir().unwrap();
    let plan = plan(Arrival::Closed { clients: 2 }, u64::MAX);
    let parts = parts(&plan, 1_000);
    let cancel = parts.cancel.clone();
    let tick = |progress: &assay_drive::Progress| {
        if progress.ended > 100 {
            cancel.cancel();
        }
    };
    let report = drive(&plan, parts, raw.path(), tick).unwrap();
    assert_eq!(report.ended, Ended::Cancelled);
    assert!(rows(&raw.path().join("events.arrows")) > 100);
}

#[test]
fn the_run_deadline_ends_the_run() {
    let raw = tempfile::tempdir().unwrap();
    let mut plan = plan(Arrival::Closed { clients: 1 }, u64::MAX);
    plan.run_deadline_ns = 100_000_000;
    let report = drive(&plan, parts(&plan, 1_000), raw.path(), |_| {}).unwrap();
    assert_eq!(report.ended, Ended::Deadline);
}

#[test]
fn a_record_that_is_there_already_is_not_overwritten() {
    let raw = tempfile::tempdir().unwrap();
    let plan = plan(Arrival::Power, 0);
    drive(&plan, parts(&plan, 0), raw.path(), |_| {}).unwrap();
    let again = drive(&plan, parts(&plan, 0), raw.path(), |_| {});
    let error = again.map(|_| ()).unwrap_err();
    assert!(matches!(error, DriveError::Stream(_)), "{error}");
    assert!(error.to_string().contains("events.arrows: File exists"), "{error}");
}

#[test]
fn a_full_disk_ends_the_run_with_the_file_and_the_reason() {
    let raw = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/dev/full", raw.path().join("events.arrows")).unwrap();
    let plan = plan(Arrival::Power, 0);
    let error = drive(&plan, parts(&plan, 0), raw.path(), |_| {}).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("events.arrows"), "{error}");
}
