"""Options that say under which conditions a run is measured, as they are understood."""

from __future__ import annotations

import pytest

from assay.model.errors import UsageError
from assay.study.conditions import state_default, with_buffer


@pytest.mark.parametrize(
    ("engine", "test", "dsn", "state"),
    [
        ("postgresql", False, None, "hot"),
        ("postgresql", True, None, "os-warm"),
        ("postgresql", True, "postgresql://host/db", "hot"),
        # Direct I/O: nothing of the system's caches is of use to it.
        ("mariadb", True, None, "hot"),
        ("null", True, None, "hot"),
    ],
)
def test_a_test_follows_the_load_and_nothing_else_does(
    engine: str, test: bool, dsn: str | None, state: str
) -> None:
    assert state_default(engine, test=test, dsn=dsn) == state


def test_the_buffer_has_each_engines_own_name() -> None:
    asked = {"work_mem": "4MB"}
    assert with_buffer("postgresql", asked, None, None) == asked
    assert with_buffer("postgresql", asked, "256MB", None) == {
        "work_mem": "4MB",
        "shared_buffers": "256MB",
    }
    assert with_buffer("duckdb", {}, "1GB", None) == {"memory_limit": "1GiB"}


@pytest.mark.parametrize(
    ("engine", "settings", "size", "dsn", "words"),
    [
        ("null", {}, "1GB", None, "no setting for cache"),
        ("postgresql", {}, "much", None, "write it like 256MB"),
        ("postgresql", {"shared_buffers": "1GB"}, "2GB", None, "are the same"),
        ("postgresql", {}, "2GB", "postgresql://host/db", "a running server has its owner's"),
    ],
)
def test_a_buffer_that_cannot_be_is_refused(
    engine: str, settings: dict[str, str], size: str, dsn: str | None, words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        with_buffer(engine, settings, size, dsn)
