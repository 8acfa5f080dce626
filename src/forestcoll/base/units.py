"""Units of bandwidths and data sizes in input, and of data sizes in output.

In sizes, `K`, `M`, `G` and the forms with an `i` are powers of two, as in nccl-tests, and `KB`, `MB`, `GB` are powers
of ten. In bandwidths, `B` is bytes and `b` is bits, so the case of that letter is significant.
"""

import re
from fractions import Fraction
from operator import index
from typing import SupportsIndex

from forestcoll.base.errors import InputError, argument, shown
from forestcoll.base.exact import MAX_DIGITS, TooLongError, to_fraction

BANDWIDTH_UNIT = "GB/s"
"""The default unit of the bandwidths of a network: 10^9 bytes per second."""

_PREFIXES = "KMGTP"
"""Each is 1000 times the previous one or, with an `i`, 1024 times."""

_SHORT = 5
"""The most digits of an integer that is a short name of a size."""

_SIZE = re.compile(r"([0-9.]+(?:[eE]\+?[0-9]+)?)\s*([A-Za-z]*)")
_WITH_UNIT = re.compile(r"([+-]?[0-9./]+(?:[eE][+-]?[0-9]+)?)\s*([A-Za-z][A-Za-z/]*)")


def _bandwidths() -> dict[str, Fraction]:
    """Return each unit of bandwidth in bytes per second."""
    units = {"B/s": Fraction(1), "Bps": Fraction(1)} | dict.fromkeys(("b/s", "bit/s", "bps"), Fraction(1, 8))
    for power, prefix in enumerate(_PREFIXES, start=1):
        units |= dict.fromkeys((f"{prefix}B/s", f"{prefix}Bps"), Fraction(1000**power))
        units |= {f"{prefix}iB/s": Fraction(1024**power)}
        units |= dict.fromkeys((f"{prefix}b/s", f"{prefix}bit/s", f"{prefix}bps"), Fraction(1000**power, 8))
    return units


def _sizes() -> dict[str, int]:
    """Return each unit of size, in lower case, in bytes."""
    units = {"": 1, "b": 1}
    for power, prefix in enumerate(_PREFIXES.lower(), start=1):
        units |= dict.fromkeys((prefix, f"{prefix}i", f"{prefix}ib"), 1024**power)
        units[f"{prefix}b"] = 1000**power
    return units


_BYTES_PER_SECOND = _bandwidths()
_BYTES = _sizes()


def has_known_size(unit: str) -> bool:
    """Return whether `unit` is a unit of bandwidth that can be converted to bytes per second."""
    return _kilo(unit) in _BYTES_PER_SECOND


def bytes_per_microsecond(unit: str) -> Fraction:
    """Return one `unit` of bandwidth in bytes per microsecond.

    Example:
        >>> bytes_per_microsecond("Gb/s")
        Fraction(125, 1)

    Raises:
        InputError: the unit is unknown.
    """
    if not has_known_size(unit):
        raise InputError(f"bandwidth_unit is {shown(unit)}, whose size in bytes is not known; {_advice(unit)}")
    return _BYTES_PER_SECOND[_kilo(unit)] / 10**6


def bandwidth_in(unit: str, value: object) -> Fraction:
    """Return the bandwidth `value` in `unit`, exactly.

    Args:
        unit: the unit of bandwidth of a network: any text, but conversion needs a known unit.
        value: a number in `unit`, as `exact.to_fraction` takes it, or a text with its own unit: `"400Gb/s"`.

    Example:
        >>> bandwidth_in("GB/s", "400Gb/s")
        Fraction(50, 1)

    Raises:
        ValueError: it is not a number, its unit is unknown or cannot be converted to `unit`, or the number has too many
            digits. The text of the error is the end of a message that begins with the value.
    """
    parts = _WITH_UNIT.fullmatch(value.strip()) if isinstance(value, str) else None
    if parts is None:
        return _number(value)
    number, own = _number(parts[1]), parts[2]
    if own == unit:
        return number
    if not has_known_size(own):
        raise ValueError(f"has the unknown unit {shown(own)}; {_advice(own)}")
    if not has_known_size(unit):
        cannot = f"cannot be converted to the network's bandwidth_unit {shown(unit)}, whose size is not known"
        raise ValueError(f"{cannot}; write a number without a unit")
    return _number(number * _BYTES_PER_SECOND[_kilo(own)] / _BYTES_PER_SECOND[_kilo(unit)])


