"""Reads `knobs.toml`: settings worth varying, and the counters that show their effect.

Settings often have two sides: short messages cost scheduling, long ones make threads wait. A knob
names counters of both sides, so that a sweep shows the trade-off.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from assay.engines.contract import EngineError
from assay.model.errors import suggestion

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

Values = Literal["bytes", "count", "switch", "word"]
# Minimum similarity, from 0 to 1, of a wrong name to a suggested knob.
NEAR = 0.7


class Knob(BaseModel):
    """An engine setting (knob) that studies may vary.

    Attributes:
        setting: Name of the setting in the engine.
        about: Short description of the setting.
        values: Kind of its values. Values of a `switch` and a `word` are in `choices`.
        low, high: Range of the search, in the engine's form.
        choices: All values of a switch or a word for the search.
        even: Whether a number is searched on a linear scale; otherwise the scale is logarithmic.
        effective: Name in `effective_settings`, if that differs from its own; empty if the engine
            does not report it.
        beside: Other settings that this knob needs to have an effect, in the form of `--set`.
        moves: Counters that must change if the knob took effect: names of
            `analysis.cluster_counters`, figures of the engine's `counters.toml`, or meters of the
            engine's processes.
        scheduling, blocking: Counters of the two sides of its trade-off, by the same names.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    setting: str = Field(min_length=1)
    about: str = Field(min_length=1)
    values: Values
    low: str | None = None
    high: str | None = None
    choices: tuple[str, ...] = ()
    even: bool = False
    effective: str | None = None
    beside: dict[str, str] = {}
    moves: tuple[str, ...] = ()
    scheduling: tuple[str, ...] = ()
    blocking: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _is_bounded(self) -> Knob:
        if self.values in ("switch", "word"):
            if len(self.choices) < 2 or self.low or self.high:  # noqa: PLR2004 - a choice is of two
                raise ValueError(
                    f"a knob of the kind {self.values} needs two choices or more, and must not "
                    "have low or high"
                )
        elif self.choices or (self.low is None) != (self.high is None):
            raise ValueError("a numeric knob needs both low and high, or neither, and no choices")
        return self


class Turned(Protocol):
    """The attributes of a varied setting that `beside_of` reads."""

    @property
    def setting(self) -> str:
        """The engine's own name of this setting, which studies vary."""

    @property
    def beside(self) -> Mapping[str, str]:
        """Other engine settings, with values, without which this setting (knob) has no effect."""


class KnobsFacts(BaseModel):
    """The content of `knobs.toml`: the settings of an engine that studies vary.

    Unknown keys of `knobs.toml` are errors.

    Attributes:
        knobs: Knobs by the name that `--vary` and `--knob` accept besides the setting's name.
        without: Settings that are deliberately not listed, each with the reason.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    knobs: dict[str, Knob] = {}
    without: dict[str, str] = {}

    def of_setting(self, name: str) -> tuple[str, Knob] | None:
        """Return an engine setting (knob) by Assay's or the engine's name; None if undeclared."""
        if name in self.knobs:
            return name, self.knobs[name]
        matching = [
            (knob_name, knob) for knob_name, knob in self.knobs.items() if knob.setting == name
        ]
        return matching[0] if matching else None

    def near(self, settings: Iterable[str]) -> str:
        """Return a hint with declared engine settings whose names resemble unknown ones.

        The result is a hint for an error message; empty without a similar name.
        """
        hints = []
        for wrong in settings:
            if self.of_setting(wrong) is None or wrong in self.knobs:
                near = difflib.get_close_matches(wrong, self.knobs, cutoff=NEAR)
                hints += [
                    f"the knob {name!r} of --vary is {self.knobs[name].setting}" for name in near
                ]
        return f" ({'; '.join(dict.fromkeys(hints))})" if hints else ""


def beside_of(knobs: Iterable[Turned], turned: Collection[str]) -> dict[str, str]:
    """Return other engine settings without which the varied settings have no effect."""
    needed = (knob.beside for knob in knobs if knob.setting in turned)
    return {name: settings[name] for settings in needed for name in settings if name not in turned}


def read_knobs(document: Mapping[str, Any], file: Path) -> KnobsFacts:
    """Return the engine settings for studies (knobs) that one `knobs.toml` declares.

    Raises:
        EngineError: If the file has an error. The error message has file, key and remedy.
    """
    try:
        return KnobsFacts.model_validate(document)
    except ValidationError as error:
        first = min(error.errors(), key=lambda detail: detail["type"] != "extra_forbidden")
        key = ".".join(str(part) for part in first["loc"])
        unknown = first["type"] == "extra_forbidden"
        model = Knob if str(first["loc"][0]) == "knobs" else KnobsFacts
        hint = f"; {suggestion(str(first['loc'][-1]), list(model.model_fields))}" if unknown else ""
        raise EngineError(f"{file}: {key}: {first['msg']}{hint}") from error
