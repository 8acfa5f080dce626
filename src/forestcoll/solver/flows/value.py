"""The optimum of an all-to-all, a gather or a scatter as a value: its bandwidth, its bound, and paths that reach it."""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.schedule.proof.optimum import CollectiveOptimum
from forestcoll.topology import Symmetry


@dataclass(frozen=True, slots=True)
class FlowPath:
    """A path of links with the part of M that it carries.

    Attributes:
        nodes: the numbers of its nodes, from the source to the target.
        share: the part of M.

    Example:
        >>> from forestcoll import optimum
        >>> path = optimum("ring:nodes=3,one_way=true", "scatter:root=0").paths[1]
        >>> path.nodes, str(path.share)
        ((0, 1, 2), '1/3')
    """

    nodes: tuple[int, ...]
    share: Fraction


@dataclass(frozen=True, repr=False)
class FlowOptimum(CollectiveOptimum):
    """The optimum of an all-to-all, a gather or a scatter, along flows.

    Attributes:
        topology: the network.
        demand: the collective and its parameters, in node numbers.
        algbw: the algorithmic bandwidth that paths reach, in the unit of the topology.
        bound: the algbw that no schedule exceeds, with the proof.
        paths: the paths of one source of each orbit of the symmetry; empty if they are not asked for, or if the linear
            program is too large, and only a rate near the bound is known.
        symmetry: a symmetry of the network; the images of `paths` under its elements are all paths.
        is_reached: whether paths reach `algbw`; False if only a rate near the bound is known.

    Example:
        >>> from forestcoll import optimum
        >>> best = optimum("dgx-a100:boxes=2", "all-to-all")
        >>> str(best.algbw), best.is_optimal, best.bound.proof.kind
        ('50', True, 'lengths')
    """

    paths: tuple[FlowPath, ...]
    symmetry: Symmetry
    is_reached: bool = True
