//! `system.arrows` and `cpus.arrows`.

use assay_model::{Column, Kind, Table};

/// The whole host at a moment.
pub static SYSTEM: Table = Table {
    file: "system.arrows",
    about: "One row a sample: counters since boot and gauges of the whole host.",
    columns: &[
        Column::needed("time_ns", Kind::Int64, "when the sample was begun, CLOCK_MONOTONIC"),
        Column::optional("context_switches", Kind::UInt64, "switches between tasks"),
        Column::optional("tasks_created", Kind::UInt64, "processes and threads created"),
        Column::optional("procs_running", Kind::UInt64, "runnable tasks (a gauge)"),
        Column::optional("procs_blocked", Kind::UInt64, "tasks waiting for a device (a gauge)"),
        Column::optional(
            "cpu_some_ns",
            Kind::UInt64,
            "time in which at least one task waited for a CPU",
        ),
        Column::optional(
            "cpu_full_ns",
            Kind::UInt64,
            "time in which all tasks waited for a CPU; always zero on the whole host",
        ),
        Column::optional(
            "io_some_ns",
            Kind::UInt64,
            "time in which at least one task was stalled by I/O",
        ),
        Column::optional(
            "io_full_ns",
            Kind::UInt64,
            "time in which all tasks that were not idle were stalled by I/O",
        ),
        Column::optional(
            "memory_some_ns",
            Kind::UInt64,
            "time in which at least one task was stalled for want of memory",
        ),
        Column::optional(
            "memory_full_ns",
            Kind::UInt64,
            "time in which all tasks that were not idle were stalled for want of memory",
        ),
        Column::optional(
            "memory_total_bytes",
            Kind::UInt64,
            "memory that the kernel manages (a gauge)",
        ),
        Column::optional("memory_free_bytes", Kind::UInt64, "memory used for nothing (a gauge)"),
        Column::optional(
            "memory_available_bytes",
            Kind::UInt64,
            "the kernel's estimate of what programs could take without swapping (a gauge)",
        ),
        Column::optional("buffers_bytes", Kind::UInt64, "page cache of block devices (a gauge)"),
        Column::optional(
            "cached_bytes",
            Kind::UInt64,
            "page cache of files, shared memory included (a gauge)",
        ),
        Column::optional(
            "dirty_bytes",
            Kind::UInt64,
            "page cache that waits to be written (a gauge)",
        ),
        Column::optional(
            "writeback_bytes",
            Kind::UInt64,
            "page cache that is being written (a gauge)",
        ),
        Column::optional(
            "anon_bytes",
            Kind::UInt64,
            "memory of programs that no file backs (a gauge)",
        ),
        Column::optional("mapped_bytes", Kind::UInt64, "page cache mapped into programs (a gauge)"),
        Column::optional("shmem_bytes", Kind::UInt64, "shared memory and tmpfs (a gauge)"),
        Column::optional("slab_bytes", Kind::UInt64, "the kernel's own data structures (a gauge)"),
        Column::optional(
            "slab_reclaimable_bytes",
            Kind::UInt64,
            "the part of them that can be freed (a gauge)",
        ),
        Column::optional("page_tables_bytes", Kind::UInt64, "page tables (a gauge)"),
        Column::optional("committed_bytes", Kind::UInt64, "memory promised to programs (a gauge)"),
        Column::optional(
            "hugetlb_bytes",
            Kind::UInt64,
            "memory set aside as huge pages of all sizes (a gauge)",
        ),
        Column::optional("swap_total_bytes", Kind::UInt64, "swap space (a gauge)"),
        Column::optional("swap_free_bytes", Kind::UInt64, "swap space not used (a gauge)"),
        Column::optional(
            "swap_cached_bytes",
            Kind::UInt64,
            "memory that is also in swap space (a gauge)",
        ),
        Column::optional("pgpgin_bytes", Kind::UInt64, "bytes read from block devices"),
        Column::optional("pgpgout_bytes", Kind::UInt64, "bytes written to block devices"),
        Column::optional("pswpin_pages", Kind::UInt64, "pages brought in from swap"),
        Column::optional("pswpout_pages", Kind::UInt64, "pages put out to swap"),
        Column::optional("pgfault", Kind::UInt64, "page faults, minor and major"),
        Column::optional("pgmajfault", Kind::UInt64, "page faults that read from storage"),
        Column::optional(
            "workingset_refault_file_pages",
            Kind::UInt64,
            "file pages read again after they were evicted: the cache is too small",
        ),
        Column::optional(
            "workingset_refault_anon_pages",
            Kind::UInt64,
            "anonymous pages brought back after they were evicted",
        ),
        Column::optional("nr_dirty_pages", Kind::UInt64, "pages that wait to be written (a gauge)"),
        Column::optional(
            "nr_writeback_pages",
            Kind::UInt64,
            "pages that are being written (a gauge)",
        ),
        Column::optional("nr_dirtied_pages", Kind::UInt64, "pages made dirty"),
        Column::optional("nr_written_pages", Kind::UInt64, "pages written back"),
        Column::optional(
            "pgscan_kswapd_pages",
            Kind::UInt64,
            "pages looked at for reclaim in the background",
        ),
        Column::optional(
            "pgscan_direct_pages",
            Kind::UInt64,
            "pages looked at for reclaim by tasks that needed memory",
        ),
        Column::optional("pgsteal_kswapd_pages", Kind::UInt64, "pages reclaimed in the background"),
        Column::optional(
            "pgsteal_direct_pages",
            Kind::UInt64,
            "pages reclaimed by tasks that needed memory",
        ),
        Column::optional("oom_kill", Kind::UInt64, "processes killed for want of memory"),
    ],
};

/// Where each CPU's time went.
pub static CPUS: Table = Table {
    file: "cpus.arrows",
    about: "One row an online CPU a sample: its time since boot; user, nice, system, idle, iowait, irq, softirq and steal add up to all of it.",
    columns: &[
        Column::needed("time_ns", Kind::Int64, "when the sample was begun, CLOCK_MONOTONIC"),
        Column::needed("cpu", Kind::UInt32, "the CPU"),
        Column::needed("user_ns", Kind::UInt64, "in user mode, guest_ns included"),
        Column::needed(
            "nice_ns",
            Kind::UInt64,
            "in user mode at low priority, guest_nice_ns included",
        ),
        Column::needed("system_ns", Kind::UInt64, "in the kernel"),
        Column::needed("idle_ns", Kind::UInt64, "idle"),
        Column::optional(
            "iowait_ns",
            Kind::UInt64,
            "idle while a task that last ran here waited for I/O; may go backwards",
        ),
        Column::optional("irq_ns", Kind::UInt64, "in interrupts"),
        Column::optional("softirq_ns", Kind::UInt64, "in deferred interrupt work"),
        Column::optional(
            "steal_ns",
            Kind::UInt64,
            "wanted by this virtual machine, used by others on its host",
        ),
        Column::optional("guest_ns", Kind::UInt64, "running virtual machines"),
        Column::optional("guest_nice_ns", Kind::UInt64, "running virtual machines at low priority"),
    ],
};
