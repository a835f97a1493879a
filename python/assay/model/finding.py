"""Claims that a report prints, with what they rest on."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """A claim with its evidence.

    Attributes:
        claim: What is claimed, with its numbers.
        effect_share: How much of the run's time the claim is about, 0 to 1.
        interval: 95 % interval of the effect over repeated runs; None for one run.
        runs: Ids of the runs that support it.
        method: Heading in docs/methodology.md that says how it is found.
        to_try: What to do about it, as a command where there is one.
    """

    claim: str
    effect_share: float
    interval: tuple[float, float] | None
    runs: tuple[str, ...]
    method: str
    to_try: str | None = None

    @property
    def interval_words(self) -> str:
        """The interval as people read it."""
        if self.interval is None:
            return "one run, no interval"
        return f"[{self.interval[0]:.3g}, {self.interval[1]:.3g}]"
