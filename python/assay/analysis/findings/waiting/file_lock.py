"""Findings of engines whose database is one file with one lock for all connections."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.advising import named_setting_advice
from assay.analysis.findings.memory.cache import measured_thread_seconds
from assay.analysis.findings.operation_shares import names_text
from assay.analysis.findings.waiting.transactions import locking_begin, only_reads
from assay.analysis.findings.waiting.waits import (
    one_client_advice,
    waiting_evidence,
    waiting_words,
    with_one_client,
)
from assay.model.finding import Evidence
from assay.model.units import count_text, percent_text, seconds_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.findings.case import Case
    from assay.analysis.findings.engine_facts import Setting
    from assay.model.finding import Advice, Finding

LOCK_TIMEOUT = "lock_timeout"
# A setting whose cheaper value lets readers and a writer work at the same time.
LOCK_SCOPE = "lock_scope"
LOCK = "lock"
LOCK_SECONDS, LOCK_WAITS = "lock_wait_seconds", "lock_waits"
# With a smaller share of idle CPU time, sessions that do not wait for the lock wait for a CPU.
IDLE_MIN = 0.05
NO_CPU_LEFT = (
    "measure while CPUs are idle: all CPUs were busy, so sessions that get the lock earlier may "
    "wait for a CPU instead"
)
SHORTER = "use shorter write transactions, and fewer connections that write"
ONLY_READ = "its statements only read, and reading needs no write lock"
BEGIN = "begin"
NAMED_OPERATIONS = 3
ALONE = "end or shorten the write transactions of the other process: this run has one session only"


def file_lock_finding(
    case: Case, fractions: dict[str, float], timeout: Setting, method: str
) -> Finding:
    """Return a finding of connections that wait for the lock of the database file."""
    claim = f"{waiting_words(case, fractions)} for {_what(case, timeout)}"
    readers = lock_taking_readers(case)
    claim += _readers_words(case, readers)
    evidence = [*waiting_evidence(case, fractions, (LOCK,)), *_evidence(case, timeout)]
    evidence += _readers_evidence(case, readers)
    advice, to_try = _advice(case, fractions, case.of_run(fractions), method)
    made = case.finding(method, claim, fractions, to_try=to_try, evidence=evidence, advice=advice)
    return replace(made, settle=_doubt(case))


def counted_file_lock(case: Case, least: float, method: str) -> list[Finding]:
    """Return a finding of waits for the file's lock that only the engine's counters show.

    The time of operations is not split if they are too short for samples of threads.
    """
    timeout, waited_s = case.setting(LOCK_TIMEOUT), case.total(LOCK_SECONDS)
    whole_s = measured_thread_seconds(case)
    if timeout is None or timeout.limits is None or not waited_s or whole_s <= 0:
        return []
    sampled = case.where.get(LOCK)
    effect = min(1.0, waited_s / whole_s, 1.0 if sampled is None else sampled)
    if effect < least:
        return []
    claim = f"{percent_text(effect)} of the time was spent waiting for {_what(case, timeout)}"
    readers = lock_taking_readers(case)
    claim += _readers_words(case, readers)
    evidence = [*_evidence(case, timeout), *_readers_evidence(case, readers)]
    if sampled is not None:
        sentence = f"samples of threads: {percent_text(sampled)} of the time waiting for locks"
        evidence.append(Evidence(sentence, "where"))
    advice, to_try = _advice(case, {}, effect, method)
    made = case.finding(method, claim, {}, to_try=to_try, evidence=evidence, advice=advice)
    made = replace(made.without_interval(), effect_share=effect, settle=_doubt(case))
    return [made.of(f"waiting/{LOCK}", saved=(0.0, effect))]


def lock_taking_readers(case: Case) -> list[str]:
    """Return operations that take the write lock at once although they only read.

    The result is empty if they hold the lock for less time than operations that may write, so that
    they are not the main cause.
    """
    if _is_alone(case):
        return []
    held = {name: share * (1 - _begin_share(case, name)) for name, share in case.shares.items()}
    texts = {name: case.statements.get(name, "") for name in held}
    readers = [name for name in held if locking_begin(texts[name]) and only_reads(texts[name])]
    writers = [name for name in held if not only_reads(texts[name])]
    of_readers, of_writers = (sum(held[name] for name in names) for names in (readers, writers))
    if of_readers < of_writers:
        return []
    return sorted(readers, key=lambda name: (-held[name], name))


def _begin_share(case: Case, operation: str) -> float:
    """Return the share of an operation's time in the statement that begins it; 0 if not known."""
    times = case.statement_times.get(operation)
    statements = () if times is None else times.statements
    return sum(part.share for part in statements if BEGIN in part.name.lower().split())


