"""Selects the core whose integers are wide enough, before anything is computed."""

from types import MappingProxyType
from typing import cast

from forestcoll.kernels._native import narrow, wide
from forestcoll.kernels.interface import Core

_NATIVE = {"narrow": cast("Core", narrow), "wide": cast("Core", wide)}

# One bit is the sign. The other two allow sums of a few terms that are each within the bound.
_WIDTHS: tuple[tuple[str, int], ...] = (("narrow", 64 - 3), ("wide", 128 - 3))


def cores() -> MappingProxyType[str, Core]:
    """Return all cores by name, narrowest first; tests compare their results."""
    from forestcoll.kernels import reference

    return MappingProxyType(_NATIVE | {"reference": cast("Core", reference)})


def is_native(core: Core) -> bool:
    """Return whether `core` is compiled; plain Python is hundreds of times slower."""
    return any(core is each for each in _NATIVE.values())


def core_for(bound: int) -> Core:
    """Return the narrowest core that computes exactly with integers up to `bound`."""
    name = next((name for name, bits in _WIDTHS if bound.bit_length() <= bits), None)
    return cores()["reference"] if name is None else _NATIVE[name]
