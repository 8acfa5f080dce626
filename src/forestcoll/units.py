"""Units at the boundary: bandwidths and data sizes as people write them, and sizes as output shows them.

Of sizes, `K`, `M`, `G` and the forms with an `i` are powers of two, as in nccl-tests, and `KB`, `MB`, `GB` powers of
ten. Of bandwidths, `B` is bytes and `b` is bits, so the case of that letter counts.
"""

import re
from fractions import Fraction

from forestcoll.errors import InputError, shown
from forestcoll.exact import to_fraction

BANDWIDTH_UNIT = "GB/s"
"""The unit of a network's bandwidths where nothing else is said: 10^9 bytes a second."""

_PREFIXES = "KMGTP"
"""Each is 1000 times the one before or, with an `i`, 1024 times."""

_SHORT = 5
"""The most digits of an integer that is a short name of a size."""

_SIZE = re.compile(r"([0-9.]+(?:[eE]\+?[0-9]+)?)\s*([A-Za-z]*)")
_WITH_UNIT = re.compile(r"([+-]?[0-9./]+(?:[eE][+-]?[0-9]+)?)\s*([A-Za-z][A-Za-z/]*)")


def _bandwidths() -> dict[str, Fraction]:
    """Return of each unit of bandwidth how many bytes a second it is."""
    units = {"B/s": Fraction(1), "Bps": Fraction(1)} | dict.fromkeys(("b/s", "bit/s", "bps"), Fraction(1, 8))
    for power, prefix in enumerate(_PREFIXES, start=1):
        units |= dict.fromkeys((f"{prefix}B/s", f"{prefix}Bps"), Fraction(1000**power))
        units |= {f"{prefix}iB/s": Fraction(1024**power)}
        units |= dict.fromkeys((f"{prefix}b/s", f"{prefix}bit/s", f"{prefix}bps"), Fraction(1000**power, 8))
    return units


def _sizes() -> dict[str, int]:
    """Return of each unit of sizes, in lower case, how many bytes it is."""
    units = {"": 1, "b": 1}
    for power, prefix in enumerate(_PREFIXES.lower(), start=1):
        units |= dict.fromkeys((prefix, f"{prefix}i", f"{prefix}ib"), 1024**power)
        units[f"{prefix}b"] = 1000**power
    return units


_BYTES_PER_SECOND = _bandwidths()
_BYTES = _sizes()


def has_known_size(unit: str) -> bool:
    """Return whether `bytes_per_microsecond` knows `unit`."""
    return _kilo(unit) in _BYTES_PER_SECOND


def bytes_per_microsecond(unit: str) -> Fraction:
    """Return how many bytes one `unit` of bandwidth moves in a microsecond.

    Example:
        >>> bytes_per_microsecond("Gb/s")
        Fraction(125, 1)

    Raises:
        InputError: the unit is not one whose size is known.
    """
    if not has_known_size(unit):
        raise InputError(f"bandwidth_unit is {shown(unit)}, whose size in bytes is not known; {_advice(unit)}")
    return _BYTES_PER_SECOND[_kilo(unit)] / 10**6


def bandwidth_in(unit: str, value: object) -> Fraction:
    """Return the bandwidth `value` in `unit`, exactly.

    Args:
        unit: a network's unit of bandwidth; any text, but only those of a known size can be converted to.
        value: a number in `unit`, as `exact.to_fraction` takes it, or a text with a unit of its own: `"400Gb/s"`.

    Example:
        >>> bandwidth_in("GB/s", "400Gb/s")
        Fraction(50, 1)

    Raises:
        ValueError: it is no number, its unit is unknown or cannot be converted to `unit`, or the number has too many
            digits. The text says so and how to fix it; it can follow the value in a message.
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
    except ValueError as error:
        raise ValueError(f"{error}; write a number such as 25 or '25/3', or one with a unit, '400Gb/s'") from None


def _kilo(unit: str) -> str:
    """Return `unit` with the prefix kilo as tables have it; a small k is as usual."""
    return f"K{unit[1:]}" if unit.startswith("k") else unit


def _advice(unit: str) -> str:
    """Return which unit to use in place of an unknown one: those that differ in case, if there are any."""
    near = [known for known in _BYTES_PER_SECOND if known.lower() == unit.lower()]
    if near:
        return f"write {' or '.join(f'{each} ({_counted(each)})' for each in near)}"
    return "use one such as GB/s, GiB/s, Gb/s or Gbps"


def _counted(unit: str) -> str:
    return "bytes" if "B" in unit else "bits"


def data_size(text: str) -> int:
    """Return the bytes that `text` says.

    `K`, `Ki` and `KiB` are 2^10, `KB` is 10^3, and so on for `M`, `G`, `T` and `P`; `B` or nothing is bytes. Small
    letters will do, but `Kb` is refused: it usually means bits.

    Example:
        >>> data_size("64K"), data_size("64KB"), data_size("2.5MiB"), data_size("1e6")
        (65536, 64000, 2621440, 1000000)

    Raises:
        InputError: it is not the size of one byte or more, or no whole number of bytes.
    """
    form = f"{shown(text)}; expected a size of 1 byte or more such as 64K, 2.5MiB or 1GB"
    parts = _SIZE.fullmatch(text.strip())
    if parts is None or (unit := parts[2]).lower() not in _BYTES:
        raise InputError(form)
    if len(unit) > 1 and unit[0].isupper() and unit.endswith("b"):
        raise InputError(f"{shown(text)} looks like bits; write a size in bytes, as {unit[:-1]}B")
    try:
        size = to_fraction(parts[1]) * _BYTES[unit.lower()]
    except ValueError:
        raise InputError(form) from None
    if size < 1 or size.denominator > 1:
        raise InputError(form)
    return size.numerator


def size_name(size: int) -> str:
    """Return `size` bytes as text that `data_size` reads back, where an exact one is short; else rounded.

    The shortest of the exact forms is taken, in powers of two where both are equally short. A number of more than
    five digits is rounded to four, in powers of two.

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
    """Return `size` as an integer in the greatest unit that allows one, and that unit."""
    fitting = (power for power in range(len(_PREFIXES), 0, -1) if size and size % base**power == 0)
    power = next(fitting, 0)
    return str(size // base**power), f"{_PREFIXES[power - 1]}{ending}" if power else "B"
