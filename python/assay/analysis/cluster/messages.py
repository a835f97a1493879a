"""Compares predicted with counted messages between the nodes of a cluster."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from assay.analysis.cluster.counters import totals_of_a_pass
from assay.analysis.cluster.message_model import (
    Shares,
    batch_messages,
    blocks_of,
    page_messages,
    shares_of,
)
from assay.analysis.cluster.nodes import workers_of
from assay.analysis.cluster.words import BYTES, LOCAL_BYTES, LOCAL_MESSAGES, MESSAGES, ROWS, TASKS
from assay.analysis.plans.recorded import read_plans
from assay.model.units import number_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from assay.analysis.cluster.nodes import ClusterNode
    from assay.model.plan import PlanNode
    from assay.record.reader import Run

BLOCKS, PAGES, BATCHES = "blocks", "pages", "batches"
EXCHANGE = "exchange"


@dataclass(frozen=True)
class MessageFacts:
    """`[messages]` of an engine's `counters.toml`: the structure of its messages.

    Attributes:
        form: `blocks` (one per map task and reducer), `pages` (sent at a number of rows or bytes)
            or `batches` (each split into one message per recipient).
        recipients: Number of recipients: name of a setting, or `workers`.
        rows: Maximum rows of a batch or a page: name of a setting, or a number.
        bytes: Maximum bytes of a page: name of a setting, or a number.
        shared_bytes: Size of a buffer that all recipients share equally, which limits the bytes of
            a page: name of a setting, or a number.
        exchanges: The engine's names of exchanges between nodes. Empty means all exchanges of
            plans.
        partitions: Key of the exchange's plan detail with the number of recipients.
        tasks: Key of the plan detail with the number of tasks that write to it.
        counted: Whether counters include messages within a node: `remote` or `all`.
        says: Sentences on messages that the model omits, in the engine's terms.
    """

    form: Literal["blocks", "pages", "batches"]
    recipients: str
    rows: str | float | None = None
    bytes: str | float | None = None
    shared_bytes: str | float | None = None
    exchanges: Sequence[str] = field(default_factory=list)
    partitions: str = "partitions"
    tasks: str = "tasks"
    counted: Literal["remote", "all"] = "remote"
    says: Sequence[str] = field(default_factory=list)


@dataclass(frozen=True)
class Predicted:
    """A quantity of messages as predicted and as counted, for one execution of all operations.

    Attributes:
        name: Key in figures.
        title: Title for readers.
        unit: Unit, as in figures.
        predicted: Prediction of the model; None if an input is not known.
        counted: Counted value; None if not counted.
        why: Reason why prediction and count differ, or why one of them is not known.
    """

    name: str
    title: str
    unit: str
    predicted: float | None
    counted: float | None
    why: str

    @property
    def ratio(self) -> float | None:
        """The counted value divided by the predicted value; None if one of them is not known."""
        if self.predicted is None or self.counted is None or not self.predicted:
            return None
        return self.counted / self.predicted


@dataclass(frozen=True)
class Exchanged:
    """One exchange node of a query plan, which sends rows between cluster nodes.

    Attributes:
        rows: Number of rows that it returned; None if not reported.
        maps: Number of tasks that write to it; None if the plan does not report it.
        after_exchange: Whether these tasks read from another exchange.
        recipients: Number of tasks that read from it. None means the value of the setting.
    """

    rows: float | None
    maps: float | None
    after_exchange: bool
    recipients: float | None


def message_facts(facts: Mapping[str, Any] | None) -> MessageFacts | None:
    """Return the message declarations of an engine's `counters.toml`; None without any.

    Raises:
        ValueError: If a key is missing or unknown, or the form is not one of the three.
    """
    section = (facts or {}).get("messages")
    if section is None:
        return None
    try:
        declared = MessageFacts(**section)
    except TypeError as error:
        raise ValueError(f"[messages] cannot be read: {error}") from error
    if declared.form not in (BLOCKS, PAGES, BATCHES) or declared.counted not in ("remote", "all"):
        raise ValueError(
            "[messages]: form must be blocks, pages or batches, and counted must be remote or all"
        )
    return declared


def model_of(run: Run) -> tuple[Predicted, ...]:
    """Return predicted and counted message quantities; empty for an engine without a cluster."""
    nodes = workers_of(run)
    if not nodes:
        return ()
    counted = totals_of_a_pass(run)
    shares = shares_of(_nodes_per_host(nodes))
    facts = message_facts(run.facts.get("engine", {}).get("counters"))
    return (*_share_rows(shares, counted), *_sizes(run, facts, shares, counted))


def _nodes_per_host(nodes: Sequence[ClusterNode]) -> list[int]:
    hosts = [node.host for node in nodes]
    return [hosts.count(host) for host in dict.fromkeys(hosts)]


def _share_rows(shares: Shares, counted: Mapping[str, float]) -> Iterator[Predicted]:
    """Yield the predicted and counted shares of messages and bytes that leave their node."""
    spread = (
        "every node sends to every node alike; what is broadcast, or read where it lies, is not"
    )
    for name, title, word, local in (
        ("remote messages", "messages that leave their node", MESSAGES, LOCAL_MESSAGES),
        ("remote bytes", "bytes that leave their node", BYTES, LOCAL_BYTES),
    ):
        whole = counted.get(word, 0.0) + counted.get(local, 0.0)
        is_counted = word in counted and local in counted and whole > 0
        why = spread if is_counted else "messages within a node are not counted apart"
        counted_share = counted[word] / whole if is_counted else None
        yield Predicted(name, title, "share", shares.remote, counted_share, why)
    yield Predicted(
        "other host",
        "messages to another host",
        "share",
        shares.other_host,
        None,
        "which host a message is for is not counted",
    )


def _sizes(
    run: Run, facts: MessageFacts | None, shares: Shares, counted: Mapping[str, float]
) -> Iterator[Predicted]:
    """Yield the predicted and counted number of messages, and rows and bytes per message."""
    messages, rows, size = (counted.get(word) for word in (MESSAGES, ROWS, BYTES))
    if facts is None:
        why = "the engine does not say what its messages are made of ([messages])"
        predicted = None
    else:
        predicted, why = _messages(run, facts, shares, counted)
    yield Predicted("messages", "messages of an execution", "count", predicted, messages, why)
    for name, title, unit, whole in (
        ("rows a message", "rows of a message", "count", rows),
        ("bytes a message", "bytes of a message", "bytes", size),
    ):
        on_paper = whole / predicted if whole is not None and predicted else None
        measured = whole / messages if whole is not None and messages else None
        yield Predicted(
            name, title, unit, on_paper, measured, "what was counted by the messages above"
        )


def _messages(
    run: Run, facts: MessageFacts, shares: Shares, counted: Mapping[str, float]
) -> tuple[float | None, str]:
    """Return the predicted number of messages, and sentences on messages that it leaves out."""
    recipients = _number(run, facts.recipients)
    if recipients is None:
        return None, f"{facts.recipients} is not told"
    if facts.form == BLOCKS:
        blocks = _blocks(run, facts, recipients, counted)
        share = shares.remote if facts.counted == "remote" else 1.0
        predicted = None if blocks is None else blocks * share
        missing = "no plan shows its exchanges and their tasks"
    else:
        # The prediction starts from counted rows, so no share of remote messages applies.
        predicted = _full(run, facts, recipients, counted)
        missing = "rows and bytes of messages are not counted, or a batch's size is not known"
    return predicted, missing if predicted is None else "; ".join(facts.says)


def _blocks(
    run: Run, facts: MessageFacts, recipients: float, counted: Mapping[str, float]
) -> float | None:
    every = [
        blocks_of(exchange.maps, exchange.recipients or recipients, exchange.rows)
        for exchange in exchanges_of(run, recipients, counted, facts)
        if exchange.maps is not None
    ]
    return sum(every) if every else None


def _full(
    run: Run, facts: MessageFacts, recipients: float, counted: Mapping[str, float]
) -> float | None:
    """Return the number of full pages, or of batches per recipient, for the counted rows."""
    rows, size = counted.get(ROWS), counted.get(BYTES)
    most = _number(run, facts.rows)
    if not rows or size is None:
        return None
    if facts.form == BATCHES:
        return None if most is None else batch_messages(rows, most, recipients)
    exchanges = len(exchanges_of(run, recipients, {}, facts)) or 1
    channels = exchanges * recipients * max(1, len(workers_of(run)))
    shared = _number(run, facts.shared_bytes)
    limits = [_number(run, facts.bytes), None if shared is None else shared / recipients]
    page_bytes = min((limit for limit in limits if limit is not None), default=None)
    return page_messages(rows, size / rows, page_bytes, most, channels)


def exchanges_of(
    run: Run, recipients: float, counted: Mapping[str, float], facts: MessageFacts
) -> list[Exchanged]:
    """Return the exchange nodes of all plans, each with its number of sending tasks.

    An exchange that reads from another one has as many tasks as that has recipients. The number of
    tasks that read tables comes from the plan, or else from the remaining counted tasks in equal
    parts.
    """
    exchanges = [
        exchange
        for plans in read_plans(run).values()
        for plan in plans
        for exchange in _exchanges(plan.root, recipients, facts)
    ]
    first = [exchange for exchange in exchanges if exchange.maps is None]
    tasks = counted.get(TASKS)
    if not first or tasks is None:
        return exchanges
    later = sum(exchange.maps or 0.0 for exchange in exchanges) + recipients
    maps = max(1.0, (tasks - later) / len(first))
    return [
        Exchanged(exchange.rows, maps, exchange.after_exchange, exchange.recipients)
        if exchange.maps is None
        else exchange
        for exchange in exchanges
    ]


def _exchanges(root: PlanNode, recipients: float, facts: MessageFacts) -> Iterator[Exchanged]:
    for node in root.walk():
        if _is_between_nodes(node, facts.exchanges):
            below = [
                nearest for child in node.children for nearest in _nearest(child, facts.exchanges)
            ]
            to = _number_in_plan(node, facts.partitions)
            maps = _number_in_plan(node, facts.tasks)
            if maps is None and below:
                maps = max(
                    _number_in_plan(nearest, facts.partitions) or recipients for nearest in below
                )
            yield Exchanged(node.rows, maps, bool(below), to)


def _is_between_nodes(node: PlanNode, names: Sequence[str]) -> bool:
    return node.operator == EXCHANGE and (not names or node.native in names)


def _nearest(node: PlanNode, names: Sequence[str]) -> Iterator[PlanNode]:
    """Yield the nearest exchange nodes below a plan node."""
    if _is_between_nodes(node, names):
        yield node
        return
    for child in node.children:
        yield from _nearest(child, names)


def _number_in_plan(node: PlanNode, name: str) -> float | None:
    value = node.details.get(name)
    try:
        return None if value is None else float(str(value).replace(",", "").split()[0])
    except (IndexError, ValueError):
        return None


def _number(run: Run, number: str | float | None) -> float | None:
    """Return a declared count: a number itself, the number of workers, or a setting's value."""
    if number is None or isinstance(number, int | float):
        return number
    if number == "workers":
        return float(len(workers_of(run)))
    settings = run.environment.get("engine", {}).get("settings") or {}
    value = settings.get(number, run.facts["request"]["settings"].get(number))
    return None if value is None else number_of(str(value))
