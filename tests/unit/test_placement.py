"""CPUs are named by number, by NUMA node, or as what the other side leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from assay.model.errors import UsageError
from assay.running.asked.placement import Host, parse_cpu_list, resolve_pin

if TYPE_CHECKING:
    from pathlib import Path

TWO_NODES = Host(
    frozenset(range(8)), {"node0": frozenset(range(4)), "node1": frozenset(range(4, 8))}
)
ONE_CPU = Host(frozenset({0}), {})


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("engine=0,client=1", {"engine": [0], "client": [1]}),
        ("engine=0,2,client=1", {"engine": [0, 2], "client": [1]}),
        ("engine=0-2,5", {"engine": [0, 1, 2, 5]}),
        ("engine=node1", {"engine": [4, 5, 6, 7]}),
        ("engine=node0,4,client=rest", {"engine": [0, 1, 2, 3, 4], "client": [5, 6, 7]}),
        ("client=rest,engine=node0", {"client": [4, 5, 6, 7], "engine": [0, 1, 2, 3]}),
        ("client=0,engine=rest", {"client": [0], "engine": [1, 2, 3, 4, 5, 6, 7]}),
    ],
)
def test_words_become_cpus(text: str, cpus: dict[str, list[int]]) -> None:
    assert resolve_pin(text, TWO_NODES) == cpus


@pytest.mark.parametrize(
    "text",
    ["0", "server=1", "engine", "engine=", "engine=a", "engine=-1", "engine=node", "engine=0-1-2"],
)
def test_what_is_no_placement_is_refused_with_the_form(text: str) -> None:
    with pytest.raises(UsageError, match="write it as --pin engine=0,client=1"):
        resolve_pin(text, TWO_NODES)


@pytest.mark.parametrize(
    ("text", "host", "message"),
    [
        ("engine=node2", TWO_NODES, "no node2; NUMA nodes of this host: node0, node1"),
        ("engine=node0", ONE_CPU, "the kernel reports none"),
        ("client=rest", TWO_NODES, r"rest needs the CPUs of the other side: add engine=\.\.\."),
        (
            "engine=rest,client=rest",
            TWO_NODES,
            r"rest needs the CPUs of the other side: add client=\.\.\.",
        ),
        ("engine=0,rest", TWO_NODES, "rest cannot be combined with CPU numbers"),
        ("engine=0,client=rest", ONE_CPU, r"\(0\), and no CPU remains for client; leave --pin out"),
        (
            "engine=node0,client=rest",
            Host(frozenset({0, 1}), {"node0": frozenset({0, 1})}),
            r"\(0, 1\), and no CPU remains for client; say fewer for engine, such as engine=0",
        ),
        (
            "engine=node1",
            Host(frozenset({0}), TWO_NODES.nodes),
            "Assay may not use any CPU of node1",
        ),
        (
            "client=0-300000000",
            TWO_NODES,
            r"0-300000000 contains a CPU that does not exist .* number is 7",
        ),
        ("client=" + "9" * 5000, TWO_NODES, "does not exist"),
        ("client=3-1", TWO_NODES, "the range 3-1 ends before it begins: write 1-3"),
    ],
)
def test_what_is_not_there_is_refused_with_what_is(text: str, host: Host, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        resolve_pin(text, host)


def test_nodes_are_read_as_the_kernel_tells_them(tmp_path: Path) -> None:
    for name, cpus in (("node0", "0-1,4\n"), ("node1", "2-3\n"), ("node2", "\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "cpulist").write_text(cpus)
    (tmp_path / "nodes").mkdir()
    assert Host.this(tmp_path).nodes == {
        "node0": {0, 1, 4},
        "node1": {2, 3},
        "node2": frozenset(),
    }


def test_a_kernel_without_nodes_tells_of_none(tmp_path: Path) -> None:
    assert Host.this(tmp_path / "nowhere").nodes == {}


def test_a_list_of_cpus() -> None:
    assert parse_cpu_list("0-2,7\n") == {0, 1, 2, 7}
    assert parse_cpu_list("\n") == frozenset()
