//! libFuzzer on one target, which the variable `ASSAY_FUZZ_TARGET` names.
#![no_main]

use std::sync::OnceLock;

use assay_fuzz::{TARGETS, Target};

static TARGET: OnceLock<&Target> = OnceLock::new();

fn named() -> &'static Target {
    let name = std::env::var("ASSAY_FUZZ_TARGET").unwrap_or_default();
    let target = TARGETS.iter().find(|target| target.name == name);
    target.unwrap_or_else(|| {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        panic!("ASSAY_FUZZ_TARGET is {name:?}: set it to one of {}", names.join(", "))
    })
}

libfuzzer_sys::fuzz_target!(|input: &[u8]| TARGET.get_or_init(named).execute(input));
