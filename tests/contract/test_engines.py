"""What every engine folder keeps, whoever wrote it. A new engine is tested by being there.

Only engines that live in our own process are started here; servers have tests of their own.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from assay import _core
from assay.engines.contract import (
    ChecksSettings,
    Engine,
    EngineError,
    Instance,
    Place,
    Product,
    Wanted,
    tell_nobody,
)
from assay.engines.discovery import EngineFolder, find_engines
from assay.engines.loading import BulkLoads, LoadsTriples, Prepares
from assay.model.language import SPARQL, SQL
from assay.model.script import Script, ScriptOperation, ScriptStatement
from assay.model.secrets import is_secret
from assay.model.sql import alike_statement, column_statement
from assay.workloads.discovery import find_workload

if TYPE_CHECKING:
    from collections.abc import Iterator

ENGINES = find_engines()
IN_PROCESS = [
    name
    for name, engine_folder in ENGINES.items()
    if engine_folder.facts.kind in {"embedded", "none"}
]
LOADING = [name for name in IN_PROCESS if isinstance(ENGINES[name].engine(), BulkLoads)]
HOLDING = [name for name in IN_PROCESS if isinstance(ENGINES[name].engine(), LoadsTriples)]
PREPARING = [name for name in IN_PROCESS if isinstance(ENGINES[name].engine(), Prepares)]
A_TRIGGER = """create trigger "a trigger" after insert on "a table"
begin update "a table" set n = 1; end;"""
# A setting of an engine to try, in place of its own defaults, and one that holds a secret.
TRIED = {
    "chdb": {"max_threads": "1", "mark_cache_size": "1000000"},
    "duckdb": {"threads": "1"},
    "null": {"delay": "1ms"},
    "oxigraph": {"use_default_graph_as_union": "true"},
    "sqlite": {"cache_size": "4000", "page_size": "8192", "synchronous": "normal"},
}
SECRET_SETTING = {"duckdb": "http_proxy_password"}
HIDDEN_VALUE = "hunter2"
SCALE = 0.01
ONE = {SQL: "select 1 as n", SPARQL: "SELECT (1 AS ?n) {}"}
SCHEMA = "\n".join(find_workload("tpch").setup(("duckdb",), SCALE).values())


def script_of(folder: EngineFolder) -> Script:
    """One operation that returns one row, in the first language of an engine."""
    text = ONE[next(iter(folder.facts.spoken))]
    return Script((ScriptOperation("one", (ScriptStatement(text),)),))


def obtained(engine: Engine) -> Product:
    return engine.obtain(Wanted(Path("cache")), tell_nobody)


@pytest.fixture(params=list(ENGINES))
def folder(request: pytest.FixtureRequest) -> EngineFolder:
    return ENGINES[request.param]


@pytest.fixture(params=IN_PROCESS)
def startable(request: pytest.FixtureRequest) -> EngineFolder:
    return ENGINES[request.param]


@pytest.fixture
def engine(startable: EngineFolder) -> Engine:
    made = startable.engine()
    assert obtained(made).version
    return made


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path / "data", tmp_path / "scratch")
    made.data.mkdir()
    made.scratch.mkdir()
    return made


@pytest.fixture
def instance(engine: Engine, place: Place) -> Iterator[Instance]:
    started = engine.start(place, {})
    yield started
    engine.stop(started)


class TestFolder:
    def test_it_has_facts_behaviour_and_words(self, folder: EngineFolder) -> None:
        names = {path.name for path in folder.folder.iterdir()}
        assert {"engine.toml", "engine.py", "README.md", "__init__.py"} <= names
        assert folder.folder.name == folder.facts.name.replace("-", "_")

    def test_its_readme_gives_a_reason_for_every_setting(self, folder: EngineFolder) -> None:
        text = (folder.folder / "README.md").read_text("utf-8")
        assert [name for name in folder.facts.settings if name not in text] == []

    def test_its_dialects_are_plain_words(self, folder: EngineFolder) -> None:
        assert [d for d in folder.facts.dialects if not re.fullmatch(r"[a-z][a-z0-9]*", d)] == []


class TestLife:
    def test_what_it_is_obtained_as_is_what_is_pinned(
        self, startable: EngineFolder, engine: Engine
    ) -> None:
        assert startable.facts.version_pinned in {None, obtained(engine).version}

    def test_it_starts_answers_and_stops(
        self, startable: EngineFolder, engine: Engine, place: Place, tmp_path: Path
    ) -> None:
        started = engine.start(place, {})
        sessions = engine.sessions(started, script_of(startable), 1, 1)
        phase = {"name": "measured", "arrival": {"shape": "power"}, "operations": [0]}
        plan = {"operations": ["one"], "phases": [phase], "seed": 1}
        report = _core.drive(
            json.dumps(plan), sessions, tmp_path, _core.CancelFlag(), lambda *_: None
        )
        del sessions
        engine.stop(started)
        assert json.loads(report)["errors"] == []
        with pa.OSFile(str(tmp_path / "events.arrows")) as file:
            events = pa.ipc.open_stream(file).read_all().to_pylist()
        assert [event["outcome"] for event in events] == ["ok"]
        assert events[0]["rows"] == (1 if startable.facts.answers else 0)

    def test_there_is_a_session_for_every_client(
        self, startable: EngineFolder, engine: Engine, instance: Instance
    ) -> None:
        assert len(engine.sessions(instance, script_of(startable), 1, 3)) == 3

    @pytest.mark.parametrize("name", LOADING)
    def test_what_was_loaded_survives_a_restart(self, name: str, place: Place) -> None:
        engine = ENGINES[name].engine()
        assert isinstance(engine, BulkLoads)
        first = engine.start(place, {})
        engine.run_script(first, SCHEMA)
        engine.load(first, "nation", _core.TableStream("tpch", "nation", SCALE, 1), 1)
        engine.finish_load(first)
        assert engine.count(first, "nation") == 25
        engine.stop(first)
        second = engine.start(place, {})
        assert engine.count(second, "nation") == 25
        engine.stop(second)

    @pytest.mark.parametrize("name", HOLDING)
    def test_what_it_holds_survives_a_restart(self, name: str, place: Place) -> None:
        lines = [f'<urn:s{n}> <urn:p> "{n} \u00e9" .\n' for n in range(1000)]
        whole = pa.record_batch([pa.array(lines)], names=["line"])
        batches = [whole.slice(0, 0), whole.slice(0, 300), whole.slice(300)]
        engine = ENGINES[name].engine()
        assert isinstance(engine, LoadsTriples)
        first = engine.start(place, {})
        rows = pa.RecordBatchReader.from_batches(whole.schema, batches)
        engine.load_triples(first, rows, 2, tell_nobody)
        engine.finish_triples(first)
        assert engine.count_triples(first) == len(lines)
        engine.stop(first)
        second = engine.start(place, {})
        assert engine.count_triples(second) == len(lines)
        engine.stop(second)

    @pytest.mark.parametrize("name", HOLDING)
    def test_a_line_that_is_none_is_refused(self, name: str, place: Place) -> None:
        batch = pa.record_batch([pa.array(["<urn:s> <urn:p> .\n"])], names=["line"])
        engine = ENGINES[name].engine()
        assert isinstance(engine, LoadsTriples)
        started = engine.start(place, {})
        rows = pa.RecordBatchReader.from_batches(batch.schema, [batch])
        with pytest.raises(EngineError, match="cannot load the data"):
            engine.load_triples(started, rows, 2, tell_nobody)
        engine.stop(started)

    def test_it_writes_nowhere_but_in_its_place(
        self, engine: Engine, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        monkeypatch.chdir(elsewhere)
        monkeypatch.setenv("HOME", str(elsewhere))
        engine.stop(engine.start(place, {}))
        assert list(elsewhere.iterdir()) == []


class TestPreparing:
    @pytest.fixture(params=PREPARING)
    def preparing(self, request: pytest.FixtureRequest) -> Prepares:
        engine = ENGINES[request.param].engine()
        assert isinstance(engine, Prepares)
        return engine

    def test_what_was_changed_survives_a_restart(self, preparing: Prepares, place: Place) -> None:
        first = preparing.start(place, {})
        preparing.prepare(
            first, "create table t (n integer); -- one; two\ninsert into t values (1);"
        )
        preparing.settle(first)
        preparing.stop(first)
        second = preparing.start(place, {})
        assert preparing.count(second, "t") == 1
        preparing.stop(second)

    def test_a_statement_that_is_refused_is_told_and_those_before_it_last(
        self, preparing: Prepares, place: Place
    ) -> None:
        started = preparing.start(place, {})
        with pytest.raises(EngineError, match=r"The statement: .*no_such"):
            preparing.prepare(started, "create table t (n integer); drop table no_such;")
        assert preparing.count(started, "t") == 0
        preparing.stop(started)


class TestAdvice:
    def test_it_is_either_silent_or_right(self, folder: EngineFolder) -> None:
        facts = folder.advising()
        advice = folder.advice()
        assert (advice is None) == (not facts.settings and not facts.statements)
        assert set(facts.without).isdisjoint({*facts.settings, *facts.statements})
        assert set(facts.beside) <= set(facts.statements)

    def test_every_role_is_a_setting_that_the_engine_has(
        self, startable: EngineFolder, engine: Engine, instance: Instance
    ) -> None:
        effective = engine.effective_settings(instance)
        named = {setting.name for setting in startable.advising().settings.values()}
        assert named <= set(effective)

    @pytest.mark.parametrize("name", PREPARING)
    def test_every_statement_is_carried_out(self, name: str, place: Place) -> None:
        folder = ENGINES[name]
        engine, facts = folder.engine(), folder.advising()
        assert isinstance(engine, Prepares)
        started = engine.start(place, {})
        columns = 'n integer, "a column" integer, "a text" varchar(10)'
        engine.prepare(started, f'create table "a table" ({columns});')
        if "trigger" in facts.statements:
            engine.prepare(started, A_TRIGGER)
        for doing, file in facts.statements.items():
            template = (folder.folder / file).read_text(encoding="utf-8")
            sql = facts.statement(template, "a table", ["n", "a column"], existing="a trigger")
            if doing == "dropped-index":
                engine.prepare(started, 'create index "an index" on "a table" (n);')
                sql = facts.statement(template, "a table", existing="an index")
            if doing == "stored-values":
                sql = column_statement(template, "a table", "a sum", "bigint", "n + n")
            if doing == "alike-columns":
                text = ("a table", "a text")
                sql = alike_statement(template, text, text)
            engine.prepare(started, sql)
        assert engine.count(started, "a table") == 0
        engine.stop(started)


class TestSettings:
    def test_our_defaults_are_in_effect(
        self, startable: EngineFolder, engine: Engine, instance: Instance
    ) -> None:
        effective = engine.effective_settings(instance)
        ours = startable.facts.settings
        assert {name: effective[name] for name in ours} == ours

    def test_effective_settings_are_plain_texts(self, engine: Engine, instance: Instance) -> None:
        effective = engine.effective_settings(instance)
        assert effective
        assert all(isinstance(t, str) for pair in effective.items() for t in pair)

    def test_a_setting_that_was_asked_for_is_in_effect(
        self, startable: EngineFolder, place: Place
    ) -> None:
        asked = TRIED.get(startable.facts.name, startable.facts.settings)
        engine = startable.engine()
        started = engine.start(place, asked)
        effective = engine.effective_settings(started)
        engine.stop(started)
        assert {name: effective[name] for name in asked} == asked

    def test_none_of_them_is_a_secret(self, engine: Engine, instance: Instance) -> None:
        assert [name for name in engine.effective_settings(instance) if is_secret(name)] == []

    @pytest.mark.parametrize(("name", "setting"), SECRET_SETTING.items())
    def test_a_secret_that_was_set_is_not_told(self, name: str, setting: str, place: Place) -> None:
        engine = ENGINES[name].engine()
        started = engine.start(place, {setting: HIDDEN_VALUE})
        effective = engine.effective_settings(started)
        engine.stop(started)
        assert HIDDEN_VALUE not in json.dumps(effective)

    @pytest.mark.parametrize("letters", ["", "xx"])
    def test_a_misspelt_setting_is_refused_with_the_nearest(
        self, startable: EngineFolder, engine: Engine, letters: str
    ) -> None:
        right = next(iter(startable.facts.settings))
        wrong = right[:-1] + letters
        assert isinstance(engine, ChecksSettings)
        with pytest.raises(EngineError, match=f"no setting '{wrong}'; did you mean '{right}'"):
            engine.check_settings(obtained(engine), {wrong: "1"})

    def test_an_unknown_setting_is_refused_before_anything_is_written(
        self, engine: Engine, place: Place
    ) -> None:
        with pytest.raises(EngineError):
            engine.start(place, {"no_such_setting_at_all": "1"})
        assert list(place.data.iterdir()) == []

    def test_right_settings_pass_the_check(self, startable: EngineFolder, engine: Engine) -> None:
        assert isinstance(engine, ChecksSettings)
        engine.check_settings(obtained(engine), startable.facts.settings)
