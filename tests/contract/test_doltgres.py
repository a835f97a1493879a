"""The engine `doltgres` with a real server where one was built, which takes minutes."""

from __future__ import annotations

import datetime
import shutil
import tempfile
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import psycopg
import pyarrow as pa
import pytest

from assay.engines.contract import EngineError, Instance, tell_nobody
from tests.family import Started
from tests.products import obtained

TABLE = """
    create table things (
      id bigint not null, text varchar(400), day date, money decimal(15, 2)
    );
"""
KEYS = "alter table things add primary key (id); create index things_by_day on things (day, id);"
HARD_TEXTS = [
    "",
    "NULL",
    "\\N",
    "a\\",
    "say \"x\", 'y'",
    "two\nlines\r",
    "a\tb",
    "⛄",
    None,
]


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    obtained("doltgres")


@pytest.fixture(scope="module")
def reachable() -> Iterator[Path]:
    """A directory that a server's user reaches, which pytest's are not where we are root."""
    directory = Path(tempfile.mkdtemp(prefix="assay-"))
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory)


def things(texts: list[str | None]) -> pa.RecordBatchReader:
    numbers = range(len(texts))
    first = datetime.date(1992, 2, 28)
    table = pa.table(
        {
            "id": pa.array([number * 10**12 for number in numbers], pa.int64()),
            "text": pa.array(texts, pa.string()),
            "day": pa.array([first + datetime.timedelta(number) for number in numbers]),
            "money": pa.array([Decimal(number) / 100 for number in numbers], pa.decimal128(15, 2)),
        }
    )
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=3))


def load(started: Started) -> None:
    instance = started.attach()
    started.engine.run_script(instance, TABLE)
    started.engine.load(instance, "things", things(HARD_TEXTS), 4)
    started.engine.make_keys(instance, KEYS, 4, tell_nobody)
    started.engine.finish_load(instance)
    started.engine.detach(instance)


def texts(instance: Instance) -> list[object]:
    rows = instance.handle.execute("select text from things order by id").fetchall()
    return [row[0] for row in rows]


def test_what_was_loaded_is_there_after_a_stop_in_good_order(reachable: Path) -> None:
    started = Started(reachable, "doltgres", "kept")
    with started.guardian:
        started.start()
        load(started)
        started.launcher.stop()
        address = started.start()
        instance = started.attach()
        assert started.engine.version(instance) == started.product.version
        assert started.engine.processes(instance) == (address["pid"],)
        assert texts(instance) == HARD_TEXTS
        assert started.engine.count(instance, "things") == len(HARD_TEXTS)
        assert started.engine.effective_settings(instance)
        with pytest.raises(EngineError, match="carriage return"):
            started.engine.load(instance, "things", things(["a", "b", "c", "d\r\n"]), 4)
        assert started.engine.count(instance, "things") == len(HARD_TEXTS)
        with pytest.raises(EngineError, match="nothing"):
            started.engine.count(instance, "nothing")
        instance.handle.execute("begin")
        with pytest.raises(EngineError, match="left open"):
            started.engine.settle(instance)
        started.engine.detach(instance)
    assert address["dsn"].split("password=")[1].split()[0] not in started.log.read_text()


def test_of_two_that_change_a_value_otherwise_one_is_to_be_made_again(reachable: Path) -> None:
    """Sessions of PostgreSQL's protocol take 40001 for that."""
    started = Started(reachable, "doltgres", "meeting")
    with started.guardian:
        started.start()
        load(started)
        dsn = started.address["dsn"]
        with psycopg.connect(dsn) as first, psycopg.connect(dsn) as other:
            for connection, money in ((first, 1), (other, 2)):
                connection.execute("update things set money = %s where id = 0", [money])
            first.commit()
            with pytest.raises(psycopg.errors.SerializationFailure):
                other.commit()


def test_a_sum_has_the_digits_of_its_first_part(reachable: Path) -> None:
    """Why TPC-C's files of this dialect give that more of them: if this fails, they may go."""
    started = Started(reachable, "doltgres", "summed")
    with started.guardian:
        started.start()
        instance = started.attach()
        row = instance.handle.execute(
            "select 999999.99 + 0.02, cast(999999.99 as decimal(20, 8)) + 0.02"
        )
        assert row.fetchone() == (Decimal(1000000), Decimal("1000000.01"))
        started.engine.detach(instance)
