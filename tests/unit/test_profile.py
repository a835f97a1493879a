"""Profiles of stacks made by hand: what each sample was for, and the tables that come of it."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from assay.analysis.profile.placing import ALL_TOGETHER
from assay.analysis.profile.profile import Profile
from assay.analysis.profile.samples import (
    call_tree,
    matrix,
    read_profile,
    shares,
    symbols_table,
    unclassified,
    work_table,
)
from assay.analysis.work.rules import parse_rules
from assay.record.reader import Run
from tests.conftest import BEGUN_NS, MS, SyntheticRun, an_event
from tests.profiles import PID, At, MadeProfile, kernel

RULES = """
outermost = ["Execute"]
families = ["probe_*"]

[[rules]]
work = "hash probe"
symbols = ["probe_*"]
says = "Looks up rows."

[[rules]]
work = "scan"
symbols = ["Scan::Next"]
says = "Reads rows."
"""
# Measured passes of `a` (100 ms) and `b` (300 ms) begin after a warm-up of both.
A_NS = BEGUN_NS + 400 * MS
B_NS = A_NS + 100 * MS
EXECUTE = "Execute(Plan*)"
MEMCPY = At("memcpy", "/lib/libc.so.6")


@pytest.fixture
def made() -> MadeProfile:
    return MadeProfile()


def recorded(synthetic: SyntheticRun, made: MadeProfile, rules: str = RULES) -> Run:
    import tomllib

    synthetic.facts["engine"] = {"operations": tomllib.loads(rules)}
    synthetic.sealed = False
    run = synthetic.write()
    made.write(run.dir / "raw")
    return run


def read(synthetic: SyntheticRun, made: MadeProfile, rules: str = RULES) -> Profile:
    profile = read_profile(recorded(synthetic, made, rules))
    assert profile is not None
    return profile


class TestWhatIsRead:
    def test_a_run_without_a_profile_has_none(self, synthetic: SyntheticRun) -> None:
        assert read_profile(synthetic.write()) is None

    def test_no_sample_is_a_profile_without_rows(
        self, synthetic: SyntheticRun, made: MadeProfile
    ) -> None:
        profile = read(synthetic, made)
        assert profile.samples.is_empty()
        assert symbols_table(profile).is_empty()
        assert work_table(profile).is_empty()
        assert matrix(profile).is_empty()
        assert unclassified(profile).is_empty()
        tree = call_tree(profile)
        assert (tree["samples"], tree["parent"]) == (0, [])

    def test_one_sample_is_all_there_is(self, synthetic: SyntheticRun, made: MadeProfile) -> None:
        made.add(A_NS, EXECUTE, "Scan::Next(Chunk&) const")
        row = symbols_table(read(synthetic, made)).row(0, named=True)
        assert row == {
            "samples": 1,
            "share": 1.0,
            "seconds": 0.002,
            "work": "scan",
            "symbol": "Scan::Next",
            "module": "libengine.so",
            "kind": "symbol",
            "says": "Reads rows.",
            "operations": ["a"],
            "operations_all": True,
        }

    def test_a_killed_run_has_addresses_and_says_so(
        self, synthetic: SyntheticRun, made: MadeProfile
    ) -> None:
        made.symbols = False
        made.add(A_NS, EXECUTE, At("Scan::Next", address=0x1F312))
        profile = read(synthetic, made)
        assert not profile.sampling.symbols
        table = symbols_table(profile)
        assert table.select("symbol", "work").row(0) == ("libengine.so+0x1f312", "unclassified")
        assert unclassified(profile)["symbol"].to_list() == [None]

    def test_bounds_are_shown_where_there_is_no_name(
        self, synthetic: SyntheticRun, made: MadeProfile
    ) -> None:
        made.add(A_NS, "Scan::Next()", At(None, address=0x1F300, size_bytes=0x2A0))
        table = symbols_table(read(synthetic, made))
        shown = table.select("symbol", "kind", "work").row(0)
        assert shown == ("libengine.so+0x1f300..0x1f5a0", "bounds", "scan")

    def test_a_virtual_function_without_a_symbol_is_named_by_class_and_slot(
        self, synthetic: SyntheticRun, made: MadeProfile
    ) -> None:
        name = "(anonymous namespace)::Scan<int, std::less<int>>::[virtual 2]"
        made.add(A_NS, "Scan::Next()", At(name, kind="vtable", address=0x1F300, size_bytes=0x2A0))
        profile = read(synthetic, made)
        shown = symbols_table(profile, families=False).select("symbol", "kind", "work").row(0)
        assert shown == (name, "vtable", "unclassified")
        family = "(anonymous namespace)::Scan<*>::[virtual 2]"
        assert symbols_table(profile)["symbol"].to_list() == [family]

    def test_stacks_that_were_not_written_are_counted(
        self, synthetic: SyntheticRun, made: MadeProfile
    ) -> None:
        made.add(A_NS, "Scan::Next()")
        made.samples.append(made.samples[0] | {"stack": 77})
        profile = read(synthetic, made)
        assert (profile.sampling.torn, profile.samples.height) == (1, 1)

    def test_a_caller_that_comes_later_is_none(
        self, synthetic: SyntheticRun, made: MadeProfile
    ) -> None:
        made.add(A_NS, "Scan::Next()", At(None))
        run = recorded(synthetic, made)
        from tests.profiles import write_rows

        circle = [
            {"stack": 0, "parent": 1, "frame": 0},
            {"stack": 1, "parent": 0, "frame": 1},
        ]
        write_rows(run.dir / "raw" / "stacks.arrows", circle)
        profile = read_profile(Run(run.dir))
        assert profile is not None
        assert profile.stacks["parent"].to_list() == [None, 0]
        assert call_tree(profile)["parent"] == [-1, 0]

    def test_what_was_lost_grows_over_the_measured_part(
        self, synthetic: SyntheticRun, made: MadeProfile
    ) -> None:
        made.counts = [
            {"time_ns": at, "samples": n, "lost": n, "throttled": 0, "cut": 0, "broken": 0}
            for at, n in ((BEGUN_NS, 5), (A_NS + 1, 7), (synthetic.ended_ns + 9, 9))
        ]
        sampling = read(synthetic, made).sampling
        assert (sampling.lost, sampling.throttled) == (4, 0)

    def test_samples_of_others_share_the_room_and_are_counted(
        self, synthetic: SyntheticRun, made: MadeProfile
    ) -> None:
        zero = dict.fromkeys(("samples", "lost", "throttled", "cut", "broken"), 0)
        made.counts = [
            {"time_ns": BEGUN_NS, "elsewhere": 7} | zero,
            {"time_ns": synthetic.ended_ns + 9, "elsewhere": 107} | zero,
        ]
        assert read(synthetic, made).sampling.elsewhere == 100

    def test_it_is_absent_where_it_was_not_recorded(
        self, synthetic: SyntheticRun, made: MadeProfile
    ) -> None:
        assert read(synthetic, made).sampling.lost is None


class TestWhichOperation:
    def places(self, profile: Profile) -> list[str | None]:
        return profile.samples["operation"].to_list()

    def test_only_the_measured_phase_counts(
        self, synthetic: SyntheticRun, made: MadeProfile
    ) -> None:
        made.add(BEGUN_NS + MS, "f")
        made.add(A_NS, "f")
        made.add(synthetic.ended_ns + 1, "f")
        assert self.places(read(synthetic, made)) == ["a"]

    def test_one_session_owns_every_process_by_time(
        self, synthetic: SyntheticRun, made: MadeProfile
    ) -> None:
        made.add(A_NS + MS, "f", pid=7)
        made.add(B_NS + MS, "f", pid=8)
        assert self.places(read(synthetic, made)) == ["a", "b"]

    def test_samples_need_not_be_in_order(self, synthetic: SyntheticRun, made: MadeProfile) -> None:
        made.add(B_NS + MS, "f")
        made.add(A_NS + MS, "f")
        assert self.places(read(synthetic, made)) == ["a", "b"]

    def test_between_operations_is_background(
        self, synthetic: SyntheticRun, made: MadeProfile
    ) -> None:
        synthetic.events = [
            an_event(0, "a", BEGUN_NS, 10),
            an_event(1, "b", BEGUN_NS + 20 * MS, 10),
        ]
        made.add(BEGUN_NS + 15 * MS, "f")
        profile = read(synthetic, made)
        assert self.places(profile) == [None]
        assert profile.sampling.background == 1
        assert symbols_table(profile).is_empty()

    def test_a_thread_is_ours_for_as_long_as_it_is_named_so(
        self, synthetic: SyntheticRun, made: MadeProfile
    ) -> None:
        made.threads = [
            {"time_ns": A_NS + at, "pid": PID, "tid": 7, "name": name}
            for at, name in ((0, "assay-drive"), (10, "engine"), (20, "assay-look"))
        ]
        for at in (5, 15, 25):
            made.add(A_NS + at, "f", tid=7)
        profile = read(synthetic, made)
        assert profile.samples["time_ns"].to_list() == [A_NS + 15]
        assert profile.sampling.ours == 2

    def test_threads_of_ours_are_left_out(self, synthetic: SyntheticRun, made: MadeProfile) -> None:
        made.threads = [
            {"time_ns": BEGUN_NS, "pid": PID, "tid": 2, "name": "assay-recorder"},
            {"time_ns": BEGUN_NS, "pid": PID, "tid": 3, "name": "session"},
        ]
        made.add(A_NS, "f", tid=2)
        made.add(A_NS, "f", tid=3)
        profile = read(synthetic, made)
        assert (profile.samples["tid"].to_list(), profile.sampling.ours) == ([3], 1)

    def test_of_a_whole_machine_other_processes_do_not_count(
        self, synthetic: SyntheticRun, made: MadeProfile
    ) -> None:
        made.facts["whole_machine"] = True
        synthetic.streams["processes"].append(
            synthetic.streams["processes"][0] | {"pid": 999, "account": "driver"}
        )
        made.add(A_NS, "f", pid=100)
        made.add(A_NS, "f", pid=999)
        profile = read(synthetic, made)
        assert (profile.samples["pid"].to_list(), profile.sampling.others) == ([100], 1)

    def test_a_process_too_short_for_the_probe_is_the_engines(
        self, synthetic: SyntheticRun, made: MadeProfile
    ) -> None:
        made.facts["whole_machine"] = True
        made.add(A_NS, "f", pid=998)
        profile = read(synthetic, made)
        assert (profile.samples["pid"].to_list(), profile.sampling.others) == ([998], 0)


class TestWhichSession:
    @pytest.fixture
    def mix(self, synthetic: SyntheticRun) -> SyntheticRun:
        """Two sessions at once, of processes 50 and 51; 60 works for 51."""
        synthetic.events = [
            an_event(0, "a", BEGUN_NS, 100, session=0),
            an_event(1, "b", BEGUN_NS, 100, session=1),
        ]
        return synthetic

    def backends(self) -> dict[str, list[dict[str, Any]]]:
        return {
            "backends": [
                {"time_ns": 1, "session": session, "backend_pid": pid}
                for session, pid in ((0, 50), (1, 51))
            ]
        }

    def test_a_process_tells_it(self, mix: SyntheticRun, made: MadeProfile) -> None:
        mix.streams |= self.backends()
        for pid in (50, 51, 52):
            made.add(BEGUN_NS + MS, "f", pid=pid)
        samples = read(mix, made).samples.sort("pid")
        assert samples.select("session", "operation").rows() == [(0, "a"), (1, "b"), (None, None)]

    def test_a_parallel_worker_works_for_its_leader(
        self, mix: SyntheticRun, made: MadeProfile
    ) -> None:
        mix.streams |= self.backends()
        run = mix
        made.add(BEGUN_NS + MS, "f", pid=60)
        from assay.analysis.server.sessions import owners

        activity = pl.DataFrame(
            {
                "time_ns": [1],
                "pid": [60],
                "leader_pid": [51],
                "application": [None],
                "state": [None],
            },
            schema={
                "time_ns": pl.Int64,
                "pid": pl.UInt32,
                "leader_pid": pl.UInt32,
                "application": pl.String,
                "state": pl.String,
            },
        )
        recorded(run, made)
        path = run.dir / "raw" / "activity.arrows"
        activity.write_ipc_stream(path)
        assert owners(Run(run.dir).table("backends"), activity).height == 3
        profile = read_profile(Run(run.dir))
        assert profile is not None
        assert profile.samples["operation"].to_list() == ["b"]

    def test_threads_of_an_embedded_engine_do_not(
        self, mix: SyntheticRun, made: MadeProfile
    ) -> None:
        mix.events[1] = an_event(1, "b", BEGUN_NS + 150 * MS, 100, session=1)
        made.add(BEGUN_NS + MS, "Scan::Next()", count=2)
        made.add(BEGUN_NS + 125 * MS, "f")
        profile = read(mix, made)
        assert profile.samples["operation"].to_list() == [ALL_TOGETHER, ALL_TOGETHER, None]
        assert not profile.sampling.told_apart
        assert (profile.sampling.background, profile.sampling.unplaced) == (1, 0)
        assert work_table(profile).select("work", "samples").rows() == [("scan", 2)]
        assert call_tree(profile)["samples"] == 2
        share_values = shares(Run(mix.dir), profile)
        assert (share_values.sampled_s, share_values.metered_s) == (0.004, None)

    def test_a_title_tells_the_leader_of_a_worker_too_short_to_be_seen_at_work(
        self, mix: SyntheticRun, made: MadeProfile
    ) -> None:
        about = {"account": "engine", "ppid": 40, "user_ns": 0, "started_ns": 1}
        titled = {"title": "engine: parallel worker for PID 51"}
        named = {"title": "engine: writer"}
        mix.streams |= self.backends()
        mix.streams["processes"] = [
            about | {"time_ns": 1, "pid": 60} | titled,
            about | {"time_ns": 1, "pid": 61} | named,
        ]
        for pid in (40, 60, 61):
            made.add(BEGUN_NS + MS, "f", pid=pid)
        profile = read(mix, made)
        assert profile.samples.sort("pid")["operation"].to_list() == [None, "b", None]
        # Process 40 has begun others, so it is known to be of the server itself; 61 is not known.
        assert profile.sampling.unplaced == 1

    def test_a_process_of_nobody_counts_while_operations_are_under_way(
        self, mix: SyntheticRun, made: MadeProfile
    ) -> None:
        mix.events[1] = an_event(1, "b", BEGUN_NS + 150 * MS, 100, session=1)
        mix.streams |= self.backends()
        made.add(BEGUN_NS + MS, "f", pid=70)
        made.add(BEGUN_NS + 125 * MS, "f", pid=70)
        sampling = read(mix, made).sampling
        assert (sampling.background, sampling.unplaced) == (2, 1)


class TestTables:
    @pytest.fixture
    def profile(self, synthetic: SyntheticRun, made: MadeProfile) -> Profile:
        """Twenty samples: probes in both operations, scans in `b`, an artefact, a missing rule."""
        made.add(A_NS, EXECUTE, "probe_int(int)", count=4)
        made.add(B_NS, EXECUTE, "probe_long(long)", count=5)
        made.add(B_NS, EXECUTE, "Scan::Next()", MEMCPY, count=6)
        made.add(B_NS, EXECUTE, "probe_int(int)", MEMCPY, count=1)
        made.add(B_NS, EXECUTE, "Odd<int>::Thing(int)", count=3)
        made.add(B_NS, EXECUTE, kernel("pv_native_safe_halt"), count=1)
        return read(synthetic, made)

    def test_artefacts_are_outside_of_the_denominator(self, profile: Profile) -> None:
        assert sum(profile.sampling.artefacts.values()) == 1
        assert work_table(profile)["samples"].sum() == 19

    def test_a_family_is_one_line(self, profile: Profile) -> None:
        table = symbols_table(profile)
        probe = table.filter(pl.col("symbol") == "probe_*").row(0, named=True)
        assert (probe["samples"], probe["operations"]) == (9, ["b", "a"])
        opened = symbols_table(profile, families=False)["symbol"].to_list()
        assert {"probe_int", "probe_long", "Odd<int>::Thing"} <= set(opened)

    def test_a_library_has_a_row_for_each_work(self, profile: Profile) -> None:
        memcpy = symbols_table(profile).filter(pl.col("symbol") == "memcpy")
        rows = memcpy.select("work", "samples", "says").rows()
        assert rows == [("scan", 6, "Reads rows."), ("hash probe", 1, "Looks up rows.")]

    def test_most_samples_come_first_and_shares_add_up(self, profile: Profile) -> None:
        table = symbols_table(profile)
        assert table["samples"].is_sorted(descending=True)
        assert table["share"].sum() == pytest.approx(1)

    def test_one_operation_only(self, profile: Profile) -> None:
        table = symbols_table(profile, "a")
        assert table.select("symbol", "samples", "share").rows() == [("probe_*", 4, 1.0)]

    def test_the_matrix_has_shares_of_each_operation(self, profile: Profile) -> None:
        assert matrix(profile).select("operation", "work", "samples", "share").rows() == [
            ("a", "hash probe", 4, 1.0),
            ("b", "hash probe", 6, 0.4),
            ("b", "scan", 6, 0.4),
            ("b", "unclassified", 3, 0.2),
        ]

    def test_what_to_write_next(self, profile: Profile) -> None:
        row = unclassified(profile).row(0, named=True)
        assert (row["symbol"], row["samples"]) == ("Odd<int>::Thing", 3)
        assert (row["callers"], row["operations"]) == (["Execute"], ["b"])
        assert row["share"] == pytest.approx(3 / 19)
        assert unclassified(profile, "b")["share"].item() == pytest.approx(3 / 15)
        assert unclassified(profile, "a").is_empty()

    def test_all_artefacts_leave_nothing_to_share(
        self, synthetic: SyntheticRun, made: MadeProfile
    ) -> None:
        made.add(A_NS, EXECUTE, kernel("pv_native_safe_halt"), count=3)
        profile = read(synthetic, made)
        assert symbols_table(profile).is_empty()
        assert list(profile.sampling.artefacts.values()) == [3]
        assert call_tree(profile)["works"] == ["artefact"]

    def test_rules_of_the_reader_come_first(
        self, synthetic: SyntheticRun, made: MadeProfile
    ) -> None:
        made.add(A_NS, EXECUTE, "Scan::Next()")
        mine = parse_rules(
            '[[rules]]\nwork = "decode"\nsymbols = ["Scan::*"]\nsays = "It decodes."', "my.toml"
        )
        profile = read_profile(recorded(synthetic, made), mine)
        assert profile is not None
        assert work_table(profile)["work"].to_list() == ["decode"]


class TestCallTree:
    def test_it_merges_by_label_and_counts_by_operation(
        self, synthetic: SyntheticRun, made: MadeProfile
    ) -> None:
        made.add(A_NS, "main", At("Scan::Next(int)", address=1), count=2)
        made.add(B_NS, "main", At("Scan::Next(int)", address=2), count=3)
        made.add(B_NS, "main", "probe_x", count=1)
        tree = call_tree(read(synthetic, made))
        names = [tree["labels"][at] for at in tree["label"]]
        works = [tree["works"][at] for at in tree["work"]]
        assert names == ["main", "Scan::Next", "probe_x"]
        assert works == ["scan", "scan", "hash probe"]
        assert (tree["parent"], tree["own"], tree["total"]) == ([-1, 0, 0], [0, 5, 1], [6, 5, 1])
        assert tree["counts"] == {"a": [[1], [2]], "b": [[1, 2], [3, 1]]}

    def test_small_nodes_are_one_of_their_caller(
        self, synthetic: SyntheticRun, made: MadeProfile
    ) -> None:
        made.add(A_NS, "main", "big", count=8)
        made.add(A_NS, "main", "small", "smaller", count=1)
        made.add(A_NS, "main", "tiny", count=1)
        tree = call_tree(read(synthetic, made), share_min=0.15)
        names = [tree["labels"][at] for at in tree["label"]]
        assert dict(zip(names, tree["total"], strict=True)) == {"main": 10, "big": 8, "…": 2}

    def test_one_operation_only(self, synthetic: SyntheticRun, made: MadeProfile) -> None:
        made.add(A_NS, "main", count=2)
        made.add(B_NS, "main", count=3)
        tree = call_tree(read(synthetic, made), "a")
        assert (tree["operations"], tree["samples"]) == (["a"], 2)
