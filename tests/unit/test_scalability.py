"""The Universal Scalability Law against its own closed forms, and against points that are exact."""

from __future__ import annotations

import math

import pytest

from assay.analysis.sweep.scalability import Law, Scaling, scaling

LEVELS = (1, 2, 4, 8, 16)
# Gunther's closed forms at these: the most at sqrt((1 - 0.04) / 0.0006) = 40 clients.
LAW = Law(100.0, 0.04, 0.0006)


def fitted(law: Law, levels: tuple[float, ...] = LEVELS, rounds: int = 1) -> Scaling:
    points = [(float(n), law.throughput(n)) for n in levels for _ in range(rounds)]
    fit = scaling(points)
    assert fit is not None
    return fit


def slope(law: Law, clients: float) -> float:
    """Relative growth of throughput by relative growth of clients, by differences."""
    step = 1e-5
    grown = law.throughput(clients * (1 + step)) / law.throughput(clients)
    return math.log(grown) / math.log(1 + step)


class TestLaw:
    def test_one_client_does_what_one_does(self) -> None:
        assert LAW.throughput(1) == 100.0
        # Worked by hand: 200 / (1 + 0.04 + 0.0006 * 2).
        assert LAW.throughput(2) == pytest.approx(200 / 1.0412)

    def test_the_most_is_where_gunther_has_it(self) -> None:
        assert LAW.most_at() == pytest.approx(40.0)
        assert LAW.most() == pytest.approx(LAW.throughput(40))
        assert LAW.throughput(39) < LAW.most() > LAW.throughput(41)

    def test_at_the_knee_a_percent_of_clients_brings_half_a_percent(self) -> None:
        for law in (LAW, Law(7.0, 0.3, 0.0), Law(7.0, 0.0, 0.01), Law(1e5, 0.2, 0.05)):
            assert slope(law, law.knee_at()) == pytest.approx(0.5, abs=1e-4)

    def test_the_knee_has_the_greatest_power(self) -> None:
        def power(clients: float) -> float:
            return LAW.throughput(clients) ** 2 / clients

        at = LAW.knee_at()
        assert power(at * 0.99) < power(at) > power(at * 1.01)

    def test_what_never_falls_has_no_end(self) -> None:
        assert Law(5.0, 0.0, 0.0).most_at() == Law(5.0, 0.0, 0.0).knee_at() == math.inf
        assert Law(5.0, 0.0, 0.0).most() == math.inf
        assert Law(5.0, 0.25, 0.0).most() == pytest.approx(20.0)
        assert Law(5.0, 0.25, 0.0).knee_at() == pytest.approx(3.0)

    def test_what_only_falls_is_best_with_one(self) -> None:
        assert Law(5.0, 1.2, 0.1).most_at() == Law(5.0, 1.2, 0.1).knee_at() == 1.0


class TestFit:
    @pytest.mark.parametrize(
        "law",
        [LAW, Law(3.0, 0.0, 0.0), Law(9e4, 0.5, 0.0), Law(1.0, 0.0, 0.02), Law(8.0, 0.9, 0.4)],
    )
    def test_exact_points_give_their_law(self, law: Law) -> None:
        fit = fitted(law)
        assert fit.law.single_per_s == pytest.approx(law.single_per_s)
        assert fit.law.sigma == pytest.approx(law.sigma, abs=1e-9)
        assert fit.law.kappa == pytest.approx(law.kappa, abs=1e-9)
        assert fit.error == pytest.approx(0, abs=1e-6)
        assert fit.levels == len(LEVELS)

    def test_throughput_that_grows_faster_than_clients_is_a_straight_line(self) -> None:
        fit = scaling([(1.0, 100.0), (2.0, 230.0), (4.0, 500.0), (8.0, 1100.0)])
        assert fit is not None
        assert (fit.law.sigma, fit.law.kappa) == (0.0, 0.0)

    def test_fewer_than_three_numbers_of_clients_are_no_law(self) -> None:
        assert scaling([(1.0, 1.0), (2.0, 2.0), (2.0, 2.1), (1.0, 1.1)]) is None

    def test_three_runs_leave_nothing_for_an_interval(self) -> None:
        fit = fitted(LAW, (1, 4, 16))
        assert fit.law.sigma == pytest.approx(LAW.sigma)
        assert fit.sigma.ends is None
        assert fit.band(8) is None

    def test_noise_and_no_run_of_few_clients_leave_no_ends(self) -> None:
        """What one client does could be anything, and contention with it."""
        noise = {16: (1.15, 0.85), 32: (0.9, 1.1), 64: (1.1, 0.95)}
        throughput = scaling(
            [(n, LAW.throughput(n) * ratio) for n, own in noise.items() for ratio in own]
        )
        assert throughput is not None
        assert throughput.law.single_per_s > 0
        assert (
            throughput.single_per_s.ends is throughput.sigma.ends is throughput.knee_at.ends is None
        )
        assert throughput.band(32) is None

    def test_ends_are_around_the_value_and_the_band_around_the_line(self) -> None:
        points = [
            (float(n), LAW.throughput(n) * (1 + 0.02 * (-1) ** k)) for n in LEVELS for k in (0, 1)
        ]
        fit = scaling(points)
        assert fit is not None
        for quantity in (
            fit.single_per_s,
            fit.sigma,
            fit.kappa,
            fit.knee_at,
            fit.most_at,
            fit.most,
        ):
            assert quantity.ends is not None
            assert quantity.ends[0] <= quantity.value <= quantity.ends[1]
        band = fit.band(8)
        assert band is not None
        assert band[0] < fit.law.throughput(8) < band[1]

    def test_an_end_of_a_knee_that_may_never_come_is_open(self) -> None:
        noisy = [(1.0, 100.0), (2.0, 205.0), (3.0, 290.0), (4.0, 405.0), (5.0, 480.0)]
        fit = scaling(noisy)
        assert fit is not None
        assert fit.knee_at.ends is not None
        assert fit.knee_at.ends[1] == math.inf
