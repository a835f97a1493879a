"""CPU shares are those of mpstat's formulas: guests apart, iowait that goes back is none."""

from __future__ import annotations

from typing import Any

import pytest

from assay.analysis.host.cpu_series import cpu_series
from tests.conftest import BEGUN_NS, MS, S, SyntheticRun


def a_sample(at_s: float, cpu: int = 0, **spent_ms: int) -> dict[str, Any]:
    counters = dict.fromkeys(("iowait", "irq", "softirq", "steal", "guest", "guest_nice"), 0)
    spent = counters | spent_ms
    return {
        "time_ns": BEGUN_NS + round(at_s * S),
        "cpu": cpu,
        **{f"{name}_ns": ms * MS for name, ms in spent.items()},
    }


def percents(synthetic: SyntheticRun, *samples: dict[str, Any]) -> dict[str, float]:
    """Figures of the one interval between samples, those that are not 0."""
    synthetic.streams["cpus"] = list(samples)
    (row,) = cpu_series(synthetic.write(), None).rows(named=True)
    return {name: value for name, value in row.items() if name[0] == "%" and value}


class TestCpuSeries:
    def test_parts_are_percents_of_all_time(self, synthetic: SyntheticRun) -> None:
        first = a_sample(0, user=500, system=70)
        last = a_sample(
            1, user=700, nice=50, system=170, idle=400, iowait=150, irq=20, softirq=30, steal=50
        )
        assert percents(synthetic, first, last) == pytest.approx(
            {
                "%usr": 20.0,
                "%nice": 5.0,
                "%sys": 10.0,
                "%idle": 40.0,
                "%iowait": 15.0,
                "%irq": 2.0,
                "%soft": 3.0,
                "%steal": 5.0,
            }
        )

    def test_guests_are_no_part_of_user(self, synthetic: SyntheticRun) -> None:
        first = a_sample(0)
        last = a_sample(1, user=600, guest=200, nice=100, guest_nice=60, idle=300)
        shares = {"%usr": 40.0, "%guest": 20.0, "%nice": 4.0, "%gnice": 6.0, "%idle": 30.0}
        assert percents(synthetic, first, last) == pytest.approx(shares)

    def test_iowait_that_goes_backwards_is_none(self, synthetic: SyntheticRun) -> None:
        shares = percents(synthetic, a_sample(0, iowait=90), a_sample(1, iowait=40, idle=500))
        assert shares == {"%idle": 100.0}

    def test_all_is_of_the_time_of_all_cpus(self, synthetic: SyntheticRun) -> None:
        """One CPU that is half as long online does not weigh as much as the other."""
        busy, idle = ({"user": 1000}, {"idle": 500})
        synthetic.streams["cpus"] = [
            a_sample(at, cpu, **{name: at * ms for name, ms in spent.items()})
            for at in (0, 1)
            for cpu, spent in enumerate((busy, idle))
        ]
        frame = cpu_series(synthetic.write(), None, each_cpu=True)
        usr = dict(zip(frame["cpu"], frame["%usr"], strict=True))
        assert usr == pytest.approx({"all": 200 / 3, "0": 100.0, "1": 0.0})

    def test_what_the_kernel_does_not_count_is_null(self, synthetic: SyntheticRun) -> None:
        samples = [a_sample(at, idle=at * 1000) | {"steal_ns": None} for at in (0, 1)]
        synthetic.streams["cpus"] = samples
        (row,) = cpu_series(synthetic.write(), None).rows(named=True)
        assert (row["%steal"], row["%irq"], row["%idle"]) == (None, 0.0, 100.0)

    def test_a_run_without_the_probe_has_no_rows(self, synthetic: SyntheticRun) -> None:
        del synthetic.streams["cpus"]
        assert cpu_series(synthetic.write()).is_empty()
