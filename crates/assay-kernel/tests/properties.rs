//! Parsers are total: whatever the bytes, they answer and do not panic. Numbers survive printing.

use std::path::Path;

use assay_kernel::Units;
use assay_kernel::parse::cgroup::{Hierarchy, Throttling, group, has_quota, mount};
use assay_kernel::parse::{
    Disk, Io, Memory, Pressure, ProcessStat, SchedStat, SmapsRollup, Statm, Status, SystemCall,
    SystemStat, VmStat,
};
use proptest::collection::vec;
use proptest::prelude::*;

const UNITS: Units = Units { tick_ns: 10_000_000, page_bytes: 4096 };

fn path() -> &'static Path {
    Path::new("any")
}

/// All parsers on one text; what they answer does not matter here.
fn parse_all(text: &[u8]) {
    let _ = SystemStat::parse(path(), text, &UNITS);
    let _ = Memory::parse(path(), text);
    let _ = VmStat::parse(path(), text);
    let _ = Pressure::parse(path(), text);
    let _ = Disk::parse_all(path(), text);
    let _ = ProcessStat::parse(path(), text, &UNITS);
    let _ = SchedStat::parse(path(), text);
    let _ = Statm::parse(path(), text, &UNITS);
    let _ = Io::parse(path(), text);
    let _ = Status::parse(path(), text);
    let _ = SmapsRollup::parse(path(), text);
    let _ = SystemCall::parse(path(), text);
    let _ = Throttling::parse(path(), text);
    let _ = has_quota(text);
    for hierarchy in [Hierarchy::Cpu, Hierarchy::Unified] {
        let _ = (group(text, hierarchy), mount(text, hierarchy));
    }
}

/// Words as the kernel's files have them, so that more than the first check is reached.
fn kernel_word() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        any::<u64>().prop_map(|number| number.to_string().into_bytes()),
        vec(any::<u8>(), 0..6),
        prop::sample::select(vec![
            "cpu0",
            "ctxt",
            "MemTotal:",
            "kB",
            "pgpgin",
            "some",
            "full",
            "total=",
            "total=7",
            "(",
            ")",
            "1 (a) S",
            "\n",
            "-1",
            "read_bytes:",
            "VmRSS:",
            "Pss:",
            "loop0",
            "-",
            "cgroup2",
            "rw,cpu",
            "1:cpu:/a",
            "0::/",
            "running",
            "202",
            "0x7f",
            "nr_periods",
            "throttled_usec",
            "R",
        ])
        .prop_map(|word| word.as_bytes().to_vec()),
    ]
}

proptest! {
    #[test]
    fn arbitrary_bytes_do_not_panic(text in vec(any::<u8>(), 0..512)) {
        parse_all(&text);
    }

    #[test]
    fn shuffled_kernel_words_do_not_panic(words in vec(kernel_word(), 0..60)) {
        parse_all(&words.join(&b' '));
    }

    #[test]
    fn scheduler_numbers_survive_printing(on_cpu: u64, delay: u64, slices: u64) {
        let text = format!("{on_cpu} {delay} {slices}\n");
        let stat = SchedStat::parse(path(), text.as_bytes()).unwrap();
        prop_assert_eq!((stat.on_cpu_ns, stat.run_delay_ns, stat.timeslices), (on_cpu, delay, slices));
    }

    #[test]
    fn an_address_survives_printing(address: u64, operation: u32) {
        let text = format!("455 {address:#x} {operation:#x} 0x0 0x0 0x0 0x0 0x7ffe 0x7f4d\n");
        let call = SystemCall::parse(path(), text.as_bytes()).unwrap().unwrap();
        prop_assert_eq!((call.number, call.address), (455, Some(address)));
    }

    #[test]
    fn a_number_either_survives_or_is_an_error(kibibytes: u64) {
        let text = format!("MemFree: {kibibytes} kB\n");
        let parsed = Memory::parse(path(), text.as_bytes());
        prop_assert_eq!(parsed.ok().and_then(|memory| memory.free_bytes), kibibytes.checked_mul(1024));
    }

    #[test]
    fn any_name_of_a_process_is_kept(name in "[^\u{0}]{0,15}", ppid: u32, ticks in 0_u64..1 << 40) {
        let text = format!(
            "7 ({name}) S {ppid} 7 7 0 -1 0 1 0 2 0 {ticks} 3 0 0 20 0 4 0 5 0 6"
        );
        let stat = ProcessStat::parse(path(), text.as_bytes(), &UNITS).unwrap();
        prop_assert_eq!(stat.comm, name);
        prop_assert_eq!((stat.ppid, stat.user_ns), (ppid, ticks * UNITS.tick_ns));
        prop_assert_eq!((stat.threads, stat.block_delay_ns), (4, None));
    }
}
