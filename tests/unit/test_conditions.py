"""Options that say under which conditions a run is measured, as they are understood."""

from __future__ import annotations

import pytest

from assay.engines.discovery import find_engine
from assay.engines.durability import level_of
from assay.model.errors import UsageError
from assay.running.asked.conditions import state_default, with_buffer, with_durability


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


def test_durability_is_full_where_nothing_else_is_asked_for() -> None:
    level, settings = with_durability("postgresql", {}, None, None)
    assert level == "full"
    assert settings["fsync"] == "on"
    assert with_durability("null", {}, None, None) == (None, {})


def test_a_level_is_the_settings_that_the_engine_names_for_it() -> None:
    level, settings = with_durability("postgresql", {"fsync": "OFF"}, "none", None)
    assert level == "none"
    assert settings == {"synchronous_commit": "off", "full_page_writes": "off"}


def test_settings_without_a_level_say_which_it_is() -> None:
    assert with_durability("postgresql", {"synchronous_commit": "off"}, None, None)[0] == "relaxed"
    assert with_durability("postgresql", {"full_page_writes": "off"}, None, None)[0] is None


@pytest.mark.parametrize(
    ("engine", "settings", "level", "dsn", "message"),
    [
        ("null", {}, "none", None, "it has no levels"),
        ("postgresql", {}, "ful", None, "its levels are full, relaxed, none"),
        ("postgresql", {"fsync": "off"}, "full", None, "--set fsync=off contradicts it:"),
        (
            "postgresql",
            {},
            "full",
            "postgresql://host/db",
            "settings of a running server and does not change",
        ),
    ],
)
def test_a_level_that_cannot_be_is_refused(
    engine: str, settings: dict[str, str], level: str, dsn: str | None, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        with_durability(engine, settings, level, dsn)


def test_the_level_of_a_running_server_is_read_from_what_it_tells() -> None:
    levels = find_engine("postgresql").facts.durability
    settings = {
        "fsync": "on",
        "synchronous_commit": "on",
        "full_page_writes": "on",
        "work_mem": "4MB",
    }
    assert level_of(levels, settings) == "full"
    assert level_of(levels, settings | {"synchronous_commit": "OFF"}) == "relaxed"
    assert level_of(levels, {}) is None


@pytest.mark.parametrize("engine", ["mysql", "mariadb"])
def test_how_a_log_is_synced_does_not_matter_where_there_is_none(engine: str) -> None:
    levels = find_engine(engine).facts.durability
    settings = {
        "innodb_flush_log_at_trx_commit": "1",
        "innodb_doublewrite": "ON",
        "sync_binlog": "0",
    }
    assert level_of(levels, settings | {"log_bin": "ON"}) is None
    assert level_of(levels, settings | {"log_bin": "OFF"}) == "full"
    loose = {"innodb_flush_log_at_trx_commit": "2", "sync_binlog": "1", "log_bin": "OFF"}
    assert level_of(levels, settings | loose) == "relaxed"


@pytest.mark.parametrize(
    ("engine", "settings", "size", "dsn", "message"),
    [
        ("null", {}, "1GB", None, "no setting for cache"),
        ("postgresql", {}, "much", None, "write it like 256MB"),
        (
            "postgresql",
            {"shared_buffers": "1GB"},
            "2GB",
            None,
            "--set shared_buffers change the same setting",
        ),
        (
            "postgresql",
            {},
            "2GB",
            "postgresql://host/db",
            "not change the buffer pool of a running server",
        ),
    ],
)
def test_a_buffer_that_cannot_be_is_refused(
    engine: str, settings: dict[str, str], size: str, dsn: str | None, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        with_buffer(engine, settings, size, dsn)
