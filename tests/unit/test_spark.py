"""Spark's settings, addresses, counters and plans, without a Spark."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest

from assay.analysis.cluster.counters import cluster_facts
from assay.engines.contract import EngineError, Product
from assay.engines.discovery import find_engine
from assay.engines.spark import configuration, tables
from assay.engines.spark.connecting import read_dsn, set_statement
from assay.engines.spark.counters import SparkCounters, added, task_sums
from assay.engines.spark.executors import workers_of
from assay.engines.spark.plans import normalised
from assay.engines.spark.programs import Programs, find_home

DATA = Path(__file__).parent / "data" / "spark"


@pytest.fixture
def programs(tmp_path: Path) -> Programs:
    """A Spark that knows two settings."""
    jars = tmp_path / "jars"
    jars.mkdir()
    with zipfile.ZipFile(jars / "spark-core_2.13-4.3.0.jar", "w") as jar:
        names = b"\x00spark.shuffle.file.buffer\x00\x01spark.reducer.maxSizeInFlight\x00"
        jar.writestr("org/apache/spark/internal/config/package$.class", names)
        jar.writestr("org/apache/spark/scheduler/Task.class", b"\x00spark.no.setting\x00")
    return Programs(tmp_path, Path("/usr/bin/java"))


class TestPrograms:
    def test_version_and_settings_are_those_of_the_jars(self, programs: Programs) -> None:
        assert programs.version == "4.3.0"
        assert programs.settings == {"spark.shuffle.file.buffer", "spark.reducer.maxSizeInFlight"}

    def test_a_directory_without_jars_is_no_spark(self, tmp_path: Path) -> None:
        with pytest.raises(EngineError, match="the directory that contains 'jars'"):
            find_home(Product("", tmp_path))

    def test_without_its_driver_of_jdbc_it_is_refused(self, programs: Programs) -> None:
        with pytest.raises(EngineError, match="Thrift server"):
            programs.jdbc()


class TestSettings:
    def test_known_ones_are_taken(self, programs: Programs) -> None:
        given = {"spark.shuffle.file.buffer": "64k", "workers": "3", "spark.hadoop.a.b": "1"}
        configuration.check(given, programs)
        assert configuration.spark_settings(given) == {
            "spark.shuffle.file.buffer": "64k",
            "spark.hadoop.a.b": "1",
        }

    @pytest.mark.parametrize(
        ("name", "value", "message"),
        [
            ("spark.shuffle.file.bufer", "1", "did you mean 'spark.shuffle.file.buffer'"),
            ("worker", "1", "did you mean 'workers'"),
            ("workers", "0", "a whole number from 1"),
            ("workers", "many", "a whole number from 1"),
            ("cores", "65", "a whole number from 1 to 64"),
            (
                "spark.master",
                "local",
                r"Assay itself sets spark\.master on a private cluster: remove it",
            ),
            ("spark.authenticate", "false", r"sets spark\.authenticate on a private"),
            ("spark.authenticate.secret", "x", r"sets spark\.authenticate\.secret on a private"),
            ("spark.ui.filters", "x", r"sets spark\.ui\.filters on a private"),
            (
                "spark.executor.cores",
                "2",
                r"sets spark\.executor\.cores .* workers and cores determine",
            ),
        ],
    )
    def test_others_are_refused(
        self, programs: Programs, name: str, value: str, message: str
    ) -> None:
        with pytest.raises(EngineError, match=message):
            configuration.check({name: value}, programs)

    def test_they_are_checked_of_a_product_that_somebody_else_obtained(
        self, programs: Programs
    ) -> None:
        engine, product = find_engine("spark").engine(), Product("4.3.0", programs.home)
        engine.check_settings(product, {"workers": "3"})
        with pytest.raises(EngineError, match="did you mean"):
            engine.check_settings(product, {"spark.shuffle.file.bufer": "1"})

    def test_a_heap_has_a_unit(self) -> None:
        with pytest.raises(EngineError, match="such as 640m"):
            configuration.shape_of({"spark.executor.memory": "many"})


class TestAddress:
    def test_a_thrift_server_with_settings(self) -> None:
        address = read_dsn("hive2://there:10001/sales?spark.sql.shuffle.partitions=4")
        assert address["url"] == "jdbc:hive2://there:10001/sales"
        assert address["setup"] == ["set spark.sql.shuffle.partitions=4"]

    @pytest.mark.parametrize("dsn", ["hive2://", "hive2://there:port/", "hive2://a:b@there/"])
    def test_a_wrong_one_is_refused_and_not_quoted(self, dsn: str) -> None:
        with pytest.raises(EngineError, match="hive2://HOST:PORT/DATABASE") as caught:
            read_dsn(dsn)
        assert dsn not in str(caught.value).replace("hive2://HOST", "")

    def test_a_master_is_told_apart_from_a_thrift_server(self) -> None:
        with pytest.raises(EngineError, match="--master spark://there:7077"):
            read_dsn("spark://there:7077")

    def test_pages_of_a_driver_are_no_setting(self) -> None:
        address = read_dsn("hive2://there/sales?ui=node1:4041&spark.sql.shuffle.partitions=4")
        assert address["ui"] == ["node1", 4041]
        assert address["setup"] == ["set spark.sql.shuffle.partitions=4"]
        assert read_dsn("hive2://there/?ui=node1")["ui"] == ["node1", 4040]
        assert "ui" not in read_dsn("hive2://there/")

    @pytest.mark.parametrize("place", ["", ":4040", "http://there:4040", "there:port"])
    def test_wrong_pages_are_refused(self, place: str) -> None:
        with pytest.raises(EngineError, match="host and the port of the driver"):
            read_dsn(f"hive2://there/?ui={place}")

    def test_a_setting_is_no_statement(self) -> None:
        with pytest.raises(EngineError, match="a value of a setting cannot contain a semicolon"):
            set_statement("a", "1; drop table t")


class TestTables:
    @pytest.mark.parametrize(
        ("kind", "name"),
        [
            (pa.decimal128(15, 2), "decimal(15, 2)"),
            (pa.int64(), "bigint"),
            (pa.date32(), "date"),
            (pa.string(), "string"),
            (pa.timestamp("us"), "timestamp_ntz"),
        ],
    )
    def test_types(self, kind: pa.DataType, name: str) -> None:
        assert tables.type_name(kind) == name

    def test_an_unknown_type_is_told(self) -> None:
        with pytest.raises(EngineError, match=r"cast the column in the data\."):
            tables.type_name(pa.duration("s"))


def task(executor: str, remote: int, records: int, wait_ms: int) -> dict[str, object]:
    """A task as the driver tells it."""
    return {
        "executorId": executor,
        "schedulerDelay": 7,
        "taskMetrics": {
            "executorRunTime": 20,
            "executorCpuTime": 9_000_000,
            "executorDeserializeCpuTime": 1_000_000,
            "inputMetrics": {"recordsRead": records},
            "shuffleReadMetrics": {
                "remoteBlocksFetched": remote,
                "fetchWaitTime": wait_ms,
                "recordsRead": 3,
            },
        },
    }


class Told:
    """A driver that tells what a test says."""

    def __init__(self, answers: dict[str, object]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    def get(self, path: str) -> object:
        self.asked.append(path)
        return self.answers.get(path)

    def close(self) -> None:
        """There is no line."""


def stage(status: str) -> list[dict[str, object]]:
    return [{"status": status, "attemptId": 0, "numTasks": 2}]


class TestCounters:
    def test_tasks_are_summed_by_executor(self) -> None:
        sums = task_sums([task("0", 2, 10, 5), task("0", 1, 1, 1), task("1", 4, 0, 0)])
        assert sums["0"]["remoteBlocksFetched"] == 3
        assert sums["0"]["inputRecords"] == 11
        assert sums["0"]["shuffleRecordsRead"] == 6
        assert sums["0"]["fetchWaitTime"] == 6
        assert sums["0"]["cpuTime"] == 20_000_000
        assert sums["0"]["schedulerDelay"] == 14
        assert sums["0"]["tasks"] == 2
        assert sums["1"]["remoteBlocksFetched"] == 4

    def test_a_task_that_has_told_nothing_counts_as_one(self) -> None:
        assert task_sums([{"executorId": "0"}])["0"]["tasks"] == 1
        assert added([{"0": {"a": 1.0}}, {"0": {"a": 2.0}, "1": {"a": 3.0}}]) == {
            "0": {"a": 3.0},
            "1": {"a": 3.0},
        }

    def test_a_stage_that_ended_is_read_once_and_one_that_runs_anew(self) -> None:
        logs = {"stderr": "http://127.0.0.1:81/logPage/?executorId=0"}
        executors = [{"id": "0", "isActive": True, "executorLogs": logs}]
        tasks = "/0/taskList?length=1000000"
        driver = Told(
            {
                "allexecutors": executors,
                "stages/0?details=false": stage("COMPLETE"),
                f"stages/0{tasks}": [task("0", 2, 0, 0)],
                "stages/1?details=false": stage("ACTIVE"),
                f"stages/1{tasks}": [task("0", 1, 0, 0)],
                "stages/2?details=false": stage("SKIPPED"),
            }
        )
        reader = SparkCounters({"ours": True, "ui": ["127.0.0.1", 1], "worker_pages": [80, 81]})
        reader._rest = driver  # type: ignore[assignment]

        def blocks() -> dict[str, float]:
            rows = reader.read()
            return {node: value for _, node, name, value in rows if name == "remoteBlocksFetched"}

        assert blocks() == {"worker-2": 3}
        driver.answers[f"stages/1{tasks}"] = [task("0", 5, 0, 0)]
        assert blocks() == {"worker-2": 7}
        driver.answers["stages/1?details=false"] = stage("COMPLETE")
        driver.asked.clear()
        assert blocks() == {"worker-2": 7}
        assert blocks() == {"worker-2": 7}
        assert [path for path in driver.asked if "taskList" in path] == [f"stages/1{tasks}"]

    def test_of_a_driver_of_others_stages_count_from_the_first_reading_on(self) -> None:
        logs = {"stderr": "http://10.0.0.7:8081/logPage/?executorId=0"}
        executors = [
            {"id": "driver", "isActive": True, "hostPort": "10.0.0.5:7078"},
            {"id": "0", "isActive": True, "hostPort": "10.0.0.7:4000", "executorLogs": logs},
            {"id": "1", "isActive": True, "hostPort": "10.0.0.8:4000"},
        ]
        tasks = "/0/taskList?length=1000000"
        driver = Told(
            {
                "allexecutors": executors,
                "stages?details=false": [{"stageId": 907}, {"stageId": 906}],
                "stages/908?details=false": stage("COMPLETE"),
                f"stages/908{tasks}": [task("0", 2, 0, 0), task("1", 1, 0, 0)],
            }
        )
        address = {"ours": False, "ui": ["10.0.0.5", 4040]}
        reader = SparkCounters(address)
        reader._rest = driver  # type: ignore[assignment]
        rows = {node: value for _, node, name, value in reader.read() if name == "tasks"}
        assert rows == {"10.0.0.7:8081": 1, "10.0.0.8": 1}
        assert workers_of(executors, address)["driver"] == ("driver", "10.0.0.5")

    def test_a_driver_whose_pages_are_not_known_counts_nothing(self) -> None:
        assert SparkCounters({"ours": False}).read() == []

    def test_every_word_is_counted_or_said_to_be_missing(self) -> None:
        facts = cluster_facts(find_engine("spark").counters())
        assert facts is not None
        assert set(facts.says) == set(facts.counters)

    def test_knobs_name_counters_that_there_are(self) -> None:
        folder = find_engine("spark")
        facts = cluster_facts(folder.counters())
        knobs = folder.knobs()
        assert facts is not None
        assert knobs is not None
        figures = {counter["name"] for counter in (folder.counters() or {})["counters"]}
        named = {
            word
            for knob in knobs.knobs.values()
            for word in (*knob.moves, *knob.scheduling, *knob.blocking)
        }
        assert named <= set(facts.counters) | figures


class TestPlans:
    def test_the_tree_has_what_was_counted(self) -> None:
        text = (DATA / "q14.json").read_text(encoding="utf-8")
        plan = normalised(text, "q14", 0, "q14-0.json")
        assert [node.operator for node in plan.root.walk()] == [
            *("aggregate", "exchange", "aggregate", "projection", "hash join"),
            *("projection", "filter", "other", "scan"),
            *("exchange", "filter", "other", "scan"),
        ]
        scans = [node for node in plan.root.walk() if node.operator == "scan"]
        assert [(scan.object, scan.rows) for scan in scans] == [
            ("lineitem", 60_175),
            ("part", 2_000),
        ]
        join = next(node for node in plan.root.walk() if node.operator == "hash join")
        assert join.rows == 722
        assert "l_partkey" in str(join.condition)
        assert plan.timed
        assert plan.execution_s == pytest.approx(9.262)

    def test_without_an_execution_it_has_its_shape_only(self) -> None:
        document = json.loads((DATA / "q14.json").read_text(encoding="utf-8"))
        plan = normalised(json.dumps({"planDescription": document["planDescription"]}), "q", 0, "q")
        assert not plan.timed
        assert len(list(plan.root.walk())) == 13
        assert all(node.rows is None for node in plan.root.walk())

    @pytest.mark.parametrize("message", ["{}", '{"planDescription": "nothing"}', "[]"])
    def test_other_words_are_no_plan(self, message: str) -> None:
        with pytest.raises(ValueError, match="Spark's plan"):
            normalised(message, "q", 0, "q")
