"""Formats numbers with units as text, and parses them.

Stored values keep their plain unit; only text is rounded.
"""

import re

NS_PER_S = 1_000_000_000
# Units of an engine's declared figures that are scaled for readers.
BYTES, SECONDS = "bytes", "s"

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b|bytes?)?", re.IGNORECASE)
_BIT_RATE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt])bit(?:/s)?")
_BIT_STEPS = {"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
_SIZE_STEPS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
# Fraction of a step from which a number is shown in the next unit: 999.8 ms is 1.00 s.
_NEXT_STEP = 0.9995
_BYTE_STEPS = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
_COUNT_STEPS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
# No address of memory or of a file is larger.
_SIZE_BYTES_MAX = 1 << 64
# Python refuses to read far longer numbers; no number that Assay can use has so many digits.
_DIGITS_MAX = 30


def seconds_text(seconds: float | None) -> str:
    """Return a duration with three significant digits and its unit; 'not measured' for None."""
    if seconds is None:
        return "not measured"
    for limit, factor, unit in ((1e-6, 1e9, "ns"), (1e-3, 1e6, "µs"), (1.0, 1e3, "ms")):
        if 0 < seconds < limit * _NEXT_STEP:
            return f"{seconds * factor:.3g} {unit}"
    if seconds >= 100 * _NEXT_STEP:
        return f"{seconds:.0f} s"
    return f"{seconds:#.3g} s" if seconds else "0 s"


def bytes_text(count: float | None) -> str:
    """Return a size in binary units; 'not measured' for None."""
    if count is None:
        return "not measured"
    for step, unit in _BYTE_STEPS:
        if count >= step:
            return (
                f"{count / step:.3g} {unit}"
                if count < 1000 * step
                else f"{count / step:.0f} {unit}"
            )
    return f"{count:.0f} B"


def count_text(count: float | None) -> str:
    """Return a count with a decimal suffix; 'not measured' for None."""
    if count is None:
        return "not measured"
    for step, suffix in _COUNT_STEPS:
        if count >= step * _NEXT_STEP:
            return f"{count / step:.3g} {suffix}"
    return f"{count:.0f}"


def calls_text(count: float) -> str:
    """Return a number of calls with its noun, such as `1 call`."""
    number = count_text(count)
    return f"{number} call{'' if number == '1' else 's'}"


def percent_text(share: float | None) -> str:
    """Return a share from 0 to 1 as a percentage; 'not measured' for None."""
    if share is None:
        return "not measured"
    percent = share * 100
    return f"{percent:.0f} %" if percent >= 10 or percent == 0 else f"{percent:.1f} %"  # noqa: PLR2004


def duration_text(seconds: float) -> str:
    """Return a duration for people: '42 s', '3 min 10 s', '2 h 5 min'."""
    whole = round(seconds)
    if whole < 60:  # noqa: PLR2004 - a minute
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:  # noqa: PLR2004 - an hour
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, left = divmod(minutes, 60)
    return f"{hours} h {left} min" if left else f"{hours} h"


def parse_duration_s(text: str) -> float:
    """Return the seconds of a duration such as '30s', '1.5m', '200ms' or a plain number of seconds.

    Raises:
        ValueError: If the text is not a duration of zero or more.
    """
    factors = {"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "": 1.0}
    number = text.strip().rstrip("msh")
    unit = text.strip()[len(number) :]
    if unit not in factors:
        raise ValueError(f"{text!r} has none of the units ms, s, m, h")
    seconds = float(number) * factors[unit]
    if not 0 <= seconds < float("inf"):
        raise ValueError(f"{text!r} is not a duration")
    return seconds


def whole_number(text: str) -> int | None:
    """Return the number that a text of at most 30 digits writes; None for any other text."""
    digits = text.strip()
    return int(digits) if digits.isdecimal() and len(digits) <= _DIGITS_MAX else None


def parse_bytes(text: str) -> int:
    """Return the bytes of a size such as '256MB', '2 GiB' or '8192'; units are binary.

    Raises:
        ValueError: If the text is not a size above zero, or one of more than 16 EiB.
    """
    if not (size := size_bytes(text)):
        raise ValueError(f"{text!r} is not a size")
    return size


def size_bytes(text: str | None) -> int | None:
    """Parse a size as engines print it, `4MB`, `18.8 GiB` or `0`, to bytes; None if not valid."""
    match = _SIZE.fullmatch(text.strip()) if text else None
    if match is None:
        return None
    size = float(match[1]) * _SIZE_STEPS[match[2].lower()]
    return round(size) if size <= _SIZE_BYTES_MAX else None


def number_of(text: str) -> float | None:
    """Parse a plain number, or a size such as '4MB' to bytes; None for any other text."""
    try:
        return float(text)
    except ValueError:
        try:
            return float(parse_bytes(text))
        except ValueError:
            return None


def parse_bit_rate(text: str) -> float:
    """Return bytes per second of a network speed such as '10Gbit' or '25 Gbit/s'; decimal units.

    Raises:
        ValueError: If the text is not a speed above zero.
    """
    match = _BIT_RATE.fullmatch(text.strip().lower())
    if match is None or not (bits := float(match[1]) * _BIT_STEPS[match[2]]):
        raise ValueError(f"{text!r} is not a network speed: write it as 10Gbit or 800Mbit")
    return bits / 8


def rate_text(per_s: float | None) -> str:
    """Return a rate of operations, such as `41,200/s`, `5.2/s`; 'not measured' for None.

    A rate has three significant digits, because it is counted over seconds.
    """
    return "not measured" if per_s is None else f"{grouped_text(per_s)}/s"


def grouped_text(count: float) -> str:
    """Return three significant digits with thousands separators, such as `41,200`, `312`, `5.2`."""
    rounded = float(f"{count:.3g}")
    return f"{rounded:,.0f}" if rounded >= 100 else f"{rounded:.3g}"  # noqa: PLR2004


def near_whole_text(share: float | None) -> str:
    """Return a share with enough digits to distinguish it from 0 and 100 %, such as `99.97 %`."""
    if share is None or share in (0.0, 1.0):
        return percent_text(share)
    distance = min(share, 1 - share)
    if distance < 1e-4:  # noqa: PLR2004 - from here on there are too many digits to read
        return "under 0.01 %" if share == distance else "over 99.99 %"
    digits = 1 if distance >= 1e-3 else 2  # noqa: PLR2004 - so that it never rounds to the whole
    return f"{share * 100:.{digits}f} %"


def amount_text(amount: float | None, unit: str) -> str:
    """Return an amount: bytes and seconds with their unit, other counts without one."""
    if amount is None or unit == BYTES:
        return bytes_text(amount)
    if unit == SECONDS:
        return seconds_text(amount)
    return count_text(amount) if amount >= 1000 else grouped_text(amount)  # noqa: PLR2004


def amount_rate_text(per_s: float | None, unit: str) -> str:
    """Return an amount per second, such as `7.37 MiB/s`, `19.6 ms/s`, `264 k/s`."""
    return "not measured" if per_s is None else f"{amount_text(per_s, unit)}/s"
