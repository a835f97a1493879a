"""A query that reads a view of its workload's setup has no expected rows, and says so."""

from __future__ import annotations

from assay.running.reference.making import _without_view

ERROR = "DataFusion 55.0.0 refuses it: Error during planning: table '{}' not found"


def test_a_view_of_the_setup_is_named() -> None:
    error = ERROR.format("datafusion.public.v_current")
    why = _without_view(error, {"v_current"})
    assert why.startswith("it reads the view v_current, which the workload's own setup creates")


def test_other_errors_stay() -> None:
    for error in (ERROR.format("datafusion.public.orders"), "DataFusion 55.0.0 refuses it: no"):
        assert _without_view(error, {"v_current"}) == error
