"""Keys of a recorded request that do not affect the measurement.

A new option of this kind must be added here. The comparison of two runs and the search for the
earlier run of the same request both use this list.
"""

from __future__ import annotations

# These keys change neither the conditions nor the statements of a run.
INCIDENTAL = ("seed", "undo")
# Keys of the measured time.
DURATION = ("time_s", "min_time_s")
# Keys of the engine, its address and its settings, which a comparison lists one by one.
ENGINE = ("engine", "engine_version", "settings", "durability_settings", "dsn")
