"""Keys of a recorded request that do not affect the measurement.

A new option of this kind must be added here. The comparison of two runs and the search for the
earlier run of the same request both use this list.
"""

from __future__ import annotations

# They change neither the conditions nor the statements.
INCIDENTAL = ("seed", "undo")
# How long is measured.
DURATION = ("time_s", "min_time_s")
# The engine, how it is reached, and its settings, which a comparison lists one by one.
ENGINE = ("engine", "engine_version", "settings", "durability_settings", "dsn")
