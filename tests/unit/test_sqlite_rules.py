"""What SQLite's rules say of stacks that its queries were seen in, and of its sleeps."""

from __future__ import annotations

import pytest

from assay.analysis.waits.rules import Sleep, all_waits
from assay.analysis.work.classify import Places, classify
from assay.analysis.work.rules import UNCLASSIFIED, Rules, combined, rules_of, shared_rules
from assay.engines.discovery import find_engine

APSW = "__init__.cpython-311-x86_64-linux-gnu.so"
FILES = {"pread": "libc.so.6", "__x64_sys_pread64": "[kernel]", "filemap_read": "[kernel]"}
CLOCK_NANOSLEEP, FUTEX = 230, 202
X86 = "x86_64"
STEP = ("APSWCursor_execute", "APSWCursor_step", "sqlite3_step")
PREPARE = ("APSWCursor_execute", "sqlite3LockAndPrepare", "sqlite3Prepare")
RUN = (*STEP, "sqlite3VdbeExec")
PAGE = ("getAndInitPage", "getPageNormal")
READ = (*PAGE, "readDbPage", "unixRead", "pread")
LOOK_UP = (*RUN, "sqlite3BtreeIndexMoveto")

TRUTH = [
    ("expression", RUN),
    ("expression", (*RUN, "sqlite3BinaryCompare")),
    ("expression", (*RUN, "strftimeFunc")),
    ("index look-up", LOOK_UP),
    ("index look-up", (*LOOK_UP, "sqlite3VdbeRecordCompareWithSkip")),
    ("index look-up", (*RUN, "sqlite3BtreeTableMoveto", "moveToChild")),
    ("buffer manager", (*LOOK_UP, *PAGE, "pcache1Fetch")),
    ("buffer manager", (*RUN, "sqlite3BtreeTableMoveto", *READ[:-1])),
    ("kernel I/O", (*LOOK_UP, *READ, "__x64_sys_pread64", "filemap_read")),
    ("scan", (*RUN, "sqlite3BtreeNext.isra.0")),
    ("scan", (*RUN, "getCellInfo", "btreeParseCellPtr")),
    ("decode", (*RUN, "sqlite3VdbeSerialGet")),
    ("sort", (*RUN, "vdbeSorterListToPMA", "vdbeSorterSort", "vdbeSorterCompareText")),
    ("sort", (*RUN, "vdbeMergeEngineStep", "vdbeSorterCompare", "sqlite3VdbeRecordCompare")),
    ("aggregate", (*RUN, "sumStep")),
    ("string match", (*RUN, "likeFunc", "patternCompare")),
    ("update", (*RUN, "sqlite3BtreeInsert", "balance")),
    ("log", (*RUN, "sqlite3VdbeHalt", "sqlite3PagerCommitPhaseOne", "walWriteOneFrame")),
    ("optimiser/parse", (*PREPARE, "sqlite3RunParser", "yy_reduce")),
    ("optimiser/parse", (*PREPARE, "sqlite3Select", "whereLoopAddBtree")),
    ("memory", (*RUN, "sqlite3VdbeMemGrow")),
    ("result", ("APSWCursor_fetchall", "convert_column_to_pyobject")),
    (UNCLASSIFIED, (*STEP, "somethingNew")),
]  # fmt: skip


@pytest.fixture(scope="module")
def rules() -> Rules:
    recorded = find_engine("sqlite").operations()
    assert recorded is not None
    return combined(rules_of(recorded, "operations.toml"), shared_rules())


def work_of(path: tuple[str, ...], rules: Rules) -> str:
    """The work of a stack that is written from the outermost function to the innermost."""
    places = range(len(path))
    names = Places(list(path), [FILES.get(name, APSW) for name in path])
    verdicts = classify([place - 1 for place in places], places, names, rules.rules)
    rule = verdicts.rules[-1]
    return UNCLASSIFIED if rule is None else rules.rules[rule].work or ""


@pytest.mark.parametrize(
    ("work", "path"), TRUTH, ids=[f"{cause[0]}: {cause[1][-1]}" for cause in TRUTH]
)
def test_a_stack_works_at(work: str, path: tuple[str, ...], rules: Rules) -> None:
    assert work_of(path, rules) == work


@pytest.mark.parametrize(
    ("channel", "call", "cause"),
    [
        ("hrtimer_nanosleep", CLOCK_NANOSLEEP, "lock"),
        ("hrtimer_nanosleep", None, "lock"),
        ("futex_do_wait", FUTEX, "lock"),
    ],
)
def test_a_session_sleeps_for_a_lock(channel: str, call: int | None, cause: str) -> None:
    waits = all_waits(find_engine("sqlite").waits())
    asleep = Sleep("S", channel, call, "session", at_rest=False, with_workers=False)
    assert waits.cause_of(asleep, X86) == cause


FSYNC, FDATASYNC, UNLINK = 74, 75, 87


@pytest.mark.parametrize("state", ["S", "D"])
@pytest.mark.parametrize("call", [FSYNC, FDATASYNC])
def test_a_session_that_syncs_waits_for_the_log(state: str, call: int) -> None:
    waits = all_waits(find_engine("sqlite").waits())
    asleep = Sleep(state, "jbd2_log_wait_commit", call, "session", at_rest=None, with_workers=False)
    assert waits.cause_of(asleep, X86) == "log"


def test_a_journal_that_is_removed_is_of_the_commit() -> None:
    waits = all_waits(find_engine("sqlite").waits())
    asleep = Sleep("D", "rq_qos_wait", UNLINK, "session", at_rest=None, with_workers=False)
    assert waits.cause_of(asleep, X86) == "log"
