"""What bounds an operation, on small studies whose times follow a known law."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.analysis.why.bottleneck import verdict_of
from assay.analysis.why.demand import Demand
from assay.analysis.why.diagnosis import Diagnosis, diagnose
from assay.model.verdict import CheckResult, Verdict
from tests.scarce import figure_of, scarce_study, serial, slowed

GIVES = {"read-iops": 4000.0}
REFUSED = CheckResult("limits", Verdict.INVALID, "the limit was not read back")


def diagnosed(place: Path, cpu: float, disk: float, **more: Any) -> Diagnosis:
    made = scarce_study(place, slowed(1.5, 3.0), serial(cpu, disk), **more)
    diagnosis = diagnose(made.studied, "q01")
    assert diagnosis is not None
    return diagnosis


def limited(*amounts: float) -> dict[str, dict[str, Any]]:
    return {f"{amount:g} reads": {"limits": {"read-iops": amount}} for amount in amounts}


class TestVerdict:
    def test_a_query_that_waits_for_the_disk_is_bound_by_it(self, tmp_path: Path) -> None:
        diagnosis = diagnosed(tmp_path, 0.03, 0.95)
        assert diagnosis.value("disk") == pytest.approx(-0.95, abs=0.05)
        assert diagnosis.value("cpu") == pytest.approx(-0.03, abs=0.05)
        verdict = verdict_of(diagnosis, "it runs at 96 % of what this disk gives at 8 KiB random")
        assert (verdict.kind, verdict.resources) == ("bound", ("disk",))
        assert verdict.sentence.startswith("q01 is bound by the disk: disk -0.9")
        assert verdict.sentence.endswith(
            "; it runs at 96 % of what this disk gives at 8 KiB random."
        )
        assert verdict.sum_words is not None
        assert verdict.sum_words.endswith("nothing to speak of is missing from 1")

    def test_a_query_that_computes_is_not_called_bound_by_the_disk(self, tmp_path: Path) -> None:
        verdict = verdict_of(diagnosed(tmp_path, 0.97, 0.0))
        assert (verdict.kind, verdict.resources) == ("bound", ("cpu",))

    def test_two_halves_are_told_together(self, tmp_path: Path) -> None:
        verdict = verdict_of(diagnosed(tmp_path, 0.5, 0.45))
        assert verdict.kind == "shared"
        assert set(verdict.resources) == {"cpu", "disk"}
        assert "CPU and the disk together" in verdict.sentence

    def test_a_cpu_that_works_for_reads_is_told_as_reading(self, tmp_path: Path) -> None:
        diagnosis = diagnosed(tmp_path, 0.5, 0.45)
        shares = {"cpu_user": 0.1, "cpu_system": 0.4, "disk_read": 0.45}
        reads = verdict_of(replace(diagnosis, demand=Demand(1.0, 0.5, shares, 1e8, 8192.0)))
        assert "q01 is bound by reading" in reads.sentence
        assert any(
            "80 % of its time on a CPU is the kernel's" in sentence for sentence in reads.remarks
        )
        shares = {"cpu_user": 0.4, "cpu_system": 0.1, "disk_read": 0.45}
        both = verdict_of(replace(diagnosis, demand=Demand(1.0, 0.5, shares, 1e8, 8192.0)))
        assert "CPU and the disk together" in both.sentence
        assert not any("kernel" in sentence for sentence in both.remarks)

    def test_what_is_missing_from_1_is_shown(self, tmp_path: Path) -> None:
        verdict = verdict_of(diagnosed(tmp_path, 0.2, 0.05))
        assert verdict.kind == "none"
        assert verdict.sum_words is not None
        assert "0.7" in verdict.sum_words
        assert "missing from 1" in verdict.sum_words


class TestEffect:
    def test_a_limit_that_did_not_take_effect_is_in_no_elasticity(self, tmp_path: Path) -> None:
        levels = slowed(1.5, 3.0, names=("cpu",)) | limited(1000.0)
        checks = {"1000 reads": REFUSED}
        made = scarce_study(tmp_path, levels, serial(0.5, 0.0), checks=checks)
        diagnosis = diagnose(made.studied, "q01", known_capacities=GIVES)
        assert diagnosis is not None
        assert diagnosis.value("disk") is None
        assert diagnosis.unmeasured["disk"] == REFUSED.reason
        verdict = verdict_of(diagnosis)
        assert f"disk not measured ({REFUSED.reason})" in verdict.sentence
        assert any("is in no elasticity" in sentence for sentence in verdict.remarks)

    def test_a_limit_above_what_there_is_limits_nothing(self, tmp_path: Path) -> None:
        made = scarce_study(tmp_path, limited(5000.0), lambda *_: 1.0)
        diagnosis = diagnose(made.studied, "q01", known_capacities=GIVES)
        assert diagnosis is not None
        assert diagnosis.value("disk") is None
        assert "limits nothing" in diagnosis.unmeasured["disk"]

    def test_of_what_was_not_varied_nothing_is_claimed(self, tmp_path: Path) -> None:
        made = scarce_study(tmp_path, slowed(2.0, names=("cpu",)), serial(1.0, 0.0))
        diagnosis = diagnose(made.studied, "q01")
        assert diagnosis is not None
        assert diagnosis.unmeasured == {"disk": "it was not varied"}


class TestMethods:
    def test_where_the_disk_reads_ahead_the_limit_is_right(self, tmp_path: Path) -> None:
        def times(asked: dict[str, Any], number: int) -> float:
            noise = 1 + 0.005 * (number - 2)
            # The disk is all that counts, and goes on while the engine is stopped.
            return noise * 4000 / asked.get("limits", {}).get("read-iops", 4000)

        levels = slowed(1.5, 3.0, names=("disk",)) | limited(3000.0, 2000.0, 1000.0)
        made = scarce_study(tmp_path, levels, times)
        diagnosis = diagnose(made.studied, "q01", known_capacities=GIVES)
        assert diagnosis is not None
        assert diagnosis.chosen["disk"].method == "limited"
        assert diagnosis.value("disk") == pytest.approx(-1.0, abs=0.05)
        assert any("it reads ahead" in sentence for sentence in verdict_of(diagnosis).remarks)

    def test_where_the_mixture_is_fine_slowing_is_right(self, tmp_path: Path) -> None:
        def times(asked: dict[str, Any], number: int) -> float:
            noise = 1 + 0.005 * (number - 2)
            share = 0.5 * (asked.get("slow", {}).get("disk", 1.0) - 1)
            rate = asked.get("limits", {}).get("read-iops", 4000)
            # It uses half of what there is, and a limit at that half holds nothing back.
            return noise * max(1 + share, 2000 / rate)

        levels = slowed(1.5, 3.0, names=("disk",)) | limited(3000.0, 2000.0, 1000.0)
        made = scarce_study(tmp_path, levels, times)
        diagnosis = diagnose(made.studied, "q01", known_capacities=GIVES)
        assert diagnosis is not None
        assert diagnosis.chosen["disk"].method == "slowed"
        assert diagnosis.value("disk") == pytest.approx(-0.5, abs=0.05)
        capped = next(
            time_response
            for time_response in diagnosis.answers
            if time_response.method == "limited"
        )
        assert capped.elasticity is not None
        assert capped.elasticity.shape == "kinked"
        assert capped.at_most == pytest.approx(-0.5, abs=0.05)

    def test_a_limit_alone_says_how_much_it_cannot_rule_out(self, tmp_path: Path) -> None:
        made = scarce_study(tmp_path, limited(2000.0, 1000.0), lambda *_: 1.0)
        diagnosis = diagnose(made.studied, "q01", known_capacities=GIVES)
        assert diagnosis is not None
        assert diagnosis.chosen["disk"].at_most == pytest.approx(-0.25)
        assert any(
            "lets a fine mixture pass" in sentence for sentence in verdict_of(diagnosis).remarks
        )


class TestFigure:
    def test_it_says_the_verdict_and_has_every_level(self, tmp_path: Path) -> None:
        made = scarce_study(tmp_path, slowed(1.5, 3.0), serial(0.03, 0.95))
        figure = figure_of(made, operations=["q01"])
        assert figure.says[0].startswith("q01 is bound by the disk: ")
        assert figure.subjects == ("CPU slowed", "disk slowed")
        assert [measure.at for measure in figure.measures] == [1.0, 1.5, 3.0]
        tables = {table.name: table for table in figure.tables}
        assert [row[1] for row in tables["levels"].rows] == [
            "as it is",
            "CPU slowed 1.5 x",
            "CPU slowed 3 x",
            "disk slowed 1.5 x",
            "disk slowed 3 x",
        ]
        assert not figure.missing

    def test_of_several_operations_each_has_its_verdict(self, tmp_path: Path) -> None:
        made = scarce_study(tmp_path, slowed(1.5, 3.0), serial(0.97, 0.0), rounds=2)
        figure = figure_of(made)
        assert sum("is bound by CPU" in sentence for sentence in figure.says) == 3

    def test_an_operation_that_nobody_played_is_refused_with_the_nearest(
        self, tmp_path: Path
    ) -> None:
        made = scarce_study(tmp_path, slowed(2.0), serial(0.5, 0.5), rounds=1)
        figure = figure_of(made, operations=["q1"])
        assert "did you mean 'q01'" in figure.missing[0]
