"""What holds of columns whatever a statement names and an engine reads."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.plans.pruning import columns_of_plan
from assay.model.plan import PlanNode
from tests.plans import made_plan

COLUMNS = tuple(f"c{number}" for number in range(6))
TABLES = {"t": {name: f"varchar({place})" for place, name in enumerate(COLUMNS, start=1)}}
SOME = st.lists(st.sampled_from(COLUMNS), unique=True, min_size=1)


@given(named=SOME, read=SOME)
def test_what_is_for_nobody_is_what_is_read_less_what_is_named(
    named: list[str], read: list[str]
) -> None:
    root = PlanNode("scan", "scan", object="t", columns=tuple(read))
    text = " ".join(["select", ", ".join(named), "from t"])
    (columns,) = columns_of_plan(made_plan(root, text=text), TABLES, None)
    assert set(columns.read or ()) == set(read)
    assert set(columns.needed) == set(named)
    assert set(columns.unneeded) == set(read) - set(named)
    assert columns.unneeded_bytes == sum(COLUMNS.index(name) + 1 for name in columns.unneeded)
