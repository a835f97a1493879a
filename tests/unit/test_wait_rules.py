"""Rules on why threads sleep: which are refused and why, and what they say of real sleeps."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.analysis.causes import SLEEPS
from assay.analysis.waits.rules import Sleep, WaitRules, all_waits, parse_waits, shared_waits
from assay.engines.discovery import EngineFolder, find_engine
from assay.model.errors import UsageError

RULE = '[[rules]]\ncause = "lock"\nstates = ["S"]\nsays = "Waits."\n'
EVENT = '[[events]]\ncause = "lock"\ntype = "Lock"\nsays = "Waits."\n'
X86, ARM = "x86_64", "aarch64"
FUTEX, EPOLL_WAIT, FDATASYNC, PWRITE, PREAD, NANOSLEEP = 202, 232, 75, 18, 17, 230
PAGE_FAULT = -1


def refusal(text: str) -> str:
    with pytest.raises(UsageError) as caught:
        parse_waits(text, "waits.toml")
    return str(caught.value)


def sleep(
    state: str = "S",
    channel: str | None = None,
    call: int | None = None,
    comm: str = "postgres",
    at_rest: bool | None = None,
    with_workers: bool = False,
) -> Sleep:
    return Sleep(state, channel, call, comm, at_rest, with_workers)


def rules_of(engine: str) -> WaitRules:
    return all_waits(find_engine(engine).waits())


class TestRefusals:
    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("rules = [", "waits.toml cannot be read"),
            ('rule = "x"', "waits.toml: unknown key 'rule'; did you mean 'rules'?"),
            (RULE + 'channel = ["x"]', "rule 1: unknown key 'channel'; did you mean 'channels'?"),
            (RULE + RULE.replace("cause", "case"), "rule 2: the rule lacks the key 'cause'."),
            (RULE.replace('says = "Waits."', ""), "rule 1: the rule lacks the key 'says'."),
            (
                RULE.replace("lock", "lok"),
                "waits.toml, rule 1: unknown cause 'lok'; did you mean 'lock'?",
            ),
            (RULE.replace("lock", "cpu_user"), "rule 1: 'cpu_user' is not a cause of sleep;"),
            (RULE.replace('["S"]', '["Q"]'), "rule 1: states.0"),
            (RULE.replace('states = ["S"]', ""), "rule 1: the rule would match every sleep:"),
            (
                RULE.replace('states = ["S"]', "at_rest = false"),
                "rule 1: the rule would match every",
            ),
            (RULE + 'channels = ["*"]', "rule 1: '*' matches every name: remove the"),
            (RULE + 'threads = ["*"]', "rule 1: '*' matches every name: remove the"),
            (
                RULE + 'calls = ["epol_wait"]',
                "system call 'epol_wait'; did you mean 'epoll_wait'?",
            ),
            (EVENT + EVENT.replace("lock", "uncovered"), "event 2: 'uncovered' is not a cause"),
            (EVENT.replace('type = "Lock"', ""), "event 1: the rule lacks the key 'type'."),
        ],
    )
    def test_each_names_file_number_and_reason(self, text: str, reason: str) -> None:
        message = refusal(text)
        assert message.startswith("waits.toml")
        assert reason in message

    def test_an_engine_s_are_refused_before_a_run(self, tmp_path: Path) -> None:
        (tmp_path / "waits.toml").write_text(RULE.replace("lock", "lok"), encoding="utf-8")
        folder = EngineFolder(find_engine("null").facts, tmp_path)
        with pytest.raises(UsageError, match="rule 1: unknown cause 'lok';"):
            folder.waits()

    def test_an_engine_without_them_has_none(self) -> None:
        assert find_engine("null").waits() is None


class TestSharedRules:
    @pytest.mark.parametrize(
        ("asleep", "cause"),
        [
            (sleep("D", "folio_wait_bit_common", PREAD), "disk_read"),
            (sleep("D", "folio_wait_bit_common", PAGE_FAULT), "disk_read"),
            (sleep("D", "folio_wait_bit_common"), "disk_read"),
            (sleep("D", "folio_wait_bit_common", FDATASYNC), "disk_write"),
            (sleep("D", "submit_bio_wait", FDATASYNC), "disk_write"),
            (sleep("D", "jbd2_log_wait_commit"), "disk_write"),
            (sleep("D", "ext4_buffered_write_iter", PWRITE), "disk_write"),
            (sleep("D", "rwsem_down_write_slowpath", PAGE_FAULT), "latch"),
            (sleep("D", "filename_create", 83), "disk_write"),
            (sleep("D", "path_openat", 257), "disk"),
            (sleep("D"), "disk"),
            (sleep("S", "futex_do_wait", FUTEX, at_rest=True), "idle"),
            (sleep("S", "futex_do_wait", FUTEX, at_rest=False), "lock"),
            (sleep("S", "futex_do_wait"), "lock"),
            (sleep("S", "do_epoll_wait", EPOLL_WAIT), "client"),
            (sleep("S", "do_epoll_wait"), "client"),
            (sleep("S", "unix_stream_read_generic"), "client"),
            (sleep("S", "hrtimer_nanosleep", NANOSLEEP), "paused"),
            (sleep("T", "do_signal_stop"), "paused"),
            (sleep("S", "io_cqring_wait", 426), "disk"),
            (sleep("S", "what_a_later_kernel_calls_it", 9999), None),
            (sleep("S"), None),
        ],
    )
    def test_what_kernels_tell(self, asleep: Sleep, cause: str | None) -> None:
        assert shared_waits().cause_of(asleep, X86) == cause

    def test_numbers_of_calls_are_the_machine_s(self) -> None:
        assert shared_waits().cause_of(sleep("D", "x", 83), ARM) == "disk_write"
        assert shared_waits().cause_of(sleep("S", "x", 98, at_rest=True), ARM) == "idle"

    def test_every_cause_has_a_rule(self) -> None:
        named = {rule.cause for rule in shared_waits().rules}
        assert set(SLEEPS) - named == {"workers", "log"}, "these are an engine's own"


class TestPostgresql:
    @pytest.mark.parametrize(
        ("kind", "event", "cause"),
        [
            ("Lock", "transactionid", "lock"),
            ("LWLock", "LockManager", "latch"),
            ("LWLock", "WALWrite", "log"),
            ("BufferPin", "BufferPin", "latch"),
            ("IO", "DataFileRead", "disk_read"),
            ("IO", "AioIoCompletion", "disk_read"),
            ("IO", "DataFileExtend", "disk_write"),
            ("IO", "WalSync", "log"),
            ("IO", "BufFileWrite", "disk_write"),
            ("Client", "ClientRead", "client"),
            ("IPC", "ExecuteGather", "workers"),
            ("IPC", "MessageQueueSend", "workers"),
            ("IPC", "ParallelFinish", "workers"),
            ("IPC", "BgworkerShutdown", "workers"),
            ("IPC", "HashBuildHashInner", "workers"),
            ("IPC", "BufferIo", "disk_read"),
            ("IPC", "SyncRep", "client"),
            ("Activity", "IoWorkerMain", "idle"),
            ("Timeout", "PgSleep", "paused"),
            ("Timeout", "SpinDelay", "latch"),
            ("Extension", "Extension", None),
        ],
    )
    def test_its_words(self, kind: str, event: str, cause: str | None) -> None:
        assert rules_of("postgresql").cause_of_event(kind, event) == cause

    def test_a_latch_beside_workers_is_the_workers(self) -> None:
        rules = rules_of("postgresql")
        waiting = sleep("S", "do_epoll_wait", EPOLL_WAIT, with_workers=True)
        assert rules.cause_of(waiting, X86) == "workers"
        assert rules.cause_of(sleep("S", "do_epoll_wait", EPOLL_WAIT), X86) == "client"


class TestDuckdb:
    @pytest.mark.parametrize("call", [FUTEX, None])
    def test_the_session_s_thread_waits_for_workers(self, call: int | None) -> None:
        waiting = sleep("S", "futex_do_wait", call, comm="session", at_rest=False)
        assert rules_of("duckdb").cause_of(waiting, X86) == "workers"

    def test_its_pool_is_idle_and_the_rest_are_locks(self) -> None:
        rules = rules_of("duckdb")
        pool = sleep("S", "futex_do_wait", FUTEX, comm="python", at_rest=True)
        held = sleep("S", "futex_do_wait", FUTEX, comm="python", at_rest=False)
        assert (rules.cause_of(pool, X86), rules.cause_of(held, X86)) == ("idle", "lock")
