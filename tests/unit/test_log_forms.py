"""Files of a log have one format."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.engines.contract import EngineError
from assay.engines.log_forms import common_form

FORMS = {".csv": "CSV log", ".json": "JSON log"}


def form_of(*names: str) -> str | None:
    return common_form([Path(name) for name in names], lambda file: FORMS.get(file.suffix))


def test_files_of_one_format_have_it() -> None:
    assert form_of("a.csv", "b.csv") == "CSV log"


def test_a_first_file_of_no_known_format_is_another_kind_of_file() -> None:
    assert form_of("a.txt", "b.csv") is None


@pytest.mark.parametrize("other", ["b.json", "b.txt"])
def test_files_of_two_formats_are_refused(other: str) -> None:
    with pytest.raises(EngineError, match=f"{other} is not a CSV log, but a.csv is one"):
        form_of("a.csv", other)
