"""What a user can say where a file does not: speeds, and how measurements are read."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from forestcoll.base.errors import InputError
from forestcoll.base.exact import MAX_DIGITS

SPEEDS = ("nominal", "nccl")
"""Speeds of links from a table: those that vendors publish, or those that NCCL and RCCL assume."""

MATRICES = ("ports", "complete")
"""What a matrix of bandwidths is: ports of one switch, or a link for each pair."""

ROUNDINGS = ("speeds", "none")
"""What measured bandwidths are rounded to: the speeds of links that exist, or nothing. Also a number of digits."""

DIGITS = {str(number): number for number in range(1, MAX_DIGITS + 1)}
"""The numbers of digits, by the texts that mean them."""

_OR_DIGITS = f", or a number of digits from 1 to {MAX_DIGITS}"


@dataclass(frozen=True)
class ImportOptions:
    """Speeds in GB/s per link and direction; None where the user gives none.

    Attributes:
        speeds: one of `SPEEDS`.
        matrix: one of `MATRICES`.
        rounding: one of `ROUNDINGS` for measured bandwidths, or a number of digits, such as `"12"`: all bandwidths and
            latencies, of files in any format, have so many significant digits then.
        nvlink: one NVLink.
        xgmi: one link of AMD's Infinity Fabric.
        pcie: a PCIe slot, which is also a port of a PCIe switch.
        nic: a network card.
        link_bandwidth: a link of any other kind.

    Example:
        >>> from fractions import Fraction
        >>> ImportOptions(nvlink=Fraction(25)).nvlink
        Fraction(25, 1)

    Raises:
        InputError: a speed is not above 0, or a word is none of those that are allowed.
    """

    speeds: str = "nominal"
    matrix: str = "ports"
    rounding: str = "speeds"
    nvlink: Fraction | None = None
    xgmi: Fraction | None = None
    pcie: Fraction | None = None
    nic: Fraction | None = None
    link_bandwidth: Fraction | None = None

    def __post_init__(self) -> None:
        for name, allowed in (("speeds", SPEEDS), ("matrix", MATRICES), ("rounding", ROUNDINGS)):
            if getattr(self, name) not in allowed and (name != "rounding" or self.digits is None):
                more = _OR_DIGITS if name == "rounding" else ""
                words = " or ".join(map(repr, allowed))
                raise InputError(f"{name} is {getattr(self, name)!r}; expected {words}{more}")
        for name in ("nvlink", "xgmi", "pcie", "nic", "link_bandwidth"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise InputError(f"{name} is {value}; expected a bandwidth above 0")

    @property
    def digits(self) -> int | None:
        """The number of digits of all bandwidths and latencies; None if they are not rounded."""
        return DIGITS.get(self.rounding)

    def given(self) -> Iterator[str]:
        """Yield the names of the values that differ from the defaults, but not a number of digits, which all take."""
        for each in fields(self):
            if getattr(self, each.name) != each.default and (each.name != "rounding" or self.digits is None):
                yield each.name

    def without(self, name: str) -> "ImportOptions":
        """Return the same options with the default of one of them."""
        defaults: Any = {each.name: each.default for each in fields(self)}
        return replace(self, **{name: defaults[name]})


class MissingSpeedError(InputError):
    """A file does not say what a link carries, and an option of `forestcoll import` says it.

    Attributes:
        start: the beginning of the message: the file and what it does not say.
        option: the option.
        unit: the end of the message: the unit, and known values.
    """

    def __init__(self, start: str, option: str, unit: str) -> None:
        super().__init__(f"{start}; give {option} GBPS, {unit}")
        self.start, self.option, self.unit = start, option, unit

    def where_no_option_is(self, path: Path) -> InputError:
        """Return the error for a place that takes the file at `path` without the option, such as TOPOLOGY."""
        command = f"forestcoll import {path} {self.option} GBPS -o network.json"
        return InputError(f"{self.start}; run '{command}', {self.unit}, and use network.json instead")


def missing_speed(where: str, missing: str, option: str, example: str = "") -> MissingSpeedError:
    """Return the error that asks for a speed: what the file does not say, and the option that says it.

    Args:
        where: the file.
        missing: what it does not state.
        option: the option.
        example: known values, in words.
    """
    hint = f" ({example})" if example else ""
    return MissingSpeedError(f"{where}: the file does not say {missing}", option, f"in GB/s each way{hint}")
