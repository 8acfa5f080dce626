"""The part of the data that crosses each link, as floats: for times, not for proofs."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from forestcoll.base.units import bytes_per_microsecond
from forestcoll.topology import Topology

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Loads:
    """The loads of the links of a network, in the order of its links.

    Attributes:
        topology: the network.
        parts: the part of M that crosses each link.
        seconds: the time that each link is busy for one byte of M, in seconds.
    """

    topology: Topology
    parts: FloatArray
    seconds: FloatArray

    @staticmethod
    def of_parts(topology: Topology, parts: FloatArray) -> "Loads":
        """Return the loads of links that carry these parts of M.

        Raises:
            InputError: the size in bytes of the network's bandwidth unit is not known.
        """
        return Loads(topology, parts, parts / bytes_per_second(topology))

    def utilisation(self, size: int, seconds: float) -> FloatArray:
        """Return the part of the time that each link is busy if M of `size` bytes takes `seconds`."""
        return self.seconds * size / seconds


def bytes_per_second(topology: Topology) -> FloatArray:
    """Return the bandwidth of each link in bytes per second. Raises `InputError` if the unit's size is not known."""
    unit = bytes_per_microsecond(topology.bandwidth_unit) * 10**6
    return np.array(topology.of_links(float(bandwidth * unit) for bandwidth in topology.bandwidth_classes[0]))
