"""Messages of a made cluster: what the model has on paper, beside what its nodes counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.analysis.cluster.messages import Predicted, message_facts, model_of
from assay.engines.discovery import find_engines
from assay.record.reader import Run
from assay.record.seal import write_seal
from assay.record.writer import write_json
from tests.clusters import DECLARED, EACH_S, HALF, as_cluster
from tests.plans import made, made_plan, with_plans
from tests.records import OPERATIONS, write_run

WHOLE_S, NODES = sum(OPERATIONS.values()), sum(HALF.values())
PARTITIONS, MAPS = 8.0, 3.0
BLOCKS = {
    "form": "blocks",
    "recipients": "shuffle.partitions",
    "exchanges": ["shuffle"],
    "says": ["a sample of keys is fetched, too"],
}


def cluster_run(place: Path, messages: dict[str, Any] | None, **settings: str) -> Run:
    """A run of two workers, whose plan has a shuffle of a scan below one of its join."""
    declared = DECLARED | ({} if messages is None else {"messages": messages})
    directory = as_cluster(write_run(place), declared=declared)
    environment = json.loads((directory / "environment.json").read_text("utf-8"))
    environment["engine"]["settings"] = settings
    write_json(directory / "environment.json", environment)
    scan = made("exchange", made("scan"), native="shuffle", rows=1e6, details={"tasks": MAPS})
    spread = made("exchange", made("scan"), native="broadcast", rows=10.0)
    root = made("exchange", made("hash join", scan, spread), native="shuffle", rows=1e6)
    with_plans(directory, [made_plan(root)])
    write_seal(directory)
    return Run(directory)


def by_name(run: Run) -> dict[str, Predicted]:
    return {prediction.name: prediction for prediction in model_of(run)}


def counted(word: str) -> float:
    return EACH_S[word] * WHOLE_S * NODES


class TestModel:
    def test_blocks_are_those_of_its_shuffles_that_leave_their_node(self, tmp_path: Path) -> None:
        predictions = by_name(cluster_run(tmp_path, BLOCKS, **{"shuffle.partitions": "8"}))
        # Three maps to eight reducers, and eight to eight behind them; half stays, none is empty.
        assert predictions["messages"].predicted == pytest.approx((3 * 8 + 8 * 8) / 2)
        assert predictions["messages"].counted == pytest.approx(counted("fetched"), rel=0.01)
        assert predictions["messages"].why == "a sample of keys is fetched, too"
        size = predictions["bytes a message"]
        assert size.counted == pytest.approx(4096)
        assert size.predicted == pytest.approx(counted("fetchedBytes") / 44, rel=0.01)
        assert predictions["messages"].ratio == pytest.approx(counted("fetched") / 44, rel=0.01)

    def test_shares_that_leave_their_node_are_counted_by_two_words(self, tmp_path: Path) -> None:
        predictions = by_name(cluster_run(tmp_path, None))
        share = predictions["remote messages"]
        assert share.predicted == 0.5
        # A thousand fetched and five hundred of its own.
        assert share.counted == pytest.approx(2 / 3, rel=0.01)
        assert predictions["remote bytes"].counted is None
        assert predictions["remote bytes"].why == "messages within a node are not counted apart"
        # Both workers are of this host.
        assert predictions["other host"].predicted == 0.0
        assert "does not say what its messages are made of" in predictions["messages"].why

    def test_without_readings_around_operations_it_is_the_whole_part(self, tmp_path: Path) -> None:
        run = cluster_run(tmp_path, BLOCKS, **{"shuffle.partitions": "8"})
        (run.dir / "raw" / "engine-operations.arrows").unlink()
        counted_messages = by_name(Run(run.dir))["messages"].counted
        # Readings twice a second around three passes hold up to a second more.
        assert counted_messages is not None
        assert (
            counted("fetched")
            <= counted_messages
            <= counted("fetched") + EACH_S["fetched"] * NODES / 3
        )

    def test_a_setting_that_is_not_told_leaves_no_prediction(self, tmp_path: Path) -> None:
        predictions = by_name(cluster_run(tmp_path, BLOCKS))
        assert predictions["messages"].predicted is None
        assert predictions["messages"].why == "shuffle.partitions is not told"

    def test_an_engine_that_is_one_server_sends_itself_nothing(self, tmp_path: Path) -> None:
        assert model_of(Run(write_run(tmp_path))) == ()

    def test_what_is_wrong_in_the_declaration_is_said(self) -> None:
        with pytest.raises(ValueError, match="form is blocks, pages or batches"):
            message_facts({"messages": BLOCKS | {"form": "packets"}})
        with pytest.raises(ValueError, match=r"\[messages\] cannot be read"):
            message_facts({"messages": BLOCKS | {"size": 3}})
        assert message_facts(None) is None

    def test_every_engine_that_declares_its_messages_can_be_read(self) -> None:
        declared_messages = [message_facts(folder.counters()) for folder in find_engines().values()]
        assert any(figures is not None and figures.form == "pages" for figures in declared_messages)
