//! Sessions that each play an order by themselves, and share its passes.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt16Type, UInt32Type};
use assay_drive::schedule::passes::Passed;
use assay_drive::{Ended, drive};
use assay_model::{Arrival, Phase, Plan};

use crate::echo::{Echo, parts, parts_of, plan, rows};

/// Sessions that play three operations in order by themselves.
fn in_order(clients: u32, passes: u32) -> Plan {
    let mut plan = plan(Arrival::Closed { clients }, 0, 0);
    plan.operations = ["a", "b", "c"].map(String::from).into();
    let phase = &mut plan.phases[0];
    // The second operation comes twice.
    (phase.operations, phase.in_order, phase.passes_min) = (vec![0, 1, 2, 1], true, passes);
    plan
}

/// An event of a mix.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Played {
    phase: u32,
    pass: u32,
    session: u32,
    operation: u32,
    started_ns: i64,
    finished_ns: i64,
    ok: bool,
}

/// All events, those of a session in the order in which it played them.
fn played(raw: &Path) -> Vec<Played> {
    let mut events = Vec::new();
    rows(&raw.join("events.arrows"), |batch, row| {
        let number = |name: &str| batch[name].as_primitive::<UInt32Type>().value(row);
        let time = |name: &str| batch[name].as_primitive::<Int64Type>().value(row);
        let word = |name: &str| {
            let dictionary = batch[name].as_dictionary::<UInt16Type>();
            let key = dictionary.keys().value(row) as usize;
            dictionary.values().as_string::<i32>().value(key).to_string()
        };
        let place = |names: &[&str], word: &str| names.iter().position(|name| *name == word);
        events.push(Played {
            phase: place(&["warmup", "measured"], &word("phase")).unwrap() as u32,
            pass: number("pass"),
            session: number("session"),
            operation: place(&["a", "b", "c"], &word("operation")).unwrap() as u32,
            started_ns: time("started_ns"),
            finished_ns: time("finished_ns"),
            ok: word("outcome") == "ok",
        });
    });
    events.sort_by_key(|event| event.started_ns);
    events
}

/// For each pass of a phase, in order: the operations that were played, and the sessions that
/// played them.
fn by_pass(events: &[Played], phase: u32) -> Vec<(Vec<u32>, Vec<u32>)> {
    let mine = || events.iter().filter(|event| event.phase == phase);
    let passes = mine().map(|event| event.pass).max().map_or(0, |last| last + 1);
    let of = |pass| {
        let its: Vec<_> = mine().filter(|event| event.pass == pass).collect();
        let mut sessions: Vec<u32> = its.iter().map(|event| event.session).collect();
        sessions.dedup();
        (its.iter().map(|event| event.operation).collect(), sessions)
    };
    (0..passes).map(of).collect()
}

#[test]
fn every_session_plays_the_order_by_itself_and_passes_are_shared() {
    let raw = tempfile::tempdir().unwrap();
    let plan = in_order(5, 200);
    // So long that every session has its turn, however busy the host is.
    let session = |_| Echo::open(usize::MAX, Duration::from_millis(1), true);
    let report = drive(&plan, parts_of((0..5).map(session)), raw.path(), |_| {}).unwrap();
    assert_eq!(report.ended, Ended::Done);
    let events = played(raw.path());
    let passes = by_pass(&events, 1);
    assert_eq!((passes.len(), events.len()), (200, 800));
    for (operations, sessions) in &passes {
        assert_eq!((operations.as_slice(), sessions.len()), ([0, 1, 2, 1].as_slice(), 1));
    }
    for session in 0..5 {
        let mine: Vec<_> = events.iter().filter(|event| event.session == session).collect();
        assert!(mine.len() >= 4, "session {session} played nothing");
        let one_by_one = mine.windows(2).all(|pair| pair[0].finished_ns <= pair[1].started_ns);
        assert!(one_by_one, "session {session}");
    }
}

#[test]
fn a_session_that_has_no_more_passes_leaves_the_others_theirs() {
    let raw = tempfile::tempdir().unwrap();
    // Six sessions for four passes, of two workers; one of them is slow.
    let plan = in_order(6, 4);
    let session = |number| {
        let delay = Duration::from_millis(if number == 0 { 40 } else { 1 });
        Echo::open(usize::MAX, delay, true)
    };
    let report = drive(&plan, parts_of((0..6).map(session)), raw.path(), |_| {}).unwrap();
    assert_eq!(report.ended, Ended::Done);
    let events = played(raw.path());
    let passes = by_pass(&events, 1);
    assert_eq!(passes.len(), 4);
    assert!(passes.iter().all(|(operations, _)| operations == &[0, 1, 2, 1]), "{passes:?}");
}

