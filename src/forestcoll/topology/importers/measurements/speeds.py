"""Plausible speeds: the published bandwidths of links, to which measured figures are rounded.

A measured bandwidth is usually less than the published one, because of headers and protocols: 91 % on A100, 83 % on
H100. So the nearest speed is that with the least distance ln(speed/measured), and a speed below the measured figure
counts as three times as far. A figure without a speed within `_FARTHEST` is rounded to two digits.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

_FARTHEST = 0.23
"""The greatest distance: a measured figure of 80 % of the speed, or of 108 %."""

_ABOVE = 3

_NETWORKS = ("0.01", "0.1", "1", "2.5", "5", "10", "25", "40", "50", "56", "100", "200", "400", "800", "1600")
"""Gb/s of Ethernet and InfiniBand ports."""

NETWORK_SPEEDS = tuple((Fraction(rate) / 8, f"{rate} Gb/s") for rate in _NETWORKS)
"""Speeds of NICs in GB/s, and their names."""

_PCIE = (("PCIe 3.0", 1), ("PCIe 4.0", 2), ("PCIe 5.0", 4), ("PCIe 6.0", 8))

BOX_SPEEDS = (
    *((Fraction(lane * width), f"{name} x{width}") for name, lane in _PCIE for width in (4, 8, 16)),
    (Fraction(46), "1 xGMI of MI100"),
    (Fraction(50), "1 xGMI of MI250, or 2 NVLinks of A100"),
    (Fraction(64), "1 xGMI of MI300X"),
    (Fraction(384, 5), "1 xGMI of MI355X"),
    (Fraction(25), "1 NVLink of V100 or A100"),
    (Fraction(225, 4), "4 NVLinks of RTX 3090"),
    (Fraction(80), "4 NVLinks of P100"),
    (Fraction(100), "4 NVLinks of A100"),
    (Fraction(150), "6 NVLinks of V100"),
    (Fraction(200), "8 NVLinks of A800 or H800"),
    (Fraction(300), "12 NVLinks of A100"),
    (Fraction(450), "18 NVLinks of H100"),
    (Fraction(900), "18 NVLinks of B200"),
)
"""Speeds inside of a host: PCIe slots in GB/s before encoding with 1 GB/s for a lane of PCIe 3.0, xGMI and NVLink."""

Speeds = Sequence[tuple[Fraction, str]]

_UNLISTED = "no speed of the table is near, so rounded to two digits"


@dataclass(frozen=True)
class Rounded:
    """A measured figure and what it was rounded to.

    Attributes:
        measured: GB/s.
        value: GB/s.
        name: the name of the speed, or why there is none.
    """

    measured: float
    value: Fraction
    name: str


def nearest_speed(measured: float, speeds: Speeds) -> Rounded:
    """Return the nearest of some speeds or, if none is near, the figure with two digits.

    Example:
        >>> found = nearest_speed(11.2, NETWORK_SPEEDS)
        >>> str(found.value), found.name
        ('25/2', '100 Gb/s')
        >>> str(nearest_speed(33.3, NETWORK_SPEEDS).value)
        '33'
    """
    value, name = min(speeds, key=lambda speed: (_distance(measured, float(speed[0])), speed[0]))
    if _distance(measured, float(value)) > _FARTHEST:
        return Rounded(measured, with_digits(measured, 2), _UNLISTED)
    return Rounded(measured, value, name)


def nearest_multiple(measured: float, of: Fraction, speeds: Speeds) -> Rounded:
    """Return the nearest multiple of a speed or, if none is near, of `speeds`.

    Example:
        >>> found = nearest_multiple(47.0, Fraction(25), NETWORK_SPEEDS)
        >>> str(found.value), found.name
        ('50', '2 x 25 GB/s')
    """
    count = min((1, 2) if measured < of else _counts(measured, of), key=lambda n: _distance(measured, float(n * of)))
    if _distance(measured, float(count * of)) > _FARTHEST:
        return nearest_speed(measured, speeds)
    return Rounded(measured, count * of, f"{count} x {of} GB/s")


def _counts(measured: float, of: Fraction) -> tuple[int, int]:
    below = math.floor(measured / float(of))
    return below, below + 1


def _distance(measured: float, speed: float) -> float:
    distance = math.log(speed / measured)
    return distance if distance >= 0 else -_ABOVE * distance


def with_digits(measured: float, digits: int) -> Fraction:
    """Return a figure with a number of significant digits.

    Example:
        >>> str(with_digits(0.06184, 2)), str(with_digits(1234.5, 2))
        ('31/500', '1200')
    """
    return Fraction(f"{measured:.{digits - 1}e}")


def pooled(values: Iterable[float], width: float = 1.15) -> dict[float, float]:
    """Return for each value the median of the values near it: from the least of them to `width` times that.

    Example:
        >>> pooled([9.8, 10.0, 10.1, 25.0])
        {9.8: 10.0, 10.0: 10.0, 10.1: 10.0, 25.0: 25.0}
    """
    found: dict[float, float] = {}
    group: list[float] = []
    for value in [*sorted(values), math.inf]:
        if group and value > group[0] * width:
            middle = group[(len(group) - 1) // 2]
            found |= dict.fromkeys(group, middle)
            group = []
        group.append(value)
    return found
