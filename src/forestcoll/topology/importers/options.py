"""The options of importers that `forestcoll import` has, declared once: what a user can say where a file does not."""

from dataclasses import dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import Any

from forestcoll.base.errors import InputError
from forestcoll.base.exact import MAX_DIGITS
from forestcoll.base.parameters import Text, choice, derived_bandwidth, name_or_integer, of_kind, parameter_of


def _speed(meaning: str) -> Any:
    return derived_bandwidth("as the file says", meaning)


@dataclass(frozen=True)
class _Options:
    speeds: str = choice(
        "nominal",
        "Link speeds by the type of a GPU: those that vendors publish, or those of NCCL's graph search.",
        "nominal",
        "nccl",
    )
    nvlink: Fraction | None = _speed("The speed of one NVLink, such as 25 on A100 and H100, and 50 on B200.")
    xgmi: Fraction | None = _speed("The speed of one link of AMD's Infinity Fabric, such as 64 on MI300X.")
    pcie: Fraction | None = _speed("The speed of a PCIe slot, such as 32 for PCIe 4.0 x16.")
    nic: Fraction | None = _speed("The speed of a network card.")
    nics: str = of_kind(
        "near",
        Text("near, all, or names of network cards joined by '+'"),
        "The network cards that carry data of GPUs: those near GPUs, all, or those with these names.",
    )
    link_bandwidth: Fraction | None = _speed("The speed of links of any other kind.")
    topology: str | None = of_kind(
        None,
        Text("the name of a topology in the file"),
        "One of several topologies of Slurm's topology.yaml, by its name.",
        default_text="the default of the cluster",
    )
    matrix: str = choice(
        "ports",
        "Read a matrix of bandwidths as the ports of one switch, or as a link for each pair.",
        "ports",
        "complete",
    )
    rounding: int | str = name_or_integer(
        "speeds",
        "Round what forestcoll probe measured to published speeds, or not at all; or all numbers to 1 to "
        f"{MAX_DIGITS} DIGITS.",
        "speeds",
        "none",
        maximum=MAX_DIGITS,
    )


FIELDS = {each.name: each for each in fields(_Options)}
"""The declarations of the options, by name."""

OPTIONS = tuple(parameter_of(each) for each in FIELDS.values())
"""The options of the command."""


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
