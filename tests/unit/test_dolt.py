"""Dolt without a server: its settings, its plans, its metrics."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from assay.engines.contract import EngineError, Product
from assay.engines.discovery import find_engine
from assay.engines.dolt.configuration import configured, is_variable, refuse_ours
from assay.engines.dolt.counters import DoltCounters, metrics
from assay.engines.dolt.engine import DoltEngine
from assay.engines.dolt.plans import REASON, normalised
from assay.engines.dolt.programs import CONF, find_program
from assay.engines.dolt.server import default_settings, is_old
from assay.engines.obtaining import resolve
from assay.model.plan import OPERATORS, Plan

NATIVE = Path(__file__).parents[1] / "native_plans" / "dolt"


def plan(name: str) -> Plan:
    return normalised((NATIVE / f"{name}.txt").read_text("utf-8"), name, 0, f"{name}.txt")


class TestVersions:
    @pytest.mark.parametrize(
        ("asked", "version"),
        [
            (None, "2.2.0"),
            ("2.1", "2.1.4"),
            ("1", "1.88.1"),
            ("1.83.2", "1.83.2"),
            ("1.26", "1.26.1"),
        ],
    )
    def test_they_stand_side_by_side(self, asked: str | None, version: str) -> None:
        assert resolve(find_engine("dolt").facts, asked).version == version

    def test_each_is_a_commit_of_its_own(self) -> None:
        packages = [product.package for product in find_engine("dolt").facts.products]
        assert len(set(packages)) == len(packages)
        assert all(package.endswith(" libicu-dev") for package in packages)

    def test_a_directory_without_the_program_is_told(self, tmp_path: Path) -> None:
        with pytest.raises(EngineError, match="has no program `dolt`:"):
            find_program(tmp_path)

    def test_a_program_that_is_no_dolt_is_told(self, tmp_path: Path) -> None:
        file = tmp_path / "dolt"
        file.write_text("#!/bin/sh\necho something else\n")
        file.chmod(0o755)
        with pytest.raises(EngineError, match=r"or is not Dolt: something else\."):
            find_program(tmp_path).version()

    def test_what_it_warns_of_is_no_version(self, tmp_path: Path) -> None:
        file = tmp_path / "dolt"
        file.write_text(
            "#!/bin/sh\necho dolt version 1.2.3\necho 'Warning: version 9.9.9 is out'\n"
        )
        file.chmod(0o755)
        assert find_program(tmp_path).version() == "1.2.3"

    def test_another_version_than_was_asked_for_is_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from assay.engines.contract import Wanted, tell_nobody

        (tmp_path / "bin").mkdir()
        file = tmp_path / "bin" / "dolt"
        file.write_text("#!/bin/sh\necho dolt version 9.9.9\n")
        file.chmod(0o755)
        made = Product("2.2.0", tmp_path, {})
        monkeypatch.setattr("assay.engines.dolt.engine.obtain", lambda *_: made)
        engine = DoltEngine(find_engine("dolt").facts)
        with pytest.raises(
            EngineError,
            match=r"should contain Dolt 2\.2\.0, but the program reports version 9\.9\.9:",
        ):
            engine.obtain(Wanted(tmp_path), tell_nobody)


class TestSettings:
    def test_points_lead_through_sections(self) -> None:
        text = configured(
            {
                "behavior.auto_gc_behavior.enable": "false",
                "listener.max_connections": "30",
                "log_level": "error",
                "Dolt_Stats_Enabled": "0",
                "time_zone": "+00:00",
            }
        )
        assert json.loads(text) == {
            "behavior": {"auto_gc_behavior": {"enable": False}},
            "listener": {"max_connections": 30},
            "log_level": "error",
            "system_variables": {"dolt_stats_enabled": 0, "time_zone": "+00:00"},
        }

    def test_a_dollar_is_no_name_of_the_environment(self) -> None:
        assert '"a$${b}"' in configured({"log_format": "a${b}"})

    def test_what_is_no_section_is_told(self) -> None:
        with pytest.raises(
            EngineError, match=r"log_level\.x: log_level is not a section of the configuration"
        ):
            configured({"log_level": "error", "log_level.x": "1"})

    @pytest.mark.parametrize("name", ["data_dir", "listener.port", "Secure_File_Priv"])
    def test_what_is_ours_to_set(self, name: str) -> None:
        with pytest.raises(
            EngineError, match=r"Assay itself sets .* on a server that it starts: remove it"
        ):
            refuse_ours({name: "x"})

    @pytest.mark.parametrize(
        ("name", "variable"), [("dolt_stats_enabled", True), ("a.b", False), ("log_level", False)]
    )
    def test_variables_are_told_from_keys(self, name: str, *, variable: bool) -> None:
        assert is_variable(name) == variable

    @pytest.mark.parametrize(("version", "is_known"), [("1.26.1", False), ("2.2.0", True)])
    def test_an_old_version_is_told_what_it_knows(self, version: str, *, is_known: bool) -> None:
        given = default_settings(version)
        assert given["log_level"] == "error"
        assert ("behavior.auto_gc_behavior.enable" in given) == is_known
        assert is_old(version) != is_known

    @pytest.mark.parametrize("name", ["run.cnf", "run-old.cnf"])
    def test_every_setting_of_ours_has_a_reason_beside_it(self, name: str) -> None:
        lines = (CONF / name).read_text("utf-8").splitlines()
        said = [text for text, two in itertools.pairwise(lines) if "=" in two]
        assert all(text.startswith("#") or "=" in text for text in said)


class TestPlans:
    @pytest.mark.parametrize("name", [file.stem for file in sorted(NATIVE.glob("*.txt"))])
    def test_each_is_a_tree_of_known_operators(self, name: str) -> None:
        made = plan(name)
        assert {node.operator for node in made.root.walk()} <= set(OPERATORS) - {"other"}
        assert Plan.read(made.facts()) == made
        assert (made.timed, made.reason, made.seconds) == (False, REASON, None)

    def test_a_join_has_what_it_reads_below_it(self) -> None:
        nodes = list(plan("join").root.walk())
        assert [node.operator for node in nodes] == [
            "projection",
            "aggregate",
            "nested loop",
            "index scan",
            "index scan",
        ]
        first, second = nodes[3:]
        assert (first.object, first.index, first.condition) == ("a", "a.ol_i_id", "[{(NULL, 500)}]")
        assert (second.object, second.native) == ("c", "IndexedTableAccess")
        assert second.condition == "a.ol_w_id, a.ol_d_id, a.ol_o_id, a.ol_number"
        assert first.columns == ("ol_o_id", "ol_d_id", "ol_w_id", "ol_number", "ol_i_id")

    def test_ranges_are_what_is_looked_up(self) -> None:
        made = plan("tpcc-by-name")
        assert made.reads is not None
        assert (made.reads.index_lookups, made.reads.index_rows) == (1.0, None)
        joined = plan("tpcc-update-stock").reads
        assert joined is not None
        assert joined.index_lookups is None
        assert "not told" in joined.source

    def test_a_join_may_scan_one_table_and_look_up_the_other(self) -> None:
        scans = [node for node in plan("tpcc-customer").root.walk() if "scan" in node.operator]
        assert [(node.operator, node.object, node.columns) for node in scans] == [
            ("scan", "warehouse", ("w_id", "w_tax")),
            (
                "index scan",
                "customer",
                ("c_id", "c_d_id", "c_w_id", "c_last", "c_credit", "c_discount"),
            ),
        ]

    def test_a_change_says_which_table_it_changes(self) -> None:
        assert plan("tpcc-update-stock").root.object == "stock"
        put = plan("tpcc-new-order").root
        assert (put.object, put.native) == ("new_order", "Insert")
        # The table that rows are put into is not read.
        assert {node.operator for node in put.walk()} == {"modify", "projection", "values"}

    def test_conditions_of_filters_and_joins_are_kept(self) -> None:
        by_native = {node.native: node for node in plan("hash").root.walk()}
        assert by_native["HashJoin"].condition == "(a.ol_o_id = c.ol_o_id)"
        assert by_native["HashJoin"].operator == "hash join"
        assert by_native["HashLookup"].operator == "hash build"
        assert by_native["TopN"].operator == "top-n"

    def test_a_subquery_in_a_list_is_a_subquery(self) -> None:
        nodes = list(plan("union").root.walk())
        assert nodes[0].operator == "set operation"
        (subquery,) = [node for node in nodes if node.operator == "subquery"]
        assert {node.object for node in subquery.walk() if node.object} == {"b"}
        assert "window" in {node.operator for node in nodes}

    def test_a_change_stands_above_what_it_reads(self) -> None:
        root = plan("update").root
        assert [node.operator for node in root.walk()] == ["modify", "projection", "index scan"]

    @pytest.mark.parametrize("text", ["", "nonsense", "{}", "Project\nProject", "     └─ Project"])
    def test_other_words_are_refused(self, text: str) -> None:
        with pytest.raises(ValueError, match="the text is not a Dolt plan:"):
            normalised(text, "q", 0, "q.txt")


class Silent:
    """A reader of nothing."""

    def read(self) -> list[tuple[str, str, str, float]]:
        return []

    def close(self) -> None:
        pass


def stored(reader: DoltCounters) -> dict[str, float]:
    return {counter: value for _, _, counter, value in reader.read()}


class TestCounters:
    def test_counters_without_labels_are_read(self) -> None:
        text = """# TYPE go_goroutines gauge
