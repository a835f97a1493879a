"""A cluster on paper: costs that are known carried to sizes and nodes that are known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.figures.cluster.sizing import cluster_of, figure
from assay.analysis.figures.contract import Asked
from assay.analysis.size.cluster import CPU, DISK, NETWORK, Cluster, Measured, Taken, leaving, sized
from assay.model.errors import UsageError
from assay.model.units import parse_bit_rate

CLUSTER = Cluster(4, 8, 100.0, 50.0, 25.0)


def _measured(
    *taken: Taken, nodes: int = 2, skew: float | None = None, data: float = 10.0
) -> Measured:
    return Measured({"q13": taken}, nodes, {1.0: data}, {1.0: 40.0}, skew)


def test_cpu_time_is_shared_by_all_cores() -> None:
    sizing = sized(_measured(Taken(1.0, 1, 64.0)), 1.0, CLUSTER)
    assert sizing.operations[0].seconds == {CPU: 64.0 / 32}
    assert sizing.least_s == 2.0
    assert sizing.operations[0].bound == CPU


def test_of_one_scale_costs_grow_in_proportion_and_that_is_assumed() -> None:
    sizing = sized(_measured(Taken(2.0, 1, 10.0), Taken(2.0, 2, 14.0)), 20.0, CLUSTER)
    assert sizing.operations[0].cpu_s == pytest.approx(120.0)
    assert sizing.beyond == 10.0
    assert sizing.assumptions[0].source == "assumed"


def test_of_two_scales_they_grow_by_their_power_law() -> None:
    sizing = sized(_measured(Taken(1.0, 1, 10.0), Taken(10.0, 1, 1000.0)), 100.0, CLUSTER)
    assert sizing.operations[0].cpu_s == pytest.approx(100_000.0)
    assert sizing.assumptions[0].source == "measured"


def test_memory_is_carried_only_where_it_grew_with_the_data() -> None:
    taken = Taken(1.0, 1, 64.0)

    def memory(by_scale: dict[float, float]) -> float | None:
        measured = Measured({"q13": [taken]}, 2, {1.0: 10.0}, by_scale)
        return sized(measured, 100.0, CLUSTER).memory_bytes

    assert memory({1.0: 40.0}) is None
    assert memory({1.0: 40.0, 10.0: 39.0}) is None
    assert memory({1.0: 40.0, 10.0: 400.0}) == pytest.approx(4000.0 / CLUSTER.nodes)


def test_what_somebody_said_is_given_and_the_rest_assumed() -> None:
    def source(cluster: Cluster) -> str:
        assumptions = sized(_measured(Taken(1.0, 1, 64.0)), 1.0, cluster).assumptions
        return next(
            assumption.source
            for assumption in assumptions
            if assumption.text.startswith("a core does")
        )

    assert source(CLUSTER) == "assumed"
    assert source(cluster_of({"nodes": 4, "cores": 8})) == "given"


def test_fixed_costs_of_small_sizes_are_not_carried_along() -> None:
    # 10 s without any data and 1 s for each unit: a power of two sizes alone says far too little.
    sizing = sized(_measured(Taken(1.0, 1, 11.0), Taken(10.0, 1, 20.0)), 10_000.0, CLUSTER)
    assert sizing.operations[0].cpu_s == pytest.approx(10_010.0)


def test_what_is_sent_grows_with_the_nodes_as_fewer_rows_stay_at_home() -> None:
    sizing = sized(_measured(Taken(1.0, 1, 1.0, sent_bytes=1000.0)), 1.0, CLUSTER)
    (sized_operation,) = sizing.operations
    assert sized_operation.sent_bytes == pytest.approx(1000.0 * 0.75 / 0.5)
    assert sized_operation.seconds[NETWORK] == pytest.approx(1500.0 / (4 * 50.0))
    assert sized_operation.bound == NETWORK


def test_one_node_tells_nothing_of_what_several_would_send() -> None:
    sizing = sized(_measured(Taken(1.0, 1, 1.0, sent_bytes=0.0), nodes=1), 1.0, CLUSTER)
    assert sizing.operations[0].sent_bytes is None
    assert NETWORK not in sizing.operations[0].seconds
    assert any("not known" in assumption.text for assumption in sizing.assumptions)


def test_data_that_do_not_fit_are_read_from_disks() -> None:
    taken = Taken(1.0, 1, 1.0, read_bytes=800.0)
    assert DISK not in sized(_measured(taken), 1.0, CLUSTER).operations[0].seconds
    large = sized(_measured(taken, data=500.0), 1.0, CLUSTER)
    assert large.fits is False
    assert large.operations[0].seconds[DISK] == pytest.approx(800.0 / (4 * 25.0))


def test_the_busiest_node_is_waited_for() -> None:
    even = sized(_measured(Taken(1.0, 1, 64.0)), 1.0, CLUSTER)
    skewed = sized(_measured(Taken(1.0, 1, 64.0), skew=1.5), 1.0, CLUSTER)
    assert skewed.least_s == pytest.approx(1.5 * even.least_s)


def test_nothing_measured_is_refused() -> None:
    with pytest.raises(ValueError, match="the run contains no measurement"):
        sized(Measured({}, 1, {}, {}), 1.0, CLUSTER)


@given(st.integers(2, 500), st.integers(2, 500))
def test_more_nodes_never_make_the_bound_longer(first: int, more: int) -> None:
    taken = Taken(1.0, 1, 64.0, sent_bytes=1000.0)
    few = Cluster(first, 8, 100.0, 50.0, 25.0)
    many = Cluster(first + more, 8, 100.0, 50.0, 25.0)
    assert sized(_measured(taken), 1.0, many).least_s <= sized(_measured(taken), 1.0, few).least_s
    assert 0 < leaving(first) < leaving(first + more) < 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "nodes"),
        ({"nodes": 0}, "whole numbers"),
        ({"nodes": 2, "network": "fast"}, "network fast: write it as 10Gbit"),
        ({"nodes": 2, "memory": "much"}, "memory much: write it as 128GiB"),
        (
            {"nodes": 2, "utilisation": 1.5},
            "write the used share of the cores, from 0.001 to 1",
        ),
        ({"nodes": 2, "utilisation": 1e-308}, "from 0.001 to 1"),
        ({"nodes": 2_000_000}, "nodes 2000000: the maximum is 1,000,000"),
        ({"nodes": 2, "cores": "9" * 400}, "9: the maximum is 1,000,000"),
        ({"nodes": 2, "memory": "9" * 400}, "9: write it as 128GiB"),
        ({"nodes": 2, "memory": "9999999TiB"}, "memory 9999999TiB: the maximum is 1048576TiB"),
        ({"nodes": 2, "disk": "9" * 300}, "9: write it as 2GiB"),
        ({"nodes": 2, "network": "1001Tbit"}, "network 1001Tbit: the maximum is 1000Tbit"),
    ],
)
def test_a_cluster_that_cannot_be_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        cluster_of(options)


@pytest.mark.parametrize(
    ("scale", "message"),
    [
        (1e308, r"scale 1e\+308: the maximum is 1e12"),
        ("many", "scale many: write it as 1000"),
        (0, "scale: write the scale of the data as a number above 0"),
        (float("nan"), "a number above 0"),
    ],
)
def test_a_scale_that_cannot_be_is_refused(scale: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        figure(Asked("size", "sizing", "", (), {"nodes": 1, "scale": scale}))


@pytest.mark.parametrize(
    ("text", "bytes_per_s"), [("10Gbit", 1.25e9), ("25 Gbit/s", 3.125e9), ("800mbit", 1e8)]
)
def test_a_networks_speed_is_in_bits(text: str, bytes_per_s: float) -> None:
    assert parse_bit_rate(text) == bytes_per_s
