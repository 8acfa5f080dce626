"""Short texts and rows that several results share: numbers, durations and output files."""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from forestcoll.base.files import is_standard_stream
from forestcoll.presentation.tables import Row, row


def duration(microseconds: float | Fraction, digits: int = 4) -> str:
    """Return a time in microseconds as text in us, ms or s, with the given number of significant digits.

    Example:
        >>> duration(12.5), duration(1_500_000, 6)
        ('12.5 us', '1.5 s')
    """
    value = float(microseconds)
    unit, size = time_unit(value)
    return f"{value / size:.{digits}g} {unit}"


def time_unit(microseconds: float) -> tuple[str, float]:
    """Return the unit for times up to this one, and the microseconds that it has.

    Example:
        >>> time_unit(2000)
        ('ms', 1000.0)
    """
    return next(((unit, size) for unit, size in (("s", 1e6), ("ms", 1e3)) if microseconds >= size), ("us", 1.0))


def times(seconds: Mapping[str, float], label: str = "time") -> Row:
    """Return the row with the time of each stage of a run; JSON has seconds, rounded to microseconds.

    Example:
        >>> times({"reading": 0.25, "verifying": 1.5}).text
        'reading 0.250 s, verifying 1.500 s'
    """
    text = ", ".join(f"{stage} {passed:.3f} s" for stage, passed in seconds.items())
    return row(label, text, seconds={stage: round(passed, 6) for stage, passed in seconds.items()})


def written(output: Path | None) -> Row:
    """Return the row with the output file of a result.

    Example:
        >>> written(None).text
        'no; use -o FILE'
    """
    if output is None:
        return row("written", "no; use -o FILE", output=None)
    return row("written", "to standard output" if is_standard_stream(output) else output, output=output)


def all_written(outputs: Mapping[str, Path]) -> Row:
    """Return the row with the output files of a result, by their kinds; JSON has that of the schedule.

    Example:
        >>> all_written({"members": Path("groups")}).text
        'groups'
    """
    schedule = outputs.get("schedule")
    texts = [str(written(each).text) for each in outputs.values()] or [written(None).text]
    return row("written", ", ".join(texts), output=schedule)


def percent(part: Fraction) -> str:
    """Return a fraction in percent, rounded down, so that 100.00% means exactly 1."""
    hundredths = part * 10**4
    return f"{hundredths.numerator // hundredths.denominator / 100:.2f}%"


def bandwidth(value: Fraction, unit: str) -> str:
    """Return `value` with its unit, exactly and, if it is not an integer, also as a decimal number."""
    exact = f"{value} {unit}"
    return exact if value.denominator == 1 else f"{exact} ({float(value):.6g})"


def quotient(value: Fraction, by: Fraction, unit: str) -> str:
    """Return the division of `value` by `by` as text, with its result."""
    if by == 1:
        return f"{value} {unit}"
    shown, divisor = (str(each) if each.denominator == 1 else f"({each})" for each in (value, by))
    return f"{shown} / {divisor} = {value / by} {unit}"


def capitalized(text: str) -> str:
    """Return `text` with its first letter in upper case."""
    return text[:1].upper() + text[1:]
