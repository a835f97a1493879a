"""Evaluates a workload's constants and parameter rules at a scale."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Any

from assay.model.script import Draw
from assay.workloads.operation_facts import value_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.workloads.operation_facts import Bound, Constant, Rule

INTEGER_MIN, INTEGER_MAX = -(2**63), 2**63 - 1


def constants_at(constants: Mapping[str, Constant], scale: float) -> dict[str, str]:
    """Return the text of each workload constant at a scale."""
    return {
        name: constant.value if constant.value is not None else str(_grown(constant, scale))
        for name, constant in constants.items()
    }


def count_at(constant: Constant, scale: float) -> int:
    """Return the value of a constant that is a positive whole number.

    Raises:
        ValueError: If the constant is not a whole number from 1.
    """
    text = constants_at({"": constant}, scale)[""]
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"{text!r} is not a whole number of 1 or more")
    return int(text)


def counts_at(constants: Mapping[str, Constant], scale: float) -> dict[str, int]:
    """Return the values of constants that are whole numbers, by name.

    Raises:
        ValueError: If a constant is not a whole number.
    """
    try:
        return {name: int(text) for name, text in constants_at(constants, scale).items()}
    except ValueError as error:
        raise ValueError(f"the bounds must be whole numbers ({error})") from error


def rule_at(name: str, rule: Rule, constants: Mapping[str, str], scale: float) -> dict[str, Any]:
    """Return a parameter rule in the Rust core's form, evaluated at a scale.

    Raises:
        ValueError: If a bound is not a whole number.
    """
    facts = rule.model_dump(exclude_unset=True, exclude={"times_scale"})
    if rule.integer is not None:
        facts["integer"] = integer_at(name, rule, constants, scale)
    return facts


def integer_at(
    name: str, rule: Rule, constants: Mapping[str, str], scale: float
) -> tuple[int, int]:
    """Return the bounds of an `integer` parameter rule at a scale.

    Raises:
        ValueError: If a bound is not an integer of 64 bits, or if the range is empty.
    """
    assert rule.integer is not None  # noqa: S101
    low, high = (_bound(name, bound, constants) for bound in rule.integer)
    if rule.times_scale:
        high = _times(high, scale)
    if not INTEGER_MIN <= low <= high <= INTEGER_MAX:
        raise ValueError(f"parameter {name}: the range from {low} to {high} is empty or too wide")
    return low, high


def draw_at(
    name: str, rule: Rule, lists: Mapping[str, Any], constants: Mapping[str, str], scale: float
) -> Draw:
    """Return the rule by which a parameter is drawn at each execution.

    Raises:
        ValueError: If the rule is of a kind that is drawn once per run only.
    """
    if rule.distinct is None and rule.integer is not None:
        return Draw(name, integer=integer_at(name, rule, constants, scale))
    if rule.distinct is None and rule.choice is not None:
        values = lists.get(rule.choice) if isinstance(rule.choice, str) else rule.choice
        if not isinstance(values, list) or not values:
            raise ValueError(
                f"parameter {name}: {rule.choice!r} is not a list of values; write the values "
                "into workload.toml, or two bounds as integer = [1, 1000]"
            )
        return Draw(name, choice=tuple(value_text(value) for value in values))
    raise ValueError(
        f"parameter {name} cannot be drawn at each execution: its rule must be an integer or a"
        ' choice without distinct. Otherwise, write arrival = "power" into workload.toml'
    )


def _bound(name: str, bound: Bound, constants: Mapping[str, str]) -> int:
    text = constants.get(bound, bound) if isinstance(bound, str) else bound
    try:
        return int(text)
    except ValueError:
        raise ValueError(
            f"parameter {name}: the bound {bound!r} is neither a whole number nor a constant of "
            "the workload"
        ) from None


def _grown(constant: Constant, scale: float) -> int:
    if constant.times_log_scale is None:
        return _times(constant.times_scale or 0.0, scale)
    doublings = math.floor(math.log2(scale)) if scale >= 1 else 0
    return _times(constant.times_log_scale, 1.0 + doublings if scale >= 1 else scale)


def _times(number: float, scale: float) -> int:
    product = Decimal(str(number)) * Decimal(str(scale))
    return max(1, int(product.to_integral_value(ROUND_HALF_UP)))