go_goroutines 29
go_gc_duration_seconds{quantile="0"} 4.9e-05
go_gc_duration_seconds_sum 0.000478951
process_open_fds 14
sys_cpu_usage 80
"""
        assert metrics(text) == [
            ("metrics", "server", "go_goroutines", 29.0),
            ("metrics", "server", "go_gc_duration_seconds_sum", 0.000478951),
        ]

    def test_files_are_measured_and_collections_seen(self, tmp_path: Path) -> None:
        chunks = tmp_path / "shop" / ".dolt" / "noms"
        (chunks / "oldgen").mkdir(parents=True)
        (chunks / ("v" * 32)).write_bytes(bytes(70))
        (chunks / "abc.darc").write_bytes(bytes(30))
        (chunks / "oldgen" / "def.darc").write_bytes(bytes(11))
        reader = DoltCounters(Silent(), {"data": str(tmp_path)})
        seen = []
        for generation in ("one", "one", "two", "three"):
            manifest = f"5:__DOLT__:lock:root:{generation}:abc:1"
            (chunks / "manifest").write_text(manifest)
            seen.append(stored(reader)["collections"])
        assert seen == [0, 0, 1, 2]
        counters = stored(reader)
        assert (counters["journal_bytes"], counters["history_bytes"]) == (70, 11)
        assert counters["table_bytes"] == 30 + len(manifest)

    def test_without_files_there_is_nothing(self, tmp_path: Path) -> None:
        assert DoltCounters(Silent(), {"data": str(tmp_path)}).read() == []
        assert DoltCounters(Silent(), {}).read() == []

    def test_metrics_that_cannot_be_read_are_told(self) -> None:
        reader = DoltCounters(Silent(), {"metrics_port": 1, "host": "127.0.0.1"})
        with pytest.raises(OSError, match="refused"):
            reader.read()


def test_rows_are_looked_at_on_their_way() -> None:
    import pyarrow as pa

    from assay.engines.dolt.loading import refuse_words

    def rows(texts: Sequence[str | None]) -> pa.RecordBatchReader:
        table = pa.table({"n": list(range(len(texts))), "t": pa.array(texts, pa.string())})
        return table.to_reader(max_chunksize=2)

    assert refuse_words("x", rows(["a", None, "null"])).read_all().num_rows == 3
    with pytest.raises(EngineError, match=r"x\.t contains the text NULL,"):
        refuse_words("x", rows(["a", "b", "NULL"])).read_all()
