"""Columns of the streams that Python's probes write; `Stream` of the core writes them.

The core writes, because importing an Arrow library takes a fifth of a second of CPU time and tens
of megabytes beside the measured engine.
"""

from __future__ import annotations

from assay._core import Stream, write_no_events

__all__ = [
    "ACTIVITY",
    "BLOCKERS",
    "COST",
    "ENGINE",
    "ENGINE_OPERATIONS",
    "ENGINE_STATUS",
    "LOOKS",
    "MIXES",
    "OTHER_WORK",
    "STATEMENT_COUNTS",
    "Stream",
    "write_no_events",
]

TIME, COUNT, NUMBER, FIGURE = "int64", "uint64", "uint32", "float64"
WORD = "text, large dictionary"
NEEDED_ROW = [("source", WORD), ("object", WORD), ("counter", WORD), ("value", FIGURE)]


def _columns(
    needed: list[tuple[str, str]], optional: list[tuple[str, str]] | None = None
) -> list[tuple[str, str, bool]]:
    """Return columns as (name, kind, nullable)."""
    always = [(name, kind, False) for name, kind in needed]
    return always + [(name, kind, True) for name, kind in optional or []]


ENGINE = _columns([("time_ns", TIME), *NEEDED_ROW])
ENGINE_OPERATIONS = _columns([("sequence", COUNT), ("edge", WORD), ("time_ns", TIME), *NEEDED_ROW])
ENGINE_STATUS = _columns([("edge", WORD), ("time_ns", TIME), *NEEDED_ROW])
ACTIVITY = _columns(
    [("time_ns", TIME), ("pid", NUMBER)],
    [
        # Servers hide it from users without the right to see other sessions.
        ("backend_type", WORD),
        ("leader_pid", NUMBER),
        ("application", WORD),
        ("state", WORD),
        ("wait_event_type", WORD),
        ("wait_event", WORD),
        ("tid", NUMBER),
        ("connection", NUMBER),
    ],
)
BLOCKERS = _columns(
    [("time_ns", TIME), ("waiting", NUMBER), ("blocker", NUMBER)],
    [
        ("application", WORD),
        ("state", WORD),
        ("transaction_s", FIGURE),
        ("statement", WORD),
        ("object", WORD),
        ("mode", WORD),
        ("waiting_statement", WORD),
    ],
)
OTHER_WORK = _columns(
    [("time_ns", TIME), ("session", NUMBER), ("work", WORD)],
    [
        ("application", WORD),
        ("state", WORD),
        ("transaction_s", FIGURE),
        ("behind", FIGURE),
        ("object", WORD),
        ("statement", WORD),
    ],
)
# A row without a session stands for the sample itself, even if no session was working.
LOOKS = _columns(
    [("time_ns", TIME)],
    [
        ("session", NUMBER),
        ("statement", WORD),
        ("leader", NUMBER),
        ("tid", NUMBER),
        ("application", WORD),
        ("database", WORD),
        ("wait_kind", WORD),
        ("wait_event", WORD),
        ("seconds", FIGURE),
    ],
)
STATEMENT_COUNTS = _columns(
    [("time_ns", TIME), ("statement", WORD), ("counter", WORD), ("value", FIGURE)]
)
MIXES = _columns(
    [("phase", WORD), ("mixes", COUNT), ("time_ns", TIME)],
    [("asked_bytes", COUNT), ("fetched_bytes", COUNT)],
)
COST = _columns(
    [
        ("time_ns", TIME),
        ("probe", WORD),
        ("cpu_ns", COUNT),
        ("samples", COUNT),
        ("longest_ns", COUNT),
    ]
)
