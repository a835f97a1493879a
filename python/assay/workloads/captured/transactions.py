"""Groups the statements of sessions into executions: transactions and single statements.

A transaction is one execution, from the statement that begins it to the one that ends it.
Statements that cannot be repeated are omitted and counted by reason, with the transaction that
needs them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from assay.model.captured import LoggedStatement
from assay.model.secrets import sql_without_secrets
from assay.workloads.captured.shapes import NO_VALUES, Shapes, Stated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from assay.model.captured import Grammar

PLAYED = {"select", "insert", "update", "delete", "merge", "replace", "with", "values", "table"}
PLAYED |= {"call", "("}
# Statements that are kept only within a transaction.
WITHIN = {"savepoint", "release", "declare", "fetch", "close", "move", "lock"}
ENDS = {"commit", "end", "rollback", "abort"}
# Names under which omitted statements are counted, so that no other word of a log gets into a
# summary.
OTHERS = {"create", "alter", "drop", "truncate", "grant", "revoke", "copy", "vacuum", "analyze"}
OTHERS |= {"explain", "prepare", "execute", "comment", "cluster", "reindex", "refresh", "load"}
OTHERS |= {"checkpoint", "rename", "optimize", "flush", "kill", "notify", "unlock", "handler"}
OTHERS |= {"do"}
SESSION_ONLY = {"show", "use", "discard", "reset", "deallocate", "listen", "unlisten"}
SESSION_SETTING = "settings of sessions (set, show, use, ...)"
BROKEN = "transactions that have a statement that was left out or failed"
UNFINISHED = "transactions that begin or end outside of the log"
FAILED = "statements that failed"
WITHHELD = "statements that may hold a secret"
UNKNOWN = "statements of a kind that is not played"
UNREAD = "statements that cannot be read"
NO_TEXT = "statements with bytes that are no text"


@dataclass(slots=True)
class Execution:
    """One captured execution of an operation: its statements and its start.

    Attributes:
        time_ns: Start of its first statement.
        session: Session that sent it.
        statements: Its statements.
    """

    time_ns: int
    session: str
    statements: list[Stated]


@dataclass
class _Session:
    """The state of a captured session so far.

    Attributes:
        open: Current transaction; None without one.
        broken: Whether the current transaction will be omitted.
        begun: Whether the start of any of its transactions was seen.
        autocommit: Whether a statement outside a transaction is its own transaction.
        since: Executions since the last seen start or end of a transaction.
    """

    open: Execution | None = None
    broken: bool = False
    begun: bool = False
    autocommit: bool = True
    since: list[Execution] = field(default_factory=list)


class Transactions:
    """Collects the statements of captured sessions into transactions."""

    def __init__(self, grammar: Grammar, blank: Callable[[str], str] | None = None) -> None:
        """Create a collector of captured transactions.

        Args:
            grammar: Rules for writing constants.
            blank: Replaces quoted texts that stay in a statement, if all constants are replaced;
                statements that may hold a secret are kept then.
        """
        self._grammar = grammar
        self._shapes = Shapes(grammar, blank)
        self._keeps_secrets = blank is not None
        self._sessions: dict[str, _Session] = {}
        self._executions: list[Execution] = []
        self.left_out: Counter[str] = Counter()
        self.statements = 0

    def take(self, logged: LoggedStatement) -> None:
        """Add the next statement of a captured session."""
        self.statements += 1
        session = self._sessions.setdefault(logged.session, _Session())
        if logged.failed:
            self._leave_out(session, FAILED)
            return
        if any("\ud800" <= letter <= "\udfff" for letter in logged.text):
            self._leave_out(session, NO_TEXT)
            return
        try:
            parts = self._shapes.stated(logged.text, logged.values)
        except ValueError as error:
            is_without_values = str(error) == NO_VALUES
            self._leave_out(
                session, f"statements of which {error}" if is_without_values else UNREAD
            )
            return
        # Statements of one message outside a transaction form a transaction of their own.
        together = len(parts) > 1 and session.open is None and session.autocommit
        if together and all(part.word in PLAYED for part in parts):
            parts = [_plain("begin"), *parts, _plain("commit")]
        for part in parts:
            self._part(session, logged, part)

    def executions(self) -> list[Execution]:
        """Return all complete captured executions, in order of their start."""
        for session in self._sessions.values():
            if session.open is not None and any(
                part.word in PLAYED for part in session.open.statements
            ):
                self.left_out[UNFINISHED] += 1
            session.open = None
        whole = (execution for execution in self._executions if execution.statements)
        return sorted(whole, key=lambda execution: execution.time_ns)

    def _leave_out(self, session: _Session, reason: str) -> None:
        self.left_out[reason] += 1
        session.broken |= session.open is not None

    def _part(self, session: _Session, logged: LoggedStatement, part: Stated) -> None:
        word = part.word
        if word == "begin" or (word, part.second) == ("start", "transaction"):
            self._begin(session, logged, part)
        elif word in ENDS and part.second not in {"to", "prepared"}:
            self._end(session, part)
        elif word == "rollback" and part.second == "to":
            self._within(session, part)
        elif word == "set" and self._is_autocommit(session, part):
            pass
        elif word in WITHIN or (word == "set" and part.second in {"transaction", "local"}):
            self._within(session, part)
        elif word == "set" or word in SESSION_ONLY:
            self.left_out[SESSION_SETTING] += 1
        elif word not in PLAYED:
            self._leave_out(session, f"statements of kind {word}" if word in OTHERS else UNKNOWN)
        elif not self._keeps_secrets and sql_without_secrets(logged.text) != logged.text:
            self._leave_out(session, WITHHELD)
        elif not part.is_whole:
            self._leave_out(session, UNREAD)
        else:
            self._played(session, logged, part)

    def _begin(self, session: _Session, logged: LoggedStatement, part: Stated) -> None:
        if session.open is not None and session.open.statements[1:]:
            self._end(session, _plain("commit"))
        session.open, session.broken = Execution(logged.time_ns, logged.session, [part]), False
        session.begun, session.since = True, []

    def _end(self, session: _Session, part: Stated) -> None:
        open_now = session.open
        if open_now is None:
            self._stray_end(session, part)
        elif session.broken:
            self.left_out[BROKEN] += 1
        elif open_now.statements[1:]:
            open_now.statements.append(part)
            self._executions.append(open_now)
        session.open, session.broken, session.since, session.begun = None, False, [], True

    def _stray_end(self, session: _Session, part: Stated) -> None:
        """Handle the end of a transaction whose start was not captured."""
        if not session.since:
            return
        if self._grammar.implicit_transactions:
            first, *others = session.since
            parts = [inside for execution in session.since for inside in execution.statements]
            first.statements = [_plain("begin"), *parts, part]
            for execution in others:
                execution.statements = []
        elif not session.begun:
            self.left_out[UNFINISHED] += 1
            for execution in session.since:
                execution.statements = []

    def _within(self, session: _Session, part: Stated) -> None:
        if session.open is None:
            self.left_out[SESSION_SETTING] += 1
        else:
            session.open.statements.append(part)

    def _is_autocommit(self, session: _Session, part: Stated) -> bool:
        """Return True if a statement sets autocommit, and record the new value."""
        text = "".join([part.pieces[0], *(str(constant.value) for constant in part.constants)])
        tokens = text.lower().replace("=", " ").replace("@@", " ").split()
        if "autocommit" not in tokens:
            return False
        session.autocommit = tokens[-1] not in {"0", "off", "false"}
        self.left_out[SESSION_SETTING] += 1
        return True

    def _played(self, session: _Session, logged: LoggedStatement, part: Stated) -> None:
        if session.open is None and not session.autocommit:
            session.open = Execution(logged.time_ns, logged.session, [_plain("begin")])
        if session.open is not None:
            session.open.statements.append(part)
            return
        single = Execution(logged.time_ns, logged.session, [part])
        self._executions.append(single)
        if self._grammar.implicit_transactions or not session.begun:
            session.since.append(single)


def _plain(text: str) -> Stated:
    return Stated((text,), (), text, "")


def executions_of(
    statements: Iterable[LoggedStatement],
    grammar: Grammar,
    blank: Callable[[str], str] | None = None,
) -> tuple[list[Execution], Transactions]:
    """Return the executions of statements, and the object that counted the omitted ones."""
    transactions = Transactions(grammar, blank)
    for statement in statements:
        transactions.take(statement)
    return transactions.executions(), transactions
