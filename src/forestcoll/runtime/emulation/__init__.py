"""An emulated network on one Linux machine: a namespace for each rank, links with the rates of a topology."""

from forestcoll.runtime.emulation.emulate import emulate, planned

__all__ = ["emulate", "planned"]
