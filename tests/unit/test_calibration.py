"""What became of predictions is kept, whatever tears the file, and is counted as it was."""

from __future__ import annotations

import json
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from assay.analysis.try_.calibration import calibrate
from assay.model.errors import RunFailedError
from assay.record.predictions import PREDICTIONS_FILE, append_prediction, read_predictions


def row(
    method: str,
    hit: bool | None,
    measured: float | None,
    predicted: float | None,
    verdict: str | None = None,
) -> dict[str, Any]:
    figures = {"measured": measured, "predicted": predicted}
    return {"method": method, "hit": hit, **figures, "verdict": verdict}


ROWS = [
    row("spill", True, 0.2, 0.25),
    row("spill", False, 0.05, 0.25, "no gain"),
    row("spill", None, 0.1, 0.1),
    row("jit", True, 0.3, 0.2),
    row("lock-wait", None, None, None),
]


class TestCalibration:
    def test_each_method_and_the_whole(self) -> None:
        calibration = calibrate(ROWS)
        assert list(calibration.methods) == ["spill", "jit", "lock-wait"]
        spill = calibration.methods["spill"]
        assert (spill.tried, spill.decided, spill.hits, spill.hit_rate) == (3, 2, 1, 0.5)
        assert spill.ratio_median == pytest.approx(0.8)
        assert calibration.whole.facts() == {
            "tried": 5,
            "decided": 3,
            "hits": 2,
            "hit_rate": 2 / 3,
            "saved": 2,
            "ratio_median": pytest.approx(0.9),
        }

    def test_of_nothing_nothing_is_said(self) -> None:
        calibration = calibrate([])
        assert calibration.facts() == {
            "tried": 0,
            "decided": 0,
            "hits": 0,
            "hit_rate": None,
            "saved": 0,
            "ratio_median": None,
            "methods": {},
        }
        assert calibration.sentence("spill") is None

    def test_words_stand_beside_advice_of_a_kind_that_is_decided(self) -> None:
        calibration = calibrate(ROWS)
        assert calibration.sentence("spill") == "advice of this kind saved time in 1 of 2 trials"
        assert calibration.sentence("jit") == "advice of this kind saved time in 1 of 1 trial"
        assert calibration.sentence("lock-wait") is None

    def test_a_gain_that_is_larger_than_predicted_saved_time(self) -> None:
        calibration = calibrate([row("join", False, 0.99, 0.5, "larger")])
        assert (calibration.whole.hits, calibration.whole.saved) == (0, 1)
        assert calibration.sentence("join") == "advice of this kind saved time in 1 of 1 trial"

    @pytest.mark.parametrize(
        "strange",
        [{}, {"method": 3}, {"method": "spill", "hit": "yes", "predicted": 0, "measured": 1}],
    )
    def test_a_strange_line_counts_as_little_as_it_says(self, strange: dict[str, Any]) -> None:
        calibration = calibrate([*ROWS, strange])
        assert calibration.whole.decided == 3
        assert calibration.whole.ratio_median == pytest.approx(0.9)


def append_many(place: Path, writer: int) -> None:
    for number in range(50):
        append_prediction(place, {"writer": writer, "number": number, "text": "x" * 2000})


class TestFile:
    def test_lines_are_read_in_their_order(self, tmp_path: Path) -> None:
        assert read_predictions(tmp_path) == []
        for entry in ROWS:
            append_prediction(tmp_path, entry)
        assert read_predictions(tmp_path) == ROWS
        lines = (tmp_path / PREDICTIONS_FILE).read_text().splitlines()
        assert [json.loads(line) for line in lines] == ROWS

    @pytest.mark.parametrize("left", [1, 10, 40])
    def test_a_torn_last_line_costs_itself_alone(self, tmp_path: Path, left: int) -> None:
        append_prediction(tmp_path, ROWS[0])
        append_prediction(tmp_path, ROWS[1])
        file = tmp_path / PREDICTIONS_FILE
        first = file.read_bytes().index(b"\n") + 1
        file.write_bytes(file.read_bytes()[: first + left])
        assert read_predictions(tmp_path) == [ROWS[0]]
        append_prediction(tmp_path, ROWS[2])
        assert read_predictions(tmp_path) == [ROWS[0], ROWS[2]]

    def test_what_is_no_object_is_passed_over(self, tmp_path: Path) -> None:
        (tmp_path / PREDICTIONS_FILE).write_bytes(b'3\n\n\xff\xfe\n{"method": "spill"}\n')
        assert read_predictions(tmp_path) == [{"method": "spill"}]

    def test_several_that_write_at_once_lose_no_line(self, tmp_path: Path) -> None:
        context = get_context("fork")
        writers = [context.Process(target=append_many, args=(tmp_path, n)) for n in range(4)]
        for process in writers:
            process.start()
        for process in writers:
            process.join()
        rows = read_predictions(tmp_path)
        assert sorted((table_row["writer"], table_row["number"]) for table_row in rows) == [
            (writer, number) for writer in range(4) for number in range(50)
        ]

    def test_a_place_that_is_not_there_is_told(self, tmp_path: Path) -> None:
        with pytest.raises(RunFailedError, match="cannot write"):
            append_prediction(tmp_path / "none", {})
