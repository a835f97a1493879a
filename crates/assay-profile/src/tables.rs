//! The streams of a profile. Stacks are a tree: a sample names its innermost node, each node the
//! node that called it.

use assay_model::{Column, Kind, Table};

/// One row a sample.
pub static SAMPLES: Table = Table {
    file: "samples.arrows",
    about: "a moment at which a thread of the engine was on a CPU",
    columns: &[
        Column::needed("time_ns", Kind::Int64, "when"),
        Column::needed("pid", Kind::UInt32, "process"),
        Column::needed("tid", Kind::UInt32, "thread"),
        Column::needed("cpu", Kind::UInt32, "processor"),
        Column::needed("stack", Kind::UInt32, "innermost node of its stack"),
    ],
};

/// One row a node of the tree of stacks, before the first sample that needs it.
pub static STACKS: Table = Table {
    file: "stacks.arrows",
    about: "a frame in the context of those that called it",
    columns: &[
        Column::needed("stack", Kind::UInt32, "number of the node"),
        Column::optional("parent", Kind::UInt32, "node of the caller; null for the outermost"),
        Column::needed("frame", Kind::UInt32, "which place in the code"),
    ],
};

/// One row a place in the code.
pub static FRAMES: Table = Table {
    file: "frames.arrows",
    about: "a place in the code, where it was executing or was to return to",
    columns: &[
        Column::needed("frame", Kind::UInt32, "number of the frame"),
        Column::optional("module", Kind::UInt32, "which file; null: no file was mapped there"),
        Column::needed(
            "address",
            Kind::UInt64,
            "address as the file gives it; of a caller, of its call",
        ),
    ],
};

/// One row a file with code.
pub static MODULES: Table = Table {
    file: "modules.arrows",
    about: "a file with code that was sampled",
    columns: &[
        Column::needed("module", Kind::UInt32, "number of the module"),
        Column::needed(
            "path",
            Kind::Text,
            "file; [kernel], [vdso], [jit PID], [unwinding] for what is none",
        ),
        Column::optional("build_id", Kind::Text, "its build id, in hexadecimal"),
    ],
};

/// One row a frame, written when sampling ends.
pub static SYMBOLS: Table = Table {
    file: "symbols.arrows",
    about: "the function that a frame is in",
    columns: &[
        Column::needed("frame", Kind::UInt32, "number of the frame"),
        Column::optional(
            "name",
            Kind::Text,
            "the function, demangled; null: no symbol covers the address",
        ),
        Column::needed("kind", Kind::Word, "where the name or the bounds are from"),
        Column::optional(
            "start",
            Kind::UInt64,
            "first address of the function, as the file gives it",
        ),
        Column::optional("size_bytes", Kind::UInt64, "length of the function"),
    ],
};

/// One row a thread that was seen, again when it took another name.
pub static THREADS: Table = Table {
    file: "threads.arrows",
    about: "a thread that was sampled, and what it calls itself",
    columns: &[
        Column::needed("time_ns", Kind::Int64, "since when"),
        Column::needed("pid", Kind::UInt32, "process"),
        Column::needed("tid", Kind::UInt32, "thread"),
        Column::needed("name", Kind::Text, "its name"),
    ],
};

/// What sampling lost, once a second.
pub static PROFILE: Table = Table {
    file: "profile.arrows",
    about: "what sampling took and lost so far",
    columns: &[
        Column::needed("time_ns", Kind::Int64, "when"),
        Column::needed("samples", Kind::UInt64, "samples taken"),
        Column::needed("elsewhere", Kind::UInt64, "samples of other processes, thrown away"),
        Column::needed("lost", Kind::UInt64, "samples that found no room"),
        Column::needed("throttled", Kind::UInt64, "times that the kernel paused sampling"),
        Column::needed("cut", Kind::UInt64, "stacks deeper than what was copied of them"),
        Column::needed(
            "broken",
            Kind::UInt64,
            "stacks whose unwinding ended at a place without rules",
        ),
    ],
};

/// The streams of a profile, but for its cost.
pub static TABLES: [&Table; 7] =
    [&SAMPLES, &STACKS, &FRAMES, &MODULES, &SYMBOLS, &THREADS, &PROFILE];
