"""The table of all baselines, in the order in which they are listed."""

from collections.abc import Iterable

from forestcoll.algorithms.baseline import Baseline, Family, Overhead
from forestcoll.algorithms.blink import blink, blink_switch
from forestcoll.algorithms.direct import direct
from forestcoll.algorithms.multitree import Rule, multitree
from forestcoll.algorithms.nccl_ring import nccl_ring
from forestcoll.algorithms.nccl_tree import nccl_tree
from forestcoll.algorithms.nvls import algbw_with_own_data, nvls, nvls_tree
from forestcoll.algorithms.rccl_ring import rccl_ring
from forestcoll.algorithms.single_root import single_root
from forestcoll.algorithms.steps.bine import bine
from forestcoll.algorithms.steps.bruck import bruck
from forestcoll.algorithms.steps.milp import milp
from forestcoll.algorithms.steps.pat import pat
from forestcoll.algorithms.steps.recursive_doubling import recursive_doubling, recursive_doubling_far
from forestcoll.algorithms.steps.swing import swing, swing_torus
from forestcoll.algorithms.steps.two_level_barrier import two_level_barrier
from forestcoll.algorithms.tacos import tacos
from forestcoll.algorithms.two_level import two_level
from forestcoll.base.errors import InputError, did_you_mean, shown
from forestcoll.demand.collective import UNROOTED, Collective

_ALLREDUCE = (Collective.ALLREDUCE,)

_OWN_DATA = Overhead(algbw_with_own_data, "the algbw counts that each GPU's own data passes the switch, too")

BASELINES: tuple[Baseline, ...] = (
    Baseline("nccl-ring", Family.TREES, UNROOTED, nccl_ring),
    Baseline("rccl-ring", Family.TREES, UNROOTED, rccl_ring),
    Baseline("nccl-tree", Family.TREES, _ALLREDUCE, nccl_tree),
    Baseline("nvls", Family.TREES, UNROOTED, nvls, _OWN_DATA),
    Baseline("nvls-tree", Family.TREES, _ALLREDUCE, nvls_tree, _OWN_DATA),
    Baseline("two-level", Family.TREES, UNROOTED, two_level),
    Baseline("two-level-barrier", Family.STEPS, UNROOTED, two_level_barrier),
    Baseline("direct", Family.TREES, UNROOTED, direct),
    Baseline("recursive-doubling", Family.STEPS, UNROOTED, recursive_doubling),
    Baseline("recursive-doubling-far", Family.STEPS, UNROOTED, recursive_doubling_far),
    Baseline("bruck", Family.STEPS, UNROOTED, bruck),
    Baseline("swing", Family.STEPS, UNROOTED, swing),
    Baseline("swing-torus", Family.STEPS, UNROOTED, swing_torus),
    Baseline("bine", Family.STEPS, UNROOTED, bine),
    Baseline("pat", Family.STEPS, UNROOTED, pat),
    Baseline("multitree", Family.TREES, UNROOTED, multitree(Rule.WIDEST)),
    Baseline("multitree-remaining", Family.TREES, UNROOTED, multitree(Rule.REMAINING)),
    Baseline("multitree-bandwidth", Family.TREES, UNROOTED, multitree(Rule.BANDWIDTH)),
    Baseline("multitree-source", Family.TREES, UNROOTED, multitree(Rule.SOURCE)),
    Baseline("blink", Family.TREES, _ALLREDUCE, blink),
    Baseline("blink-switch", Family.TREES, _ALLREDUCE, blink_switch),
    Baseline("single-root", Family.TREES, _ALLREDUCE, single_root),
    Baseline("tacos", Family.TREES, UNROOTED, tacos),
    Baseline("milp", Family.STEPS, UNROOTED, milp),
)
"""All baselines. A new one is a file in this folder, or in `steps`, and a line here."""


def baselines_named(names: Iterable[str] | None) -> tuple[Baseline, ...]:
    """Return the baselines with these names, in this order; all baselines if `names` is None.

    Raises:
        InputError: a name is unknown.
    """
    known = {each.name: each for each in BASELINES}
    if names is None:
        return BASELINES
    chosen = []
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            raise InputError(f"{shown(name)} is not the name of an algorithm; {hint}there are {', '.join(known)}")
        chosen.append(known[name])
    return tuple(chosen)
