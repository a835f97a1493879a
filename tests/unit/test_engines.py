"""Engines are found in folders, and what is wrong with one is told with its file and key."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import pytest

from assay.engines import discovery
from assay.engines.contract import Engine, EngineError, Place, Product, Wanted, tell_nobody
from assay.engines.discovery import find_engine, find_engines, read_facts
from assay.engines.loading import BulkLoads
from assay.model.errors import AssayError, UsageError

FACTS = """
name = "acme"
title = "Acme"
about = "Somebody else's engine."
kind = "none"
session = "null"
obtained_from = "a test"
"""

BEHAVIOUR = """
from assay.engines.contract import Product

class Acme:
    def __init__(self, facts):
        self.facts = facts

    def obtain(self, wanted, tell):
        return Product("1.2.3")

def engine(facts):
    return Acme(facts)
"""


def obtained(engine: Engine) -> str:
    return engine.obtain(Wanted(Path("cache")), tell_nobody).version


def an_engine(root: Path, facts: str = FACTS, behaviour: str | None = BEHAVIOUR) -> Path:
    folder = root / "acme"
    folder.mkdir(parents=True)
    (folder / "engine.toml").write_text(facts, encoding="utf-8")
    if behaviour is not None:
        (folder / "engine.py").write_text(behaviour, encoding="utf-8")
    return folder


class TestDiscovery:
    def test_ours_are_there(self) -> None:
        assert {"duckdb", "null"} <= set(find_engines())

    def test_an_unknown_engine_suggests_the_nearest(self) -> None:
        with pytest.raises(UsageError, match=r"unknown engine 'dukdb'; did you mean 'duckdb'\?"):
            find_engine("dukdb")

    def test_a_folder_of_somebody_else_is_found_by_its_variable(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        an_engine(tmp_path)
        assert "acme" not in find_engines()
        monkeypatch.setenv("ASSAY_ENGINES", f"/nowhere:{tmp_path}")
        engine = find_engine("acme")
        assert engine.facts.title == "Acme"
        assert obtained(engine.engine()) == "1.2.3"
        assert "duckdb" in find_engines()

    def test_its_behaviour_may_stand_in_several_files(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        said = BEHAVIOUR.replace('"1.2.3"', "SAID")
        folder = an_engine(tmp_path, behaviour=f"from .words import SAID\n{said}")
        (folder / "words.py").write_text('SAID = "4.5.6"\n', encoding="utf-8")
        monkeypatch.setenv("ASSAY_ENGINES", str(tmp_path))
        assert obtained(find_engine("acme").engine()) == "4.5.6"

    def test_a_package_of_somebody_else_is_found_by_its_entry_point(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        package = tmp_path / "acme_engines"
        an_engine(package)
        (package / "__init__.py").write_text("", encoding="utf-8")
        monkeypatch.syspath_prepend(str(tmp_path))
        entry = importlib.metadata.EntryPoint("acme", "acme_engines", discovery.ENTRY_POINTS)
        monkeypatch.setattr(
            importlib.metadata,
            "entry_points",
            lambda *, group: [entry] if group == entry.group else [],
        )
        assert obtained(find_engine("acme").engine()) == "1.2.3"

    def test_an_engine_of_somebody_else_does_not_hide_ours(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        an_engine(tmp_path, FACTS.replace('"acme"', '"null"'))
        monkeypatch.setenv("ASSAY_ENGINES", str(tmp_path))
        assert find_engine("null").facts.title == "null"

    def test_a_folder_without_behaviour_is_named(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = an_engine(tmp_path, behaviour=None)
        monkeypatch.setenv("ASSAY_ENGINES", str(tmp_path))
        with pytest.raises(EngineError, match=f"{folder}/engine.py is missing"):
            find_engine("acme").engine()


class TestFacts:
    def refusal(self, folder: Path) -> str:
        with pytest.raises(EngineError) as error:
            read_facts(folder / "engine.toml")
        assert str(folder / "engine.toml") in str(error.value)
        return str(error.value)

    def test_an_unknown_key_is_named_with_the_nearest_known_one(self, tmp_path: Path) -> None:
        message = self.refusal(an_engine(tmp_path, FACTS + 'dialect = ["x"]\n'))
        assert ": dialect: " in message
        assert "did you mean 'dialects'" in message

    def test_a_missing_key_is_named(self, tmp_path: Path) -> None:
        message = self.refusal(an_engine(tmp_path, FACTS.replace('title = "Acme"\n', "")))
        assert message.endswith("title: Field required")

    def test_a_kind_that_does_not_exist_is_refused(self, tmp_path: Path) -> None:
        assert "kind" in self.refusal(an_engine(tmp_path, FACTS.replace('"none"', '"cloud"')))

    @pytest.mark.parametrize("content", [b"name = ", b"\xff\xfe", b""])
    def test_what_is_no_manifest_is_refused(self, tmp_path: Path, content: bytes) -> None:
        folder = an_engine(tmp_path)
        (folder / "engine.toml").write_bytes(content)
        self.refusal(folder)


class TestNull:
    @pytest.mark.parametrize(
        "settings", [{"delay": "soon"}, {"delay": "-1s"}, {"fail_every": "x"}, {"fail_every": "-1"}]
    )
    def test_a_value_that_it_cannot_take_is_refused_with_an_example(
        self, tmp_path: Path, settings: dict[str, str]
    ) -> None:
        with pytest.raises(EngineError, match="--set delay=2ms"):
            find_engine("null").engine().start(Place(tmp_path, tmp_path), settings)

    def test_it_holds_no_tables(self) -> None:
        assert not isinstance(find_engine("null").engine(), BulkLoads)


class TestDuckDB:
    def test_another_version_than_the_pinned_one_is_refused_with_the_mend(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("duckdb.__version__", "0.0.1")
        with pytest.raises(EngineError, match=r"0\.0\.1 is installed.*make setup"):
            obtained(find_engine("duckdb").engine())

    def test_another_version_than_the_one_there_is_cannot_be_had(self) -> None:
        engine = find_engine("duckdb").engine()
        with pytest.raises(
            EngineError, match=r"Assay contains \S+ \S+, so version 1 is not available\. It"
        ):
            engine.obtain(Wanted(Path("cache"), version="1"), tell_nobody)
        assert engine.obtain(Wanted(Path("cache"), version="2"), tell_nobody).version

    def test_a_file_that_is_no_database_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "assay.duckdb").write_bytes(b"no database" * 1000)
        with pytest.raises(EngineError, match=r"cannot open .*assay\.duckdb"):
            find_engine("duckdb").engine().start(Place(tmp_path, tmp_path), {})

    def test_a_refused_value_is_shown_with_its_setting_and_without_secrets(self) -> None:
        engine = find_engine("duckdb").engine()
        settings = {"memory_limit": "much", "http_proxy_password": "hunter2"}
        with pytest.raises(EngineError, match="--set memory_limit=much") as error:
            engine.check_settings(Product("0"), settings)  # type: ignore[attr-defined]
        assert "hunter2" not in str(error.value)


def test_an_engines_errors_are_ones_that_people_can_mend() -> None:
    assert issubclass(EngineError, AssayError)
    assert EngineError.exit_code == 1
