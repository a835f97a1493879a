"""A server that dies while its tables are loaded."""

from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from assay.engines.contract import EngineError
from assay.running.server import starting
from assay.running.server.starting import DiedLoadingError
from assay.running.server.subject import Subject

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BROKEN = EngineError("table region cannot be loaded: Broken pipe")


class Loads:
    """Fills, or meets what stands in `meets`, one a try; and looks at what lies there before."""

    def __init__(self, place: Path, meets: list[Exception | None]) -> None:
        self._place, self._meets = place, meets
        self.listings: list[list[str]] = []

    def fill(self, guardian: object, subject: Subject) -> dict[str, Any]:
        """One try."""
        del guardian, subject
        self.listings.append(sorted(path.name for path in self._place.iterdir()))
        (self._place / "half").mkdir()
        (self._place / "half" / "page").touch()
        (self._place / "log").touch()
        if (met := self._meets.pop(0)) is not None:
            raise met
        return {"tables": {}}


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes a data set with a server whose last words are given."""
    monkeypatch.setattr(starting, "NOTICING_S", 0.0)

    def make(message: str | None, *meets: Exception | None) -> tuple[dict[str, Any], Loads]:
        loads = Loads(tmp_path, list(meets))
        server = object.__new__(starting._OwnServer)
        engine = SimpleNamespace(facts=SimpleNamespace(title="Mine"))
        vars(server).update(_engine=object(), _asked=SimpleNamespace(engine=engine), _guardian=None)

        @contextmanager
        def started(*_: object) -> Iterator[Subject]:
            yield Subject("mine", {}, (), last_words=lambda: message)

        monkeypatch.setattr(server, "_started", started)
        facts = server._make(tmp_path, loads)  # type: ignore[arg-type]
        return facts, loads

    return make


def test_it_is_given_one_more_try_from_nothing(made: Any) -> None:
    facts, loads = made("it ended by SIGSEGV", BROKEN, None)
    assert facts["deaths"] == [
        "Mine ended unexpectedly while its tables were loaded: it ended by SIGSEGV"
    ]
    assert loads.listings == [[], []]


def test_it_is_not_tried_for_ever(made: Any) -> None:
    with pytest.raises(DiedLoadingError, match="ended by SIGSEGV"):
        made("it ended by SIGSEGV", BROKEN, BROKEN, None)


def test_who_lives_is_not_asked_again(made: Any) -> None:
    with pytest.raises(EngineError, match="Broken pipe"):
        made(None, BROKEN, None)


def test_a_load_that_went_well_has_no_deaths(made: Any) -> None:
    assert made(None, None)[0] == {"tables": {}}
