"""What is asked for is written as it was asked, without secrets, and becomes the driver's plan."""

from __future__ import annotations

import json

import pytest

from assay import _core
from assay.model.errors import UsageError
from assay.study.request import RunRequest, driver_plan, parse_settings

ORDER = ("q2", "q1", "q3")


def request(**asked: object) -> RunRequest:
    return RunRequest("w", "e", 1.0, **asked)  # type: ignore[arg-type]


class TestPlan:
    def test_hot_is_one_untimed_pass_and_then_timed_ones(self) -> None:
        warmup, measured = driver_plan(request(min_time_s=20.0), ORDER)["phases"]
        assert (warmup["name"], warmup["passes_min"], "duration_ns" in warmup) == (
            "warmup",
            1,
            False,
        )
        assert (measured["name"], measured["passes_min"]) == ("measured", 1)
        assert measured["duration_ns"] == 20_000_000_000

    def test_both_play_the_order_of_the_workload(self) -> None:
        plan = driver_plan(request(), ORDER)
        for phase in plan["phases"]:
            assert [plan["operations"][index] for index in phase["operations"]] == list(ORDER)

    def test_an_operation_that_comes_twice_is_one_operation_played_twice(self) -> None:
        plan = driver_plan(request(), ["a", "b", "a"])
        assert plan["operations"] == ["a", "b"]
        assert plan["phases"][0]["operations"] == [0, 1, 0]

    def test_seed_and_deadline_are_handed_on(self) -> None:
        plan = driver_plan(request(seed=7, operation_deadline_s=1.5), ORDER)
        assert (plan["seed"], plan["operation_deadline_ns"]) == (7, 1_500_000_000)

    def test_the_driver_takes_it(self, tmp_path: object) -> None:
        plan = driver_plan(request(min_time_s=0.0), ORDER)
        session, flag = _core.NullSession(), _core.CancelFlag()
        report = json.loads(
            _core.drive(
                json.dumps(plan), [session], str(tmp_path), flag, lambda *_: None, metered=False
            )
        )
        assert report["ended"] == "done"
        assert [phase["phase"] for phase in report["phases"]] == ["warmup", "measured"]


class TestRecord:
    def test_the_request_stands_in_the_record_as_it_was_asked(self) -> None:
        asked = request(settings={"threads": "2"}, seed=9)
        facts = asked.facts()
        assert facts == json.loads(json.dumps(facts))
        assert RunRequest(**facts) == asked

    @pytest.mark.parametrize(
        "name", ["password", "s3_secret_access_key", "http_proxy_password", "Token"]
    )
    def test_a_setting_that_may_be_a_secret_is_blotted_out(self, name: str) -> None:
        asked = request(settings={name: "hunter2", "threads": "2"})
        assert asked.facts()["settings"] == {name: "***", "threads": "2"}
        assert asked.settings[name] == "hunter2"

    def test_so_is_a_password_in_a_url(self) -> None:
        facts = request(settings={"attach": "postgresql://me:hunter2@host/db"}).facts()
        assert facts["settings"]["attach"] == "postgresql://me:***@host/db"


class TestSettings:
    def test_name_and_value_stand_around_the_first_equals_sign(self) -> None:
        assert parse_settings(["a=1", " b = x=y ", "c="]) == {"a": "1", "b": "x=y", "c": ""}

    def test_none_are_none(self) -> None:
        assert parse_settings([]) == {}

    @pytest.mark.parametrize("text", ["a", "", "=1", " =1"])
    def test_what_is_no_setting_is_refused_with_the_form(self, text: str) -> None:
        with pytest.raises(UsageError, match="write it as --set name=value"):
            parse_settings([text])

    def test_a_name_given_twice_is_refused(self) -> None:
        with pytest.raises(UsageError, match="a is given twice"):
            parse_settings(["a=1", "a =2"])
