//! Our own process by `getrusage`.

use assay_model::TaskCounters;
use nix::sys::resource::Usage;
use nix::sys::time::TimeVal;

/// Takes over what `getrusage` counts.
pub(crate) fn fill_usage(counters: &mut TaskCounters, usage: &Usage) {
    counters.user_ns = nanoseconds(usage.user_time());
    counters.system_ns = nanoseconds(usage.system_time());
    counters.minor_faults = u64::try_from(usage.minor_page_faults()).ok();
    counters.major_faults = u64::try_from(usage.major_page_faults()).ok();
    counters.voluntary_switches = u64::try_from(usage.voluntary_context_switches()).ok();
    counters.involuntary_switches = u64::try_from(usage.involuntary_context_switches()).ok();
}

fn nanoseconds(time: TimeVal) -> Option<u64> {
    let microseconds = time.tv_sec().checked_mul(1_000_000)?.checked_add(time.tv_usec())?;
    u64::try_from(microseconds).ok()?.checked_mul(1_000)
}
