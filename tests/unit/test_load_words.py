"""How fast data were loaded, as the report says it."""

from __future__ import annotations

from typing import Any

import pytest

from assay.report.words.loads.load import load_words

LOAD = {"rows": 1_098_800, "seconds": 1.1, "client_cpu_s": 0.23}


HEAD = "1.1 M rows were generated, sent and counted in 1.10 s: 999,000/s"
TAIL = ". Keys and statistics were created afterwards."


@pytest.mark.parametrize(
    ("load", "message"),
    [
        (LOAD, f"{HEAD}, with 209 ns of client CPU a row{TAIL}"),
        (LOAD | {"client_cpu_s": None}, f"{HEAD}{TAIL}"),
        (LOAD | {"rows": 0}, None),
        (None, None),
    ],
)
def test_it_is_told_as_far_as_it_is_known(load: dict[str, Any] | None, message: str | None) -> None:
    assert load_words(load) == message
