"""What is asked for is understood, or refused in words before anything is started."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from assay.cli.main import run_command
from assay.model.errors import UsageError
from assay.running.asked.asking import considered, understood
from assay.running.asked.request import RunRequest

if TYPE_CHECKING:
    from assay.running.asked.asked_run import Asked


class Silent:
    """A teller that tells nobody."""

    def phase(self, name: str, begun_s: float | None = None) -> None:
        pass

    def amount(self, done: float, expected: float | None, unit: str) -> None:
        pass

    def record(self, directory: Path) -> None:
        pass


def asked(workload: str, clients: int | None = None) -> Asked:
    return understood(
        RunRequest(workload=workload, engine="null", scale=0.01, clients=clients), Silent()
    )


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place in which nothing is set, and which every file of a run would be in."""
    for name in ("ASSAY_RUNS", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.chdir(tmp_path)
    return tmp_path


SQL = str(Path(__file__).parents[2] / "python/assay/engines/postgresql/conf/checkpoint.sql")
POSTGRESQL = ("--engine", "postgresql")
OWN = ("--device", "own", "--allow-host-changes")
DSN = ("--dsn", "postgresql://nobody@127.0.0.1:1/none")


class TestOptionsThatWouldDoNothing:
    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            (("tpch", "--keep-data"), ("--keep-data", "--dsn")),
            (("tpch", "--engine", "null", "--prepare", SQL), ("--prepare", "null", "SQL")),
            (("tpch", "--keep-data", "--prepare", SQL, *DSN), ("--prepare", "--keep-data")),
            (("tpch", "--bin-dir", "/bin", *DSN), ("--bin-dir", "running server")),
            (("tpch", "--bin-dir", "/bin"), ("--bin-dir", "duckdb", "--engine")),
            (("tpch", "--time", "3s"), ("--time", "--clients", "--min-time")),
            (("tpch", "--warmup", "3s"), ("--warmup", "--clients")),
            (("tpch", "--rate", "50"), ("--rate", "--clients")),
            (("tpch", "--retries", "0"), ("--retries", "--clients")),
            (
                ("tpcc", "--engine", "duckdb"),
                ("cannot run such programs on duckdb", "postgresql", "--engine"),
            ),
            (("tpcc", "--engine", "null", "--warehouses", "0.5"), ("0.5", "warehouses")),
            (("tpch", "--warehouses", "2"), ("--warehouses", "--scale")),
            (("tpch", "--think-time"), ("--think-time",)),
            (("tpcc", "--engine", "null", "--durability", "weird"), ("--durability", "null")),
            (("tpch", "--probes", "wait"), ("unknown probe 'wait'", "did you mean 'waits'?")),
            (("tpch", "--probes", "none,all"), ("--probes none,all", "names such as")),
            (("tpch", "--probes", "profile"), ("--probes profile", "--profile")),
            (("point-select", "--min-time", "3s"), ("--min-time", "--time")),
            (("tpch", "--clients", "2", "--min-time", "3s"), ("--min-time", "--time")),
            (("tpch", "--no-refresh"), ("--no-refresh applies to a test", "--test")),
            (("tpch", "--refresh"), ("--refresh applies to a test", "--test")),
            (("tpch", "--refresh-batches", "2"), ("--refresh-batches applies to a test", "--test")),
            (("tpch", "--test", "power", "--clients", "4"), ("--test and --clients", "remove one")),
            (("tpch", "--test", "power", "--time", "5s"), ("--test and --time", "remove one")),
            (("tpch", "--test", "power", "--rate", "5"), ("--test and --rate", "remove one")),
            (("tpch", "--test", "full", "--min-time", "5s"), ("--test and --min-time", "remove")),
            (
                ("tpch", "--test", "power", "--operation", "q01"),
                ("--test and --operation", "remove"),
            ),
            (("tpch", "--operation", "q1"), ("no operation 'q1'", "did you mean 'q")),
            (("tpcb", "--operation", "balances"), ("no operation 'balances'", "transfer")),
            (("point-select", "--test", "full"), ("point-select is a mix", "remove --test")),
            (
                ("tpch", "--test", "full", "--scale", "0.01", "--streams", "600"),
                ("1202 refresh sets", "--streams 498 at most", "--no-refresh"),
            ),
            (
                ("tpch", "--test", "throughput", "--scale", "0.001", "--streams", "800"),
                ("800 refresh sets", "--streams 750 at most", "--no-refresh"),
            ),
            (("tpch", "--test", "power", "--seed", "0"), ("--seed 0", "use another seed")),
            (("tpch", "--limit", "cpu"), ("--limit cpu", "--limit name=value")),
            (("tpch", "--limit", "cpu=half"), ("--limit cpu=half", "write it like")),
            (("tpch", "--limit", "cpu=1", *DSN), ("--limit cpu", "--dsn", "does not limit")),
            (("tpch", "--engine", "null", "--limit", "cpu=1"), ("--limit cpu", "null")),
            (
                ("tpch", "--engine", "postgresql", "--limit", "cpus=1", "--pin", "engine=0"),
                ("--limit cpus and --pin engine", "remove one"),
            ),
            (("tpch", "--limit", "cpus=4096"), ("--limit cpus=4096", "a smaller number")),
            (("tpch", "--read-ahead", "0"), ("--read-ahead", "add --allow-host-changes")),
            (("tpch", "--read-ahead", "100"), ("--read-ahead 100", "whole KiB")),
            (("tpch", "--device", "own"), ("--device", "add --allow-host-changes")),
            (("tpcc", *POSTGRESQL, "--copies", "2"), ("--copies", "add --device own")),
            (("tpcc", *POSTGRESQL, "--copies", "2", "--kill", "1s"), ("--kill", "remove one of")),
            (("tpch", "--copies", "2", *OWN), ("--copies", "applies to a mix", "--clients N")),
            (("tpch", "--copies", "2", "--clients", "2", *OWN), ("--copies", "one of tpcc")),
            (("tpch", "--device", "mine"), ("--device mine", "own:4GB")),
            (("tpch", "--device", "own:1MB"), ("--device own:1MB", "the minimum size")),
            (("tpch", "--device", "own", *DSN), ("--device", "--dsn", "files of a running server")),
            (
                ("tpch", "--engine", "null", "--device", "own", "--allow-host-changes"),
                ("--device", "null stores no data"),
            ),
            (("tpch", "--parameters", "drawn", "--seed", "0"), ("--seed 0", "use another seed")),
        ],
    )
    def test_they_are_refused_with_the_mend(
        self,
        nowhere: Path,
        capsys: pytest.CaptureFixture[str],
        arguments: tuple[str, ...],
        sentence: tuple[str, ...],
    ) -> None:
        assert run_command(["run", *arguments]) == 1
        message = capsys.readouterr().err
        assert all(word in message for word in sentence), message
        assert "say --min-time" not in message or "--test" not in arguments
        assert not list(nowhere.iterdir())

    def test_defaults_of_a_file_are_for_whatever_they_fit(
        self, nowhere: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (nowhere / "assay.toml").write_text('[run]\nmin_time = "1s"\ntime = "1s"\nrate = 5\n')
        for workload in ("tpch", "point-select"):
            assert run_command(["run", workload, "--pin", "nobody=1"]) == 1
            assert "--pin nobody=1" in capsys.readouterr().err


class TestOnlySomeOperations:
    def test_the_order_is_the_workload_s_and_what_is_left_out_is_not_asked(self) -> None:
        request = RunRequest(workload="tpch", engine="null", scale=0.01, operations=["q01", "q06"])
        run = understood(request, Silent())
        assert run.plan["operations"] == ["q06", "q01"]
        assert [operation.name for operation in run.script.operations] == ["q06", "q01"]
        assert list(run.facts()["statements"]) == ["q06", "q01"]

    def test_the_data_and_the_number_of_the_workload_s_queries_stay(self) -> None:
        some = understood(
            RunRequest(workload="tpch", engine="null", scale=0.01, operations=["q06"]), Silent()
        )
        every = understood(RunRequest(workload="tpch", engine="null", scale=0.01), Silent())
        assert some.workload.content_hash == every.workload.content_hash
        assert some.facts()["workload"]["queries"] == 22

    def test_a_mix_keeps_its_weights_and_what_is_asked_after_it(self) -> None:
        request = RunRequest(workload="tpcb", engine="duckdb", scale=1, operations=["transfer"])
        plan = understood(request, Silent()).plan
        assert plan["operations"] == ["transfer", "balances"]
        assert plan["phases"][-1]["operations"] == [1]


class TestPrepared:
    @pytest.mark.parametrize(
        ("workload", "clients", "prepared"),
        [("tpch", None, False), ("tpch", 2, True), ("point-select", 1, True)],
    )
    def test_a_mix_prepares_its_statements_and_the_record_says_so(
        self, workload: str, clients: int | None, *, prepared: bool
    ) -> None:
        run = asked(workload, clients)
        assert run.script.prepared is prepared
        assert run.facts()["script"] == {"prepared": prepared}

    @pytest.mark.parametrize(
        ("clients", "statements", "prepared"), [(None, "prepared", True), (2, "text", False)]
    )
    def test_it_is_as_it_was_asked_for(
        self, clients: int | None, statements: str, *, prepared: bool
    ) -> None:
        run = asked("tpch", clients)
        request = run.request.changed(statements=statements)
        assert replace(run, request=request).script.prepared is prepared


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"think_time": True}, "declares no think times: remove --think-time"),
        ({"pipeline": True}, "connection to null waits for each answer:"),
        ({"statements": "prepared"}, "Assay sends statements to null in one way"),
        ({"foreign_keys": True}, "point-select declares no foreign keys:"),
    ],
)
def test_what_clients_or_sessions_cannot_do_is_refused(asked: dict[str, Any], message: str) -> None:
    request = RunRequest(workload="point-select", engine="null", scale=1.0, clients=1, **asked)
    with pytest.raises(UsageError, match=message):
        considered(request)


def test_foreign_keys_that_an_engine_cannot_add_are_refused_before_anything_is_started() -> None:
    request = RunRequest(workload="tpcc", engine="sqlite", scale=1.0, clients=1, foreign_keys=True)
    with pytest.raises(
        UsageError,
        match=r"--foreign-keys: .*this engine cannot add foreign keys: remove the option",
    ):
        considered(request)