def _readers_words(case: Case, readers: Sequence[str]) -> str:
    """Return a clause on operations that take the lock although they only read."""
    if not readers:
        return ""
    begin = locking_begin(case.statements[readers[0]])
    return f"; transactions of {names_text(readers)} take it by `{begin}`, but change nothing"


def _readers_evidence(case: Case, readers: Sequence[str]) -> list[Evidence]:
    evidence = []
    for name in readers[:NAMED_OPERATIONS]:
        sentence = f"{name} takes the write lock, and none of its statements changes a row"
        evidence.append(Evidence(sentence, f"statement:{name}"))
        if share := _begin_share(case, name):
            sentence = f"{percent_text(share)} of the time of {name} is in its `begin`"
            evidence.append(Evidence(sentence, f"statements:{name}"))
    return evidence


def _doubt(case: Case) -> str | None:
    """Return what would confirm that the lock costs time; None if CPUs were idle meanwhile."""
    used = case.accounts
    if used is None or used.capacity_s <= 0 or used.idle_s >= IDLE_MIN * used.capacity_s:
        return None
    return NO_CPU_LEFT


def _what(case: Case, timeout: Setting) -> str:
    """Return the lock that connections waited for, and its holder."""
    scope = _scope(case)
    limits = timeout.limits if scope is None else scope.limits
    holder = "another process or connection" if _is_alone(case) else "another connection"
    return f"{limits}: {holder} held it"


def _scope(case: Case) -> Setting | None:
    """Return the setting that makes readers and the writer wait; None if they do not."""
    scope = case.setting(LOCK_SCOPE)
    if scope is None or scope.value is None or scope.limits is None:
        return None
    return None if scope.value.lower() == scope.cheaper else scope


def _evidence(case: Case, timeout: Setting) -> list[Evidence]:
    evidence, scope = [], _scope(case)
    waited_s, waits = case.total(LOCK_SECONDS), case.total(LOCK_WAITS)
    if waited_s and waits:
        sentence = f"{count_text(waits)} waits for the lock, {seconds_text(waited_s)} in total"
        evidence.append(Evidence(sentence, f"counter:{LOCK_SECONDS}"))
    if timeout.value is not None:
        sentence = f"{timeout.text}: a connection that finds the lock held retries for that long"
        evidence.append(Evidence(sentence, f"setting:{timeout.name}"))
    if scope is not None:
        evidence.append(Evidence(scope.text, f"setting:{scope.name}"))
    return evidence


def _advice(
    case: Case, fractions: dict[str, float], effect: float, method: str
) -> tuple[Advice | None, str]:
    """Return the change that would settle what the lock costs, if there is one, and the words."""
    scope, words = _scope(case), ALONE if _is_alone(case) else SHORTER
    readers = lock_taking_readers(case)
    if readers:
        begin = locking_begin(case.statements[readers[0]])
        words = f"`begin` instead of `{begin}` in {names_text(readers)}: {ONLY_READ}"
    elif scope is not None and scope.cheaper is not None:
        advice = named_setting_advice(scope.name, scope.cheaper, effect)
        command = case.try_words(method, fractions, "sets it")
        return advice, f"{scope.name} = {scope.cheaper}: {scope.but}; {command}; or {words}"
    if (advice_alone := one_client_advice(case, effect)) is not None:
        return advice_alone, with_one_client(case, method, fractions, words)
    return None, words


def _is_alone(case: Case) -> bool:
    return case.load is not None and case.load.load.clients == 1
