"""Describes how a run was measured, for its report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.units import rate_text, seconds_text
from assay.report.sections.finding_methods import known_methods
from assay.report.words.changes import changes_paragraph
from assay.report.words.order import order_sentences
from assay.report.words.state import state_sentence
from assay.report.words.writes import writes_sentences

if TYPE_CHECKING:
    from assay.analysis.host.timeline import Timeline
    from assay.report.documents.run import RunDocument

MEASURED_WORDS = (
    "The timed passes repeat the same operations in the same order, one at a time, until"
    " {min_time} were measured. An operation's time is its median over the passes, counted from"
    " sending the statement to holding its last row; the total is the sum of the medians, and"
    " the geometric mean is over the medians."
)
TEST_WORDS = (
    "A power test plays the queries of stream 0 in one session, between the two refresh functions"
    " where there are any; a throughput test plays each stream in a session of its own, and the"
    " refresh functions in one more. A query's interval goes from its submission to that of the"
    " next one of its session, the last one's to its last row; a refresh function's to its last"
    " commit. What each counts as, and the metrics, are as the specification has them: raised to a"
    " thousandth of the longest and rounded to 0.01 s in a power test, the elapsed time of a"
    " throughput test rounded up. Figures of operations are of the power tests."
)
STEADY_WORDS = (
    "The power order is played until its last three passes are alike: the longest is at most 5 %"
    " longer than the shortest. The steady figure is of each query's median over these three; the"
    " first pass stands beside it."
)
SPLIT_WORDS = (
    "Where the time went: counters of the engine's threads are read just outside each timed"
    " interval, and samples of each thread show what it slept for. Together they give"
    " thread-seconds"
    " by cause: on a CPU, ready and kept from one, asleep for a disk, a lock, the client, other"
    " workers. They are scaled to the operation's time. Time that no source accounts for is a "
    "separate part."
)
COVERAGE_WORDS = (
    "The accounted share of an operation's thread time is shown before that scaling. The "
    "sources are independent, so the distance from 100 % shows the possible error of the "
    "split. Cores are CPU seconds a second."
)
CLOSED_WORDS = (
    "A closed load: {clients} clients, each of which issued its next operation, drawn from the "
    "mix, when its previous operation had ended. A stall of the engine also stops the load, so "
    "the latencies of a closed load do not include waits of other clients."
)
OPEN_WORDS = (
    "An open load: {rate} became due by the clock, whether or not one of the {{clients}} clients"
    " was free. Latency counts from when an operation was due, so it includes the queueing "
    "that a stall causes for later operations."
)
RECORDED_WORDS = (
    "An open load: each execution became due when it was captured, {speed}with the values that it"
    " had, whether or not one of the {clients} clients was free: {rate} in the mean. Latency counts"
    " from when an operation was due, so it includes the queueing that a stall causes for "
    "later operations."
)
POOLED_WORDS = (
    "A connection pooler is between the driver and the server, and any of its connections may "
    "serve a transaction. So Assay uses no named prepared statements, every latency includes "
    "the pooler's time, and waits of a session are known only if its operations can be found "
    "in the server."
)
OBSERVED_WORDS = (
    "Assay sent no load and observed the statements of other clients. A statement's time is "
    "the growth of the server's counter during the observation. Samples of its"
    " sessions at even intervals show what the server does not count, such as commits and"
    " statements that have not"
    " ended: where counters and samples differ by more than three standard errors, samples "
    "determine the time. Waits of sessions come from their wait events in the samples; the "
    "other time is divided by the CPU time of their processes."
)
PERCENTILE_WORDS = (
    "Percentiles are exact and by nearest rank, over the operations that succeeded: the smallest"
    " time that at least that share of them did not exceed."
)
WHERE_WORDS = (
    "split by the activity of its threads. Striped parts are time that no source accounts for; "
    "the column at the right shows the accounted share before scaling. Point at a bar for its "
    "figures."
)
WHERE_HEADING = "Where the time went"
PASSES_ABOUT = (
    "passes",
    "Spread of the passes",
    (
        "Each execution around its operation's median. Dots of one shade far from the middle "
        "in many rows indicate a disturbance during that pass."
    ),
)
LOAD_ABOUT = (
    (
        "throughput",
        "Throughput",
        "Operations completed per second; operations that were never started, by their due time.",
    ),
    (
        "latency",
        "Latency over time",
        "Median, 99th percentile and longest of the operations that ended in each interval.",
    ),
    (
        "heat",
        "Where latencies lie",
        (
            "Each cell is an interval of time and of latency, coloured by how many operations fell"
            " into it. Two bands indicate a fast and a slow path; a slope indicates a queue."
        ),
    ),
    (
        "percentiles",
        "The tail",
        (
            "Latency by the share of operations that were as fast or faster: each mark to the "
            "right leaves a tenth of the slower operations. The curve ends at the longest "
            "latency."
        ),
    ),
)
BACKLOG_ABOUT = (
    "backlog",
    "Backlog",
    (
        "Operations that were due and not started yet. If the backlog grows during the run, "
        "the engine did not hold the rate, and all percentiles depend on the length of the run."
    ),
)
TEST_ABOUT = (
    (
        "streams",
        "Streams of the throughput test",
        (
            "Each stream's queries one after another, the refresh functions below. The test "
            "ends with the slowest stream, so time saved in other streams does not count."
        ),
    ),
    (
        "intervals",
        "Intervals",
        (
            "Each operation in the power test of each run, and its mean beside other streams. "
            "The axis is logarithmic like the power metric: equal distances have equal weight."
        ),
    ),
)
COUNTERS_CHART_ABOUT = (
    "The first counters of the engine's declaration that changed: rates between two readings "
    "for counters, values for gauges."
)
CLUSTER_CHART_ABOUT = (
    "Busy cores of nodes on this host, from kernel counters between two samples; other series "
    "come from the engine's counters between two readings."
)
COUNTERS_WORDS = (
    "A separate connection reads the engine's own counters, which include the work of that "
    "connection."
    " Totals are from the last reading before the measured part to the first after it."
)
PROFILE_WORDS = (
    "CPU samples: the kernel interrupts each thread of the engine that is on a CPU at a fixed rate"
    " of its CPU time and keeps its stack. A sample belongs to the operation that was running, "
    "and to a kind of work by rules for function names; the innermost function with a rule "
    "decides. Each sample represents the same CPU time, so the relative error of a share of n "
    "samples is about one over the square root of n."
)
SESSIONS_WORDS = (
    "Who used the server's CPU: CPU time of each of its processes between the samples around the"
    " measured part; the server reports which process serves which session. CPU time of ended "
    "processes that no sample saw is known from their parent only. It is divided among "
    "processes that began and ended meanwhile, such as parallel workers; without such "
    "processes it is shown as not observed. The sum is the engine's CPU time in the chart over"
    " time and in the accounts."
)
PROBES_WORDS = (
    "Probes read kernel counters every {interval}, outside the engine's process. Rates over time"
    " are differences between samples; a counter that was absent or went backwards gives no"
    " rate, never zero."
)
INTERVAL_WORDS = (
    "A finding's interval comes from the variation between the passes of this run. It does not "
    "include variation between runs, which needs repeated runs."
)


def charts_about(document: RunDocument, timeline: Timeline | None) -> list[tuple[str, str, str]]:
    """Return the charts of a run in the order of its page: name, heading, description."""
    over_time = ("timeline", "Over time", timeline_words(document, timeline))
    if document["observed"] is not None:
        mean = f"Mean time of an execution of each statement, {WHERE_WORDS}"
        return [("operations", WHERE_HEADING, mean), over_time]
    if document["conditions"]["clients"] is not None:
        backlog = [BACKLOG_ABOUT] if document["conditions"]["rate_per_s"] is not None else []
        over_time = ("timeline", "Resources over time", timeline_words(document, timeline))
        split = (
            "operations",
            WHERE_HEADING,
            f"Median service time of each operation, {WHERE_WORDS}",
        )
        return [*LOAD_ABOUT, *backlog, split, over_time]
    of_test = [] if document["test"] is None else TEST_ABOUT
    passes = document["metrics"]["passes"]
    passes_text = {0.0: "its passes", 1.0: "one pass"}.get(passes or 0.0, f"{passes} passes")
    where = f"Median service time of each operation over {passes_text}, {WHERE_WORDS}"
    return [*of_test, ("operations", WHERE_HEADING, where), over_time, PASSES_ABOUT]


def table_about(document: RunDocument) -> str:
    """Return a sentence on the meaning of shares and times in the operations table."""
    if document["observed"] is not None:
        return "Times are means: the server counts sums, not single executions."
    if document["conditions"]["clients"] is None:
        return "Shares are of the operation's time."
    return (
        "Latency counts from the due time of an operation, service time from its actual start. "
        "A percentile of too few executions is not shown."
    )


def _measured_words(document: RunDocument) -> str:
    """Return text on how operations were issued, and which executions count."""
    conditions = document["conditions"]
    if document["observed"] is not None:
        return OBSERVED_WORDS
    if document["test"] is not None:
        return STEADY_WORDS if document["test"]["steady"] else TEST_WORDS
    if conditions["clients"] is None:
        return MEASURED_WORDS.format(min_time=seconds_text(conditions["min_time_s"]))
    rate = conditions["rate_per_s"]
    speed = conditions.get("as_recorded")
    if rate is not None and speed is not None:
        faster = "" if speed == 1 else f"{speed:g} times as fast, "
        said = RECORDED_WORDS.format(
            speed=faster, clients=conditions["clients"], rate=rate_text(rate)
        )
        return f"{said} {PERCENTILE_WORDS}"
    sentences = CLOSED_WORDS if rate is None else OPEN_WORDS.format(rate=rate_text(rate))
    return f"{sentences.format(clients=conditions['clients'])} {PERCENTILE_WORDS}"


def paragraphs(document: RunDocument) -> list[str]:
    """Return paragraphs on how the run was made and how its results were computed."""
    conditions = document["conditions"]
    is_power = conditions["clients"] is None and document["observed"] is None
    of_power = [SPLIT_WORDS, COVERAGE_WORDS] if is_power else []
    of_server = [COUNTERS_WORDS] if document["engine_counters"] else []
    of_server += [PROFILE_WORDS] if document["profile"] else []
    of_server += [SESSIONS_WORDS] if document["sessions"] else []
    return [
        f"{order_sentences(conditions)}{state_sentence(document)}{_measured_words(document)}",
        *filter(
            None,
            [
                changes_paragraph(document),
                writes_sentences(conditions.get("writes")),
                POOLED_WORDS if conditions.get("pooled") else "",
            ],
        ),
        *of_power,
        *of_server,
        PROBES_WORDS.format(interval=seconds_text(conditions["probe_interval_s"])),
        *([INTERVAL_WORDS] if document["observed"] is None else []),
    ]


def no_findings(document: RunDocument) -> str:
    """Return text on why there is no finding, and which causes were checked."""
    if not document["operations"]:
        return "There is nothing to explain, because no operation was measured."
    if all(op["coverage"] is None for op in document["operations"]):
        if document["conditions"]["clients"] is not None:
            return (
                "No findings: the bottleneck of a load is found by CPU samples of engine and "
                "driver, which are missing."
            )
        return "No findings: where the time went was not measured in this run."
    looked_for = ", ".join(method.replace("-", " ") for method in known_methods())
    return f"No findings: no cause exceeded its threshold. Searched for: {looked_for}."


def timeline_words(document: RunDocument, timeline: Timeline | None) -> str:
    """Return a paragraph on how to read the timeline, and on missing samples."""
    what = "Operations" if document["conditions"]["clients"] is None else "The phases of the run"
    text = (
        f"{what} and resources on one axis; warm-up is paler. Point at a moment to read all"
        " panels there; drag over the first strip to zoom, double-click it to see all."
    )
    if timeline is None:
        return text
    missing = [
        name
        for name, frame in (
            ("CPU", timeline.cpu),
            ("memory", timeline.memory),
            ("disks", timeline.disk),
            ("pressure", timeline.pressure),
        )
        if frame.is_empty()
    ]
    if missing:
        text += f" No samples of {', '.join(missing)}: {_why_no_samples(document)}."
    if timeline.ticks < timeline.samples:
        text += (
            f" Means over {timeline.ticks} intervals are drawn; the record has {timeline.samples}"
            " samples."
        )
    if timeline.bands.height < timeline.operations:
        text += (
            f" The longest {timeline.bands.height} of {timeline.operations} operations are drawn."
        )
    return text


def _why_no_samples(document: RunDocument) -> str:
    probes = document["probes"]["each"]
    errors = [
        f"probe {name} failed: {probe['error']}" for name, probe in probes.items() if probe["error"]
    ]
    if errors:
        return "; ".join(errors)
    if not probes:
        return "no probe ran"
    return "their streams are not in the record"
