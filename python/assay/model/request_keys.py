"""Keys of a recorded request that are no setting of the measurement.

Whoever adds such an option to a request names it here, once: comparing two runs and finding the
earlier run of the same request both read it.
"""

from __future__ import annotations

# They change neither the conditions nor the statements.
INCIDENTAL = ("seed", "undo")
# How long is measured.
DURATION = ("time_s", "min_time_s")
# The engine, how it is reached, and its settings, which a comparison lists one by one.
ENGINE = ("engine", "engine_version", "settings", "durability_settings", "dsn")
