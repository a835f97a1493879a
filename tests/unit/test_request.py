"""What is asked for is written as it was asked, without secrets, and becomes the driver's plan."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay import _core
from assay.model.errors import UsageError
from assay.running.asked.driver_plan import READ_WITHIN_S, Mix, driver_plan, plan_sessions
from assay.running.asked.parsing import parse_probes, parse_settings, parse_state, read_prepare
from assay.running.asked.request import RunRequest

ORDER = ("q2", "q1", "q3")
EQUAL = dict.fromkeys(ORDER, 1)


def request(**asked: object) -> RunRequest:
    return RunRequest(workload="w", engine="e", scale=1.0, **asked)  # type: ignore[arg-type]


class TestPlan:
    def test_hot_is_one_untimed_pass_and_then_timed_ones(self) -> None:
        warmup, measured = driver_plan(request(min_time_s=20.0), ORDER, EQUAL)["phases"]
        assert (warmup["name"], warmup["passes_min"], "duration_ns" in warmup) == (
            "warmup",
            1,
            False,
        )
        assert (measured["name"], measured["passes_min"]) == ("measured", 1)
        assert measured["duration_ns"] == 20_000_000_000

    def test_hot_may_be_several_untimed_passes(self) -> None:
        warmup, _ = driver_plan(request(state_passes=3), ORDER, EQUAL)["phases"]
        assert (warmup["name"], warmup["passes_min"]) == ("warmup", 3)

    def test_a_state_without_passes_begins_with_what_is_timed(self) -> None:
        asked = request(state="cold", state_passes=0, min_time_s=0.0)
        (measured,) = driver_plan(asked, ORDER, EQUAL)["phases"]
        assert (measured["name"], measured["passes_min"], measured["duration_ns"]) == (
            "measured",
            1,
            0,
        )

    def test_both_play_the_order_of_the_workload(self) -> None:
        plan = driver_plan(request(), ORDER, EQUAL)
        for phase in plan["phases"]:
            assert [plan["operations"][index] for index in phase["operations"]] == list(ORDER)

    def test_an_operation_that_comes_twice_is_one_operation_played_twice(self) -> None:
        plan = driver_plan(request(), ["a", "b", "a"], {"a": 1, "b": 1})
        assert plan["operations"] == ["a", "b"]
        assert plan["phases"][0]["operations"] == [0, 1, 0]

    def test_seed_and_deadline_are_handed_on(self) -> None:
        plan = driver_plan(request(seed=7, operation_deadline_s=1.5), ORDER, EQUAL)
        assert (plan["seed"], plan["operation_deadline_ns"]) == (7, 1_500_000_000)

    def test_with_clients_it_is_a_mix_by_weight_after_a_warm_up(self) -> None:
        asked = request(clients=8, time_s=30.0, warmup_s=5.0, retries_max=3)
        plan = driver_plan(asked, ORDER, {"q2": 3, "q1": 1, "q3": 2})
        warmup, measured = plan["phases"]
        assert measured["arrival"] == warmup["arrival"] == {"shape": "closed", "clients": 8}
        assert (warmup["duration_ns"], measured["duration_ns"]) == (5_000_000_000, 30_000_000_000)
        assert measured["weights"] == [3, 1, 2]
        assert plan["retries_max"] == 3

    def test_with_a_rate_only_the_measured_part_is_open(self) -> None:
        warmup, measured = driver_plan(request(clients=2, rate_per_s=50.0), ORDER, EQUAL)["phases"]
        assert warmup["arrival"]["shape"] == "closed"
        assert measured["arrival"] == {"shape": "open", "rate_per_s": 50.0, "clients": 2}

    def test_what_comes_after_is_played_once(self) -> None:
        plan = driver_plan(request(clients=2), ORDER, EQUAL, ("sums",))
        assert plan["operations"] == [*ORDER, "sums"]
        assert plan["phases"][1]["operations"] == [0, 1, 2]
        after = plan["phases"][2]
        assert (after["name"], after["operations"], after["passes_min"]) == ("after", [3], 1)

    @pytest.mark.parametrize(
        "asked", [{"min_time_s": 0.0}, {"clients": 3, "time_s": 0.05, "warmup_s": 0.01}]
    )
    def test_the_driver_takes_it(self, tmp_path: object, asked: dict[str, object]) -> None:
        plan = driver_plan(request(**asked), ORDER, EQUAL)
        sessions = [_core.NullSession(1_000_000) for _ in range(plan_sessions(plan))]
        flag, silent = _core.CancelFlag(), lambda *_: None
        report = json.loads(_core.drive(json.dumps(plan), sessions, str(tmp_path), flag, silent))
        assert report["ended"] == "done"
        assert [phase["phase"] for phase in report["phases"]] == ["warmup", "measured"]


class TestRecord:
    def test_the_request_stands_in_the_record_as_it_was_asked(self) -> None:
        asked = request(settings={"threads": "2"}, prepare={"a.sql": "create x;"}, seed=9)
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

    def test_a_password_in_the_dsn_does_not_stand_there(self) -> None:
        facts = request(dsn="postgresql://me:hunter2@host/db").facts()
        assert facts["dsn"] == "postgresql://me:***@host/db"

    @pytest.mark.parametrize(
        "text",
        [
            "create user me password 'hunter2';",
            "create user me identified  by 'hunter2';",
            "create secret (type s3, key_id 'hunter2', secret E'hun''ter2');",
            "attach 'postgresql://me:hunter2@host/db';",
        ],
    )
    def test_nor_does_one_in_the_sql_that_prepares(self, text: str) -> None:
        kept_text = request(prepare={"a.sql": text}).facts()["prepare"]["a.sql"]
        assert "ter2" not in kept_text
        assert kept_text.endswith(text[-2:])


class TestPrepare:
    def test_texts_stand_by_their_names_in_the_order_given(self, tmp_path: Path) -> None:
        second, first = tmp_path / "b.sql", tmp_path / "a.sql"
        second.write_text("two;")
        first.write_text("one;")
        read = read_prepare([str(second), str(first)])
        assert list(read.items()) == [(str(second), "two;"), (str(first), "one;")]

    @pytest.mark.parametrize(
        ("content", "message"),
        [(None, "cannot be read"), (b" \n", "no statement"), (b"\xff\xfe", "not UTF-8")],
    )
    def test_what_is_no_file_of_sql_is_refused(
        self, tmp_path: Path, content: bytes | None, message: str
    ) -> None:
        file = tmp_path / "a.sql"
        if content is not None:
            file.write_bytes(content)
        with pytest.raises(UsageError, match=message):
            read_prepare([str(file)])

    def test_a_file_given_twice_is_refused(self, tmp_path: Path) -> None:
        file = tmp_path / "a.sql"
        file.write_text("one;")
        with pytest.raises(UsageError, match="given twice"):
            read_prepare([str(file), str(file)])


class TestState:
    @pytest.mark.parametrize(
        ("text", "state"),
        [
            ("hot", ("hot", 1)),
            ("hot:3", ("hot", 3)),
            ("cold", ("cold", 0)),
            ("os-warm", ("os-warm", 0)),
        ],
    )
    def test_a_state_and_its_untimed_passes(self, text: str, state: tuple[str, int]) -> None:
        assert parse_state(text) == state

    @pytest.mark.parametrize("text", ["", "warm", "hot:", "hot:0", "hot:-1", "hot:x", "cold:1"])
    def test_what_is_no_state_is_refused_with_those_there_are(self, text: str) -> None:
        with pytest.raises(UsageError, match="write cold, os-warm, loaded, hot, or hot:N"):
            parse_state(text)


class TestProbes:
    def test_all_none_or_some(self) -> None:
        assert parse_probes("all") is None
        assert parse_probes("none") == ()
        assert parse_probes("system, disks,system") == ("system", "disks")

    @pytest.mark.parametrize("text", ["", " ", "a,", "all,none", "none,system", "system,all"])
    def test_what_is_no_choice_is_refused_with_the_form(self, text: str) -> None:
        with pytest.raises(UsageError, match="write it as all, none, or names"):
            parse_probes(text)

    def test_what_runs_is_what_was_chosen_and_stands_in_the_record(self) -> None:
        assert request().runs_probe("disks")
        assert not request(probes=()).runs_probe("disks")
        chosen = request(probes=("disks",))
        assert chosen.runs_probe("disks")
        assert not chosen.runs_probe("waits")
        assert chosen.facts()["probes"] == ("disks",)


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


class TestMixOfTerminals:
    MIX = Mix(("rows",), deck=True, waits={"q1": (18.0, 12.0)})

    def test_what_is_played_before_comes_first_and_waits_for_nobody(self) -> None:
        plan = driver_plan(request(clients=2), ["q1"], {"q1": 10}, ("rows", "sums"), self.MIX)
        assert plan["operations"] == ["q1", "rows", "sums"]
        assert [phase["name"] for phase in plan["phases"]] == [
            "before",
            "warmup",
            "measured",
            "after",
        ]
        assert plan["phases"][0]["operations"] == [1]
        assert plan["phases"][3]["operations"] == [1, 2]

    def test_weights_are_cards_in_both_parts(self) -> None:
        phases = driver_plan(request(clients=2), ["q1"], {"q1": 10}, (), self.MIX)["phases"]
        assert [phase.get("deck") for phase in phases] == [None, True, True]

    def test_waits_are_of_every_operation_and_only_where_asked_for(self) -> None:
        asked = request(clients=2, think_time=True)
        measured = driver_plan(asked, ["q1"], {"q1": 10}, ("sums",), self.MIX)["phases"][2]
        typed = {"keying_ns": 18_000_000_000, "think_mean_ns": 12_000_000_000}
        assert measured["waits"] == [typed, *[{"keying_ns": 0, "think_mean_ns": 0}] * 2]
        plain = driver_plan(request(clients=2), ["q1"], {"q1": 10}, (), self.MIX)["phases"]
        assert all("waits" not in phase for phase in plain)

    def test_checks_of_a_cold_run_come_when_counters_of_the_load_were_read(self) -> None:
        mix = Mix(checks=("q1@check", "q2@check"))
        cold = request(clients=2, state="cold")
        plan = driver_plan(cold, ["q1", "q2"], {"q1": 1, "q2": 1}, (), mix)
        last = plan["phases"][-1]
        assert (last["name"], last["in_order"]) == ("after", True)
        assert last["arrival"] == {"shape": "closed", "clients": 1}
        assert [plan["operations"][number] for number in last["operations"]] == list(mix.checks)
        waited_s = [wait["keying_ns"] / 1e9 for wait in last["waits"]]
        assert waited_s == [0, 0, READ_WITHIN_S, 0]
        hot = driver_plan(request(clients=2), ["q1", "q2"], {"q1": 1, "q2": 1}, (), mix)
        assert hot["phases"][0]["name"] == "before"
        assert all("waits" not in phase for phase in hot["phases"])

    def test_a_state_that_reading_would_end_is_left_alone(self) -> None:
        cold = request(clients=2, state="cold")
        phases = driver_plan(cold, ["q1"], {"q1": 10}, ("rows",), self.MIX)["phases"]
        assert "before" not in [phase["name"] for phase in phases]