#[test]
fn a_mix_in_which_operations_fail_is_played_to_its_end() {
    let raw = tempfile::tempdir().unwrap();
    let plan = in_order(3, 30);
    // Every connection is lost after five answers, and made anew.
    let report = drive(&plan, parts(&plan, 5), raw.path(), |_| {}).unwrap();
    assert_eq!(report.ended, Ended::Done);
    let events = played(raw.path());
    let passes = by_pass(&events, 1);
    assert_eq!(passes.len(), 30);
    assert!(passes.iter().all(|(operations, _)| operations == &[0, 1, 2, 1]), "{passes:?}");
    assert!(events.iter().any(|event| !event.ok) && events.iter().any(|event| event.ok));
}

#[test]
fn mixes_of_a_warm_up_are_counted_apart_and_every_pass_is_heard_of() {
    let raw = tempfile::tempdir().unwrap();
    let mut plan = in_order(4, 12);
    plan.phases.insert(0, Phase { name: "warmup".into(), passes_min: 7, ..plan.phases[0].clone() });
    let heard = Arc::new(Mutex::new(Vec::new()));
    let mut parts = parts(&plan, usize::MAX);
    let heard_passes = Arc::clone(&heard);
    parts.listener = Some(Box::new(move |phase: &str, passed: Passed| {
        heard_passes.lock().unwrap().push((phase.to_string(), passed));
        true
    }));
    let report = drive(&plan, parts, raw.path(), |_| {}).unwrap();
    assert_eq!(report.ended, Ended::Done);
    let events = played(raw.path());
    assert_eq!([by_pass(&events, 0).len(), by_pass(&events, 1).len()], [7, 12]);
    let heard = heard.lock().unwrap();
    for (phase, (name, passes)) in [("warmup", 7), ("measured", 12)].into_iter().enumerate() {
        let last_ns = events.iter().filter(|event| event.phase == phase as u32);
        let last_ns = last_ns.map(|event| event.finished_ns).max().unwrap();
        let (_, passed) = heard.iter().rfind(|(heard, _)| heard == name).unwrap();
        assert_eq!(passed.passes, passes, "{name}");
        // It is the moment at which the session was free again.
        assert!(passed.ended_ns >= last_ns, "{name}");
    }
}

#[test]
fn passes_go_on_until_the_listener_says_that_they_are_enough() {
    let raw = tempfile::tempdir().unwrap();
    let mut plan = in_order(4, 10);
    plan.phases[0].passes_max = u32::MAX;
    let mut parts = parts(&plan, usize::MAX);
    let enough = Arc::new(AtomicU64::new(0));
    let said = Arc::clone(&enough);
    parts.listener = Some(Box::new(move |_: &str, passed: Passed| {
        let is_enough = passed.passes >= 50;
        if is_enough {
            let _ = said.compare_exchange(0, passed.passes, Ordering::Relaxed, Ordering::Relaxed);
        }
        is_enough
    }));
    let report = drive(&plan, parts, raw.path(), |_| {}).unwrap();
    assert_eq!(report.ended, Ended::Done);
    let passes = by_pass(&played(raw.path()), 1);
    assert!(passes.len() as u64 >= enough.load(Ordering::Relaxed), "{}", passes.len());
    assert!(passes.iter().all(|(operations, _)| operations == &[0, 1, 2, 1]));
}

#[test]
fn what_was_played_is_known_by_mix_when_the_run_is_stopped_in_the_middle() {
    let raw = tempfile::tempdir().unwrap();
    let plan = in_order(5, u32::MAX);
    let parts = parts(&plan, usize::MAX);
    let cancel = parts.cancel.clone();
    let report = drive(&plan, parts, raw.path(), |progress| {
        if progress.ended > 400 {
            cancel.cancel();
        }
    });
    assert_eq!(report.unwrap().ended, Ended::Cancelled);
    let passes = by_pass(&played(raw.path()), 1);
    let whole = passes.iter().filter(|(operations, _)| operations == &[0, 1, 2, 1]).count();
    // Of each session one mix at most was cut short.
    assert!(whole >= 90 && passes.len() - whole <= 5, "{whole} of {}", passes.len());
    let begun = |operations: &Vec<u32>| [0, 1, 2, 1].starts_with(operations);
    assert!(passes.iter().all(|(operations, _)| begun(operations)), "{passes:?}");
}
