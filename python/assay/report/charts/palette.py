"""Colours, sizes and units for all charts.

The palette is Okabe and Ito's, which people with colour blindness can tell apart. There are more
kinds of work than colours, so related kinds have tones of one colour, and a label always names the
kind. Colours of an operation's causes of time keep a distance from each other in every kind of
colour blindness, which a test simulates. Time on a CPU is blue; waits have the other colours.
"""

BLUE, SKY, GREEN = "#0072B2", "#56B4E9", "#009E73"
ORANGE, VERMILION, PURPLE, GREY = "#E69F00", "#D55E00", "#CC79A7", "#999999"
# Colours of a study's subjects, in the order of subjects.
SUBJECT_COLOURS = (
    BLUE,
    ORANGE,
    GREEN,
    PURPLE,
    SKY,
    VERMILION,
    "#8c6d4f",
    "#5fb8b2",
    "#c9b500",
    "#a0447c",
)

WIDTH = 680
BYTE_UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B"))

CAUSE_COLOURS = {
    "cpu_user": BLUE,
    "cpu_system": SKY,
    "run_queue": ORANGE,
    "throttled": "#c6986e",
    "stolen": "#f2e575",
    "disk_read": VERMILION,
    "disk_write": "#7c0d0a",
    "disk": "#cc6b3c",
    "log": "#5705fb",
    "lock": "#8e587f",
    "latch": "#6613b4",
    "client": "#10683b",
    "workers": "#b9e5b2",
    "idle": "#e4e5eb",
    "paused": "#3a3c40",
    "uncovered": "#b4bac2",
}
# Colours of a run's kinds of work on a CPU, largest first, and of all other kinds together.
LARGEST_WORK_COLOURS = (BLUE, "#29396f", "#44b9a4", "#288fee")
OTHER_WORK_COLOUR = "#97a8d3"

SEVERAL_KINDS = "several kinds"
ARTEFACT = "artefact"
WORK_COLOURS = {
    "scan": BLUE,
    "decode": SKY,
    "filter": "#8fd0f5",
    "index look-up": "#3d7fd9",
    "hash build": ORANGE,
    "hash probe": VERMILION,
    "join filter": "#f2b880",
    "join": "#b5651d",
    "aggregate": GREEN,
    "sort": "#7fcf9f",
    "window": "#4f9d76",
    "result": "#a8dcc3",
    "expression": "#e8d94a",
    "string match": "#c9b500",
    "exchange": PURPLE,
    "scheduling": "#e3b3cb",
    "locking": "#a0447c",
    "transaction": "#c76a9b",
    "buffer manager": "#7a6fc0",
    "memory": "#b3aadf",
    "log": "#8c6d4f",
    "maintenance": "#b59a7c",
    "optimiser/parse": "#5fb8b2",
    "catalogue": "#9fd6d2",
    "network/protocol": "#c58f62",
    "kernel I/O": "#8a5a5a",
    "kernel memory": "#c49a9a",
    "idle": "#d9dde2",
    "driver": "#6d7885",
    "unclassified": "#aab2bd",
    ARTEFACT: "#e6e6e6",
    SEVERAL_KINDS: "#c9d0d9",
}
MORE_COLOURS = ("#4c9f9f", "#b8860b", "#8fae5d", "#9c7bb5", "#cf8a8a")


def work_colour(work: str) -> str:
    """Return the colour of a kind of work; unknown kinds share a fixed colour."""
    return WORK_COLOURS.get(work) or MORE_COLOURS[sum(work.encode()) % len(MORE_COLOURS)]
