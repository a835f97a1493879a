//! Every parser reads its corpus, and inputs made of it by changes.

use std::time::{Duration, Instant};

use assay_fuzz::mutation::{Numbers, changed};
use assay_fuzz::{TARGETS, Target};

/// Changed inputs of each target, or as many as `ASSAY_FUZZ_CASES` says.
const CASES: usize = 1000;
/// Whatever the input, and however busy the host, a parser has answered by then.
const ANSWERED_WITHIN: Duration = Duration::from_secs(10);

fn cases() -> usize {
    let asked = std::env::var("ASSAY_FUZZ_CASES").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(CASES)
}

/// Has a target read an input; says which input it was if that fails.
fn execute(target: &Target, name: &str, input: &[u8]) {
    let begun = Instant::now();
    let shown = std::panic::catch_unwind(|| target.execute(input));
    assert!(
        shown.is_ok() && begun.elapsed() < ANSWERED_WITHIN,
        "{} on {name} after {:?}: {:?}",
        target.name,
        begun.elapsed(),
        String::from_utf8_lossy(input)
    );
}

/// Parsers that need a server at the other end of a line execute a twentieth of the cases.
fn cases_of(target: &Target) -> usize {
    if target.is_session { cases().div_ceil(20) } else { cases() }
}

fn run(wanted: impl Fn(&Target) -> bool) {
    for target in TARGETS.iter().filter(|target| wanted(target)) {
        let stored = target.corpus().unwrap();
        assert!(!stored.is_empty(), "{} has a corpus", target.name);
        for (name, input) in &stored {
            execute(target, name, input);
        }
        let inputs: Vec<Vec<u8>> = stored.into_iter().map(|(_, input)| input).collect();
        let mut numbers = Numbers::new(inputs.len() as u64);
        for case in 0..cases_of(target) {
            let input = changed(&inputs, &mut numbers, target.bytes_max);
            execute(target, &format!("changed input {case}"), &input);
        }
    }
}

#[test]
fn parsers_of_the_kernels_files_and_of_programs_read_their_corpus() {
    run(|target| !target.is_session && target.crate_name != "assay-drive");
}

#[test]
fn parsers_of_protocols_read_their_corpus() {
    run(|target| !target.is_session && target.crate_name == "assay-drive");
}

#[test]
fn sessions_read_their_corpus() {
    run(|target| target.is_session);
}
