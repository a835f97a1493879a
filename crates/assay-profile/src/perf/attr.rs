//! What is asked of the kernel, as a value.

use perf_event_open_sys::bindings as sys;

/// How the stack of a sample is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stacks {
    /// So many bytes of the stack are copied and unwound by us.
    Copies(u32),
    /// The kernel follows frame pointers.
    FramePointers,
}

/// One event to open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attr {
    /// How often a second of CPU time, by the kernel's timer that runs while the processor is busy.
    /// The processor's own counter of cycles would fire as often by trying, and samples that stand
    /// for different times cannot be counted.
    pub frequency_hz: u32,
    /// How stacks are taken.
    pub stacks: Stacks,
    /// Whether time in the kernel is sampled, too.
    pub kernel: bool,
    /// Whether it goes on to threads that are born later.
    pub inherit: bool,
}

#[cfg(target_arch = "x86_64")]
const USER_REGISTERS: u64 = 1 << 6 | 1 << 7 | 1 << 8; // BP, SP, IP: asm/perf_regs.h
#[cfg(target_arch = "aarch64")]
const USER_REGISTERS: u64 = 1 << 29 | 1 << 30 | 1 << 31 | 1 << 32; // X29, LR, SP, PC

/// How many of them.
pub const USER_REGISTER_COUNT: usize = USER_REGISTERS.count_ones() as usize;

const NS_PER_S: u64 = 1_000_000_000;

/// The attribute of a tracepoint: its time and its own fields, each time that it is passed.
pub fn tracepoint(id: u64) -> sys::perf_event_attr {
    let mut attr = sys::perf_event_attr {
        type_: sys::PERF_TYPE_TRACEPOINT,
        size: size_of::<sys::perf_event_attr>() as u32,
        config: id,
        read_format: u64::from(sys::PERF_FORMAT_LOST),
        sample_type: u64::from(sys::PERF_SAMPLE_TID | sys::PERF_SAMPLE_TIME | sys::PERF_SAMPLE_RAW),
        clockid: libc::CLOCK_MONOTONIC,
        ..sys::perf_event_attr::default()
    };
    attr.__bindgen_anon_1.sample_period = 1;
    // Whoever reads looks by itself: nobody is to be woken within the path of a request.
    attr.__bindgen_anon_2.wakeup_watermark = u32::MAX;
    attr.set_watermark(1);
    attr.set_disabled(1);
    attr.set_use_clockid(1);
    attr
}

impl Attr {
    /// The kernel's own structure.
    pub fn to_sys(self) -> sys::perf_event_attr {
        let mut attr = sys::perf_event_attr {
            type_: sys::PERF_TYPE_SOFTWARE,
            config: u64::from(sys::PERF_COUNT_SW_CPU_CLOCK),
            size: size_of::<sys::perf_event_attr>() as u32,
            read_format: u64::from(sys::PERF_FORMAT_LOST),
            sample_type: u64::from(
                sys::PERF_SAMPLE_IP
                    | sys::PERF_SAMPLE_TID
                    | sys::PERF_SAMPLE_TIME
                    | sys::PERF_SAMPLE_CPU
                    | sys::PERF_SAMPLE_CALLCHAIN,
            ),
            clockid: libc::CLOCK_MONOTONIC,
            ..sys::perf_event_attr::default()
        };
        // A period in nanoseconds: each sample stands for exactly as much time.
        attr.__bindgen_anon_1.sample_period = NS_PER_S / u64::from(self.frequency_hz);
        if let Stacks::Copies(bytes) = self.stacks {
            attr.sample_type |= u64::from(sys::PERF_SAMPLE_REGS_USER | sys::PERF_SAMPLE_STACK_USER);
            attr.sample_regs_user = USER_REGISTERS;
            attr.sample_stack_user = bytes;
            attr.set_exclude_callchain_user(1);
        }
        attr.set_disabled(1);
        attr.set_inherit(u64::from(self.inherit));
        attr.set_exclude_kernel(u64::from(!self.kernel));
        attr.set_exclude_hv(1);
        attr.set_exclude_idle(1);
        attr.set_mmap(1);
        attr.set_mmap2(1);
        attr.set_comm(1);
        attr.set_comm_exec(1);
        attr.set_task(1);
        attr.set_sample_id_all(1);
        attr.set_use_clockid(1);
        attr
    }
}
