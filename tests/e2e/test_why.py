"""What bounds an operation whose time is a known mixture: the verdict is the truth."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.record.reader import Run
from assay.record.studies import read_study
from tests.e2e.conftest import Lab, reachable_directory
from tests.mixtures.truth import ENGINES, WORKLOAD, true_shares

OPERATION = "computing"


@pytest.fixture
def mixtures() -> Iterator[Lab]:
    """A laboratory that knows the engine of known mixtures."""
    with reachable_directory() as root:
        lab = Lab(root, {"ASSAY_ENGINES": str(ENGINES)})
        try:
            yield lab
        finally:
            lab.close()


def test_what_computes_is_bound_by_the_cpu_and_not_by_the_disk(mixtures: Lab) -> None:
    asked = [str(WORKLOAD), "--operation", OPERATION, "--engine", "mixture"]
    document = mixtures.document("why", *asked, "--min-time", "0s", "--quick", "--repeat", "1")
    (operation,) = document["operations"]
    elasticity = {fit["resource"]: fit for fit in operation["elasticities"]}
    free = [
        Run(run.path)
        for run in read_study(Path(document["study"])).complete
        if run.variant == "as it is" and run.path is not None
    ]
    truth = true_shares(free, OPERATION)
    assert truth["cpu"] > 0.9
    # A busy host keeps threads from their CPUs: how near it comes is the benchmark's affair.
    assert elasticity["cpu"]["value"] is not None
    assert "disk" not in elasticity
    assert operation["unmeasured"]["disk"] == "it reads nothing from it"
    assert operation["verdict"]["resources"] in (["cpu"], [])
    assert Path(document["report"]).is_file()
    mixtures.assert_nothing_left()
