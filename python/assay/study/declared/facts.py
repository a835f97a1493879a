"""Types for the keys of a study file.

Unknown keys are errors; keys of a run are options of `assay run`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PositiveInt,
    Tag,
    model_validator,
)

from assay.model.errors import UsageError
from assay.model.units import parse_duration_s
from assay.running.asked.declaring import Text, listed
from assay.running.asked.options import RunOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

# Prefix of a factor that is one setting of the engine.
SETTING = "set."
Name = Annotated[str, Field(pattern=r"^[\w.-]+$", description="Letters, digits, . _ and -.")]
TAGS = ("table", "value")


def _kind(value: object) -> str:
    """Return the kind of a value that may be a table or a plain value."""
    return "table" if isinstance(value, dict | BaseModel) else "value"


class Level(RunOptions):
    """A level of a factor with a name and several keys of a run."""

    name: str = Field(min_length=1, description="As people read it.")


LevelOrValue = Annotated[
    Annotated[Level, Tag("table")] | Annotated[str | bool | int | float, Tag("value")],
    Discriminator(_kind),
]
Levels = Annotated[list[LevelOrValue], Field(min_length=1)]
Factors = dict[str, Annotated[Levels, BeforeValidator(listed, json_schema_input_type=Levels | str)]]


class QuickPart(RunOptions):
    """The keys of a study section that `--quick` replaces."""

    repetitions: PositiveInt | None = Field(None, description="Runs of each variant.")
    factor: Factors = Field(default_factory=dict, description="Levels in the place of the part's.")


def _nothing() -> QuickPart | Literal[False]:
    return QuickPart.model_validate({})


QuickOrNot = Annotated[
    Annotated[QuickPart, Tag("table")] | Annotated[Literal[False], Tag("value")],
    Discriminator(_kind),
]


class QuickStudy(RunOptions):
    """The keys of a study that `--quick` replaces."""

    repetitions: PositiveInt | None = Field(None, description="Runs of each variant.")
    budget: str | None = Field(None, description="No run is begun that would end after it.")


class Expects(BaseModel):
    """Conditions that the runs of a study section must fulfil."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    plan: list[str] = Field(
        min_length=1,
        description="Operators of the plan, each before its inputs: sort, index scan TABLE INDEX.",
    )


class PartFacts(RunOptions):
    """A section of a study file: combinations of factor levels, run in alternation."""

    kind: Literal["run", "ceiling"] = Field(
        "run",
        description="Runs of a workload, or looks at what the host can do, as assay ceiling does.",
    )
    about: str | None = Field(None, description="What it is for, in a sentence.")
    repetitions: PositiveInt | None = Field(None, description="Runs of each variant.")
    factor: Factors = Field(
        default_factory=dict,
        description="Levels by the key of a run that they are values of, by set.NAME for a setting"
        " of the engine, or by any name where each level is a table.",
    )
    exclude: list[dict[str, Text]] = Field(
        default_factory=list,
        description="Combinations that are not run: level by factor, or value by key.",
    )
    quick: QuickOrNot = Field(
        default_factory=_nothing, description="What --quick changes; false: it leaves it out."
    )
    expects: Expects | None = Field(None, description="Without it the runs prove nothing.")


class FigureFacts(BaseModel):
    """A table or chart that the study's report shows."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Name = Field(description="The same name in published.toml is its counterpart.")
    part: str | None = Field(None, description="The part that it is made of.")
    parts: list[str] = Field(default_factory=list, description="The same, where it is several.")
    kind: str = Field(description="Which analysis makes it.")
    title: str | None = None
    options: dict[str, Any] = Field(default_factory=dict, description="As the kind takes them.")

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if self.part is not None and self.parts:
            raise ValueError("the keys part and parts mean the same: remove one of the two")
        return self

    def of(self, all_parts: Sequence[str]) -> tuple[str, ...]:
        """Return the names of the study sections that a result uses; by default all."""
        return (self.part,) if self.part is not None else tuple(self.parts or all_parts)


class StudyFacts(RunOptions):
    """The content of a study file: a question, and the runs that answer it.

    The comment at the head of the file is the question.
    """

    title: str = Field(min_length=1, description="As the report has it.")
    repetitions: PositiveInt = Field(1, description="Runs of each variant.")
    budget: str | None = Field(
        None, description="No run is begun that would end after it, such as 90m."
    )
    unequal_durability: bool = Field(
        default=False, description="Compare runs although commits survive less in some of them."
    )
    quick: QuickStudy | None = Field(None, description="What --quick changes.")
    part: dict[Name, PartFacts] = Field(min_length=1, description="By the name of the part.")
    figure: list[FigureFacts] = Field(default_factory=list)


def budget_s(text: str | None) -> float | None:
    """Return the seconds of a study's time budget such as `90m`.

    The `ValueError` says how to fix the text.
    """
    if text is None:
        return None
    try:
        seconds = parse_duration_s(text)
    except ValueError as error:
        raise ValueError(f"budget {text!r}: write it like 90s, 30m or 2h") from error
    if not seconds:
        raise ValueError(f"budget {text!r}: a budget must be above 0; omit it for none")
    return seconds


def asked_budget_s(text: str | None) -> float | None:
    """Return the seconds of `--budget`; None without it.

    The `UsageError` says how to fix the text.
    """
    try:
        return budget_s(text)
    except ValueError as error:
        raise UsageError(f"--{error}") from error


def known_keys(location: Sequence[str | int]) -> list[str]:
    """Return the keys that are valid at a position in a study file."""
    match [key for key in location if key not in TAGS]:
        case []:
            model: type[BaseModel] = StudyFacts
        case ["quick"]:
            model = QuickStudy
        case ["part", _]:
            model = PartFacts
        case ["part", _, "quick"]:
            model = QuickPart
        case ["part", _, "expects"]:
            model = Expects
        case ["figure", *_]:
            model = FigureFacts
        case _:
            model = Level
    return [field.alias or name for name, field in model.model_fields.items()]


def run_keys(options: RunOptions) -> dict[str, Any]:
    """Return the run options that a table of a study file sets."""
    own = set(RunOptions.model_fields)
    return options.model_dump(include=own & options.model_fields_set, by_alias=True)
