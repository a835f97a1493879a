//! What each probe of this crate costs.

use assay_model::Table;
use assay_record::{COST_ABOUT, COST_COLUMNS};

/// The cost of the system probe.
pub static PROBE_SYSTEM: Table =
    Table { file: "probe-system.arrows", about: COST_ABOUT, columns: COST_COLUMNS };

/// The cost of the processes probe.
pub static PROBE_PROCESSES: Table =
    Table { file: "probe-processes.arrows", about: COST_ABOUT, columns: COST_COLUMNS };

/// The cost of the disks probe.
pub static PROBE_DISKS: Table =
    Table { file: "probe-disks.arrows", about: COST_ABOUT, columns: COST_COLUMNS };

/// The cost of the neighbours probe.
pub static PROBE_NEIGHBOURS: Table =
    Table { file: "probe-neighbours.arrows", about: COST_ABOUT, columns: COST_COLUMNS };

/// The cost of the waits probe.
pub static PROBE_WAITS: Table =
    Table { file: "probe-waits.arrows", about: COST_ABOUT, columns: COST_COLUMNS };
