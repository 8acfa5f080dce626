"""Speeds of links by the generation of a GPU, of a PCIe slot and of a CPU, in GB/s each way.

`nominal` is what vendors publish: NVLink 20 (generation 1, P100), 25 (generations 2 to 4, V100 to H200), 50 (generation
5, B200) and 56.25 / 4 on the boards with GA102 and AD102; Infinity Fabric of 23 GT/s (MI50, MI100), 25 GT/s (MI250) and
32 GT/s (MI300) on 16 lanes, and 76.8 on MI355X; PCIe as transfers a second times lanes, before encoding. `nccl` is what
NCCL and RCCL assume in their graph search (`topo.h` of both), which is what these libraries expect to reach. Of the
links between CPUs, both take NCCL's figures.
"""

from fractions import Fraction

_NVLINK = {
    "nominal": ((100, "50"), (90, "25"), (89, "225/16"), (86, "225/16"), (70, "25"), (60, "20")),
    "nccl": ((100, "40.1"), (90, "20.6"), (87, "20"), (86, "12"), (70, "20"), (60, "18")),
}
"""The least compute capability, times 10, and what one NVLink carries."""

_XGMI = {
    "nominal": (("gfx95", "76.8"), ("gfx94", "64"), ("gfx90a", "50"), ("gfx908", "46"), ("gfx906", "46")),
    "nccl": (("gfx94", "48"), ("gfx90a", "36"), ("", "24")),
}
"""How the name of the architecture begins, and what one link carries."""

_OLD_NAMES = {"910": "gfx90a"}
"""How older versions of RCCL write an architecture, where it is not the number after `gfx`."""

_PCIE_LANE = {"2.5": 15, "5": 30, "8": 60, "16": 120, "32": 240, "64": 480}
"""By the GT/s of a PCIe lane, what NCCL assumes, in units of 100 Mb/s."""

_DEFAULT_RATE = "8"
"""The GT/s that NCCL takes where the speed of a slot is unknown."""

MBPS_PER_GBPS = 8000
"""Files state the speed of a NIC in Mb/s."""

LEAST_MBPS, MOST_MBPS = 10_000, 3_200_000
"""What NCCL takes for a NIC that states no speed, and the greatest speed that is plausible."""


def nvlink_speed(capability: int, speeds: str) -> Fraction | None:
    """Return what one NVLink of a GPU carries; None if GPUs of this kind have none.

    Example:
        >>> nvlink_speed(90, "nominal"), nvlink_speed(90, "nccl")
        (Fraction(25, 1), Fraction(103, 5))
    """
    return next((Fraction(speed) for least, speed in _NVLINK[speeds] if capability >= least), None)


def xgmi_speed(architecture: str, speeds: str) -> Fraction | None:
    """Return what one Infinity Fabric link of a GPU carries; None if that is not known.

    Example:
        >>> xgmi_speed("gfx942", "nominal"), xgmi_speed("910", "nominal")
        (Fraction(64, 1), Fraction(50, 1))
    """
    name = _OLD_NAMES.get(architecture, architecture)
    name = f"gfx{name}" if name[:1].isdigit() else name
    return next((Fraction(speed) for start, speed in _XGMI[speeds] if name.startswith(start)), None)


PCIE_WORDS = (
    "2.5 GT/s",
    "5 GT/s",
    "8 GT/s",
    "16 GT/s",
    "32 GT/s",
    "5.0 GT/s PCIe",
    "8.0 GT/s PCIe",
    "16.0 GT/s PCIe",
    "32.0 GT/s PCIe",
    "64.0 GT/s PCIe",
)
"""How the speeds begin that NCCL knows; others count as 8 GT/s."""


def pcie_rate(link_speed: str, speeds: str = "nominal") -> str | None:
    """Return the GT/s of a slot whose speed is written as `16 GT/s` or `16.0 GT/s PCIe`; None if it is unknown.

    Args:
        link_speed: the text.
        speeds: `nccl` for what NCCL understands, which is less than `nominal`.

    Example:
        >>> pcie_rate("16.0 GT/s"), pcie_rate("16.0 GT/s", "nccl")
        ('16', None)
    """
    if speeds == "nccl" and not link_speed.startswith(PCIE_WORDS):
        return None
    rate, _, unit = link_speed.strip().partition(" ")
    rate = rate.removesuffix(".0")
    return rate if unit.startswith("GT/s") and rate in _PCIE_LANE else None


def in_words_of_nccl(link_speed: str) -> str:
    """Return the speed of a slot as NCCL knows it; unchanged if it is not known what was meant.

    Example:
        >>> in_words_of_nccl("16.0 GT/s"), in_words_of_nccl("16 GT/s"), in_words_of_nccl("Unknown")
        ('16.0 GT/s PCIe', '16 GT/s', 'Unknown')
    """
    if link_speed.startswith(PCIE_WORDS) or (rate := pcie_rate(link_speed)) is None:
        return link_speed
    return next(word for word in PCIE_WORDS if word.startswith((f"{rate} GT/s", f"{rate}.0 GT/s PCIe")) and "." in word)


def pcie_speed(rate: str | None, width: int, speeds: str) -> Fraction:
    """Return what a PCIe slot carries.

    Args:
        rate: GT/s as `pcie_rate` returns them.
        width: the lanes; 0 stands for 16, as in NCCL.
        speeds: `nominal` or `nccl`.

    Example:
        >>> pcie_speed("16", 16, "nominal"), pcie_speed("16", 0, "nccl")
        (Fraction(32, 1), Fraction(24, 1))
    """
    rate, lanes = rate or _DEFAULT_RATE, width or 16
    return Fraction(lanes * _PCIE_LANE[rate], 80) if speeds == "nccl" else Fraction(rate) * lanes / 8


def cpu_link_speed(arch: str, vendor: str, family: int, model: int) -> Fraction:
    """Return what NCCL takes for the link between two CPUs of one kind."""
    if arch.startswith("ppc"):
        return Fraction(32)
    if vendor == "AuthenticAMD":
        return Fraction(16)
    if vendor == "GenuineIntel" and family == 6:
        return Fraction(next(speed for least, speed in ((0xCF, 40), (0x8F, 22), (0x55, 10), (0, 6)) if model >= least))
    return Fraction(6)


_CAPABILITIES = (
    ("gb200", 100),
    ("b300", 103),
    ("b200", 100),
    ("h200", 90),
    ("h100", 90),
    ("h20", 90),
    ("aws-p5", 90),
    ("grand-teton", 90),
    ("a100", 80),
    ("aws-p4d", 80),
    ("dgx-1:", 70),
    ("dgx-2:", 70),
)
"""What names of networks of builders contain, and the compute capability of their GPUs, times 10."""


def capability_of(name: str) -> int | None:
    """Return the compute capability, times 10, of the NVIDIA GPUs of a network with that name; None if it says none.

    Example:
        >>> capability_of("hgx-a100-4:boxes=1 without b0/gpu0--b0/gpu1")
        80
    """
    return next((capability for part, capability in _CAPABILITIES if part in f"{name.lower()}:"), None)