def _number(value: object) -> Fraction:
    try:
        return to_fraction(value)
    except TooLongError as error:
        raise TooLongError(f"{error}; round it, such as to 25 or '25/3'") from None
    except ValueError as error:
        raise ValueError(f"{error}; write a number such as 25 or '25/3', or one with a unit, '400Gb/s'") from None


def _kilo(unit: str) -> str:
    """Return `unit` with the prefix `K` instead of `k`."""
    return f"K{unit[1:]}" if unit.startswith("k") else unit


def _advice(unit: str) -> str:
    """Return a hint about an unknown unit: known units that differ only in case, or examples."""
    near = [known for known in _BYTES_PER_SECOND if known.lower() == unit.lower()]
    if near:
        return f"write {' or '.join(f'{each} ({_counted(each)})' for each in near)}"
    return "use one such as GB/s, GiB/s, Gb/s or Gbps"


def _counted(unit: str) -> str:
    return "bytes" if "B" in unit else "bits"


def data_size(size: SupportsIndex | str) -> int:
    """Return a data size in bytes, which is an integer or a text.

    In a text, `K`, `Ki` and `KiB` are 2^10, `KB` is 10^3, and so on for `M`, `G`, `T` and `P`; `B` or no unit is bytes.
    Lower case is accepted, except `Kb` and its like, which usually mean bits.

    Example:
        >>> data_size("64K"), data_size("64KB"), data_size("2.5MiB"), data_size("1e6")
        (65536, 64000, 2621440, 1000000)

    Raises:
        InputError: it is not a size, less than one byte, or not a whole number of bytes.
    """
    form = f"{argument(size)}; expected a size of 1 byte or more such as 64K, 2.5MiB or 1GB"
    if isinstance(size, SupportsIndex) and not isinstance(size, bool) and 1 <= index(size) < 10**MAX_DIGITS:
        return index(size)
    if not isinstance(size, str):
        raise InputError(f"{form}, or an integer")
    parts = _SIZE.fullmatch(size.strip())
    if parts is None or (unit := parts[2]).lower() not in _BYTES:
        raise InputError(form)
    if len(unit) > 1 and unit[0].isupper() and unit.endswith("b"):
        raise InputError(f"{shown(size)} looks like bits; write a size in bytes, as {unit[:-1]}B")
    try:
        number = to_fraction(parts[1]) * _BYTES[unit.lower()]
    except ValueError:
        raise InputError(form) from None
    if number < 1 or number.denominator > 1:
        raise InputError(form)
    return number.numerator


def size_name(size: int) -> str:
    """Return a data size in bytes as text that `data_size` reads.

    The shortest exact form is returned; of two that are equally short, the one in powers of two. If the exact forms
    have numbers of more than five digits, the result is rounded to four digits, in powers of two.

    Example:
        >>> size_name(2**20), size_name(10**6), size_name(1024000), size_name(123456789)
        ('1MiB', '1MB', '1024KB', '117.7MiB')
    """
    number, unit = min((_whole(size, 1024, "iB"), _whole(size, 1000, "B")), key=lambda name: len("".join(name)))
    if len(number) <= _SHORT:
        return f"{number}{unit}"
    power = max(power for power in range(len(_PREFIXES) + 1) if 1024**power <= size)
    return f"{size / 1024**power:.4g}{_PREFIXES[power - 1]}iB"


def _whole(size: int, base: int, ending: str) -> tuple[str, str]:
    """Return `size` as an integer in the greatest unit in which it is an integer, and that unit."""
    fitting = (power for power in range(len(_PREFIXES), 0, -1) if size and size % base**power == 0)
    power = next(fitting, 0)
    return str(size // base**power), f"{_PREFIXES[power - 1]}{ending}" if power else "B"
