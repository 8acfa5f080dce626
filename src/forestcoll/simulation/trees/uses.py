"""The rate of blocks of finite length in the model of *On the Computation Rate of All-Reduce*.

In this model time consists of *uses* of the network. In each use, a link of bandwidth b carries b symbols, and a node
sends what it received in earlier uses. The rate is the number of symbols of M per use.

A tree of a schedule carries its share of M. At the algbw of the schedule, it carries share * algbw symbols per use. The
*period* D is the least number of uses in which each tree carries a whole number of symbols. The pipeline sends the data
of one period after the other. Over each link of a tree, this data takes one period, and the links of a tree work at the
same time, each on other data. If the last symbol crosses h links one after the other, n periods of data take

    N = D (n + h - 1) uses.

So the rate is algbw * n / (n + h - 1), which grows to the algbw.

The trees of an allreduce on a network of K nodes without switches have a height of at most K - 1, so h <= 2 (K - 1).
One pair of an in-tree and an out-tree that carries one symbol per use has D = 1 and the algbw 1. So L symbols reach the
rate of the paper, L / (L + 2K - 3), or more if the trees are lower.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from forestcoll.base.errors import InputError
from forestcoll.schedule.trees.shape import tree_shape
from forestcoll.schedule.trees.value import TreeSchedule


@dataclass(frozen=True)
class BlockRate:
    """The uses of the network that a block of symbols takes along the trees of a schedule.

    Attributes:
        symbols: L, the symbols of M.
        uses: N, the uses of the network.
        period: D, the uses in which each tree carries a whole number of symbols.

    Example:
        >>> from forestcoll import generate
        >>> from forestcoll.simulation import block_rate
        >>> block = block_rate(generate("mesh:dims=3", "allreduce"), 100)
        >>> block.symbols, block.uses, block.period, str(block.rate)
        (100, 101, 1, '100/101')
    """

    symbols: int
    uses: int
    period: int

    @property
    def rate(self) -> Fraction:
        """The symbols per use, L / N."""
        return Fraction(self.symbols, self.uses)


def block_rate(schedule: TreeSchedule, periods: int) -> BlockRate:
    """Return the uses of the network that a pipeline needs for some periods of data along the trees of `schedule`.

    Args:
        schedule: trees that `verify` accepts, of any collective. Bandwidths are symbols per use of the network. Each
            link of a route takes a use of its own, also at switches.
        periods: n, the number of periods of data; at least 1.

    Returns:
        The symbols, the uses and the period. The rate is at least the algbw times n / (n + h - 1), where h is the
        number of links that the data crosses one after the other, `shape_of(schedule).hops`.

    Raises:
        InputError: `periods` is less than 1.

    Example:
        >>> from forestcoll import generate
        >>> from forestcoll.simulation import block_rate
        >>> trees = generate("ring:nodes=4", "allreduce")
        >>> [str(block_rate(trees, periods).rate) for periods in (1, 10, 1000)]
        ['1/3', '40/39', '4000/3009']
    """
    if periods < 1:
        raise InputError(f"periods must be at least 1, but is {periods}; give the number of periods of data")
    weights = (share * schedule.algbw for phase in schedule.phases for share in phase.shares)
    period = lcm(*(weight.denominator for weight in weights))
    uses = period * (periods + tree_shape(schedule).hops - 1)
    return BlockRate(int(schedule.algbw * period) * periods, uses, period)


def pipeline_overhead(nodes: int) -> int:
    """Return 2K - 3, the most periods that the pipeline of an allreduce takes in addition to the periods of its data.

    Args:
        nodes: K, the number of nodes of a network without switches, all of which take part.

    Returns:
        The number of periods. L sums along one pair of trees take L + 2K - 3 uses of the network, or fewer.

    Example:
        >>> pipeline_overhead(3)
        3
    """
    return 2 * nodes - 3
