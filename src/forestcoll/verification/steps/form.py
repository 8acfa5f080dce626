"""Rules about the form of a step schedule. Each returns the message of the first wrong place, or None."""

from itertools import pairwise

import numpy as np

from forestcoll.base.exact import exact_sum
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.schedule.rows import IntArray
from forestcoll.schedule.steps.value import Transfers
from forestcoll.verification.first_wrong import first_true
from forestcoll.verification.network import BoolArray
from forestcoll.verification.steps import wording
from forestcoll.verification.steps.context import StepContext
from forestcoll.verification.wording import number

_PHASES = {
    Collective.ALLGATHER: (PhaseOp.BROADCAST,),
    Collective.REDUCE_SCATTER: (PhaseOp.REDUCE,),
    Collective.ALLREDUCE: (PhaseOp.REDUCE, PhaseOp.BROADCAST),
    Collective.ALL_TO_ALL: (PhaseOp.BROADCAST,),
}


def columns_malformed(context: StepContext) -> str | None:
    """Find columns that do not match. The file reader never makes such columns, but a program may."""
    wrong = _routes_malformed(context)
    phases = enumerate(context.schedule.phases)
    wrongs = (f"phase {place}: {found}" for place, phase in phases if (found := _malformed(phase.transfers, context)))
    return wrong or next(wrongs, None)


def _malformed(sent: Transfers, context: StepContext) -> str | None:
    columns = (sent.shards, sent.sources, sent.targets, sent.lows, sent.highs, sent.routes)
    lengths = {len(column) for column in columns if column is not None}
    if len(lengths) > 1:
        return f"its columns have different lengths, {sorted(lengths)}"
    if not _ascends(sent.starts, len(sent)):
        return "the starts of steps do not ascend from 0 to the number of transfers"
    if any(one >= other for one, other in pairwise(sent.points)):
        return "its points are not in ascending order"
    if _outside(sent.lows, len(sent.points)).any() or _outside(sent.highs, len(sent.points)).any():
        return "an end of a part is not the index of a point"
    if sent.routes is not None and _outside(sent.routes + 1, len(context.schedule.routes) + 1).any():
        return "the route of a transfer is not the index of a route"
    return None


def _ascends(starts: IntArray, last: int) -> bool:
    return bool(len(starts) and starts[0] == 0 and starts[-1] == last and (starts[1:] >= starts[:-1]).all())


def _routes_malformed(context: StepContext) -> str | None:
    routes = context.schedule.routes
    if not _ascends(routes.starts, len(routes.entries)):
        return "the starts of routes do not ascend from 0 to the number of entries"
    if _outside(routes.entries, context.network.size).any():
        return "an entry of a route is not the number of a node"
    return None


def _outside(column: IntArray, bound: int) -> BoolArray:
    outside: BoolArray = (column < 0) | (column >= bound)
    return outside


def collective_wrong(context: StepContext) -> str | None:
    """Find a collective whose data starts from, or ends on, one node."""
    collective = context.schedule.collective
    if collective in _PHASES:
        return None
    return f"collective is {collective}; expected allgather, reduce-scatter, allreduce or all-to-all"


def phases_wrong(context: StepContext) -> str | None:
    """Find phases that are not those of the collective."""
    expected = _PHASES[context.schedule.collective]
    found = tuple(phase.op for phase in context.schedule.phases)
    if found == expected:
        return None
    return f"phases are [{', '.join(found)}]; expected [{', '.join(expected)}] for {context.schedule.collective}"


def shards_wrong(context: StepContext) -> str | None:
    """Find shards that are not a division of the data among the compute nodes."""
    shards, nodes = context.schedule.shards, len(context.schedule.members)
    if shards is None:
        return None
    if context.schedule.collective is Collective.ALL_TO_ALL:
        return "shards are given; in an all-to-all, the shard of each node is its whole buffer"
    if len(shards) != nodes:
        return f"there are {len(shards)} shards; expected one for each of {nodes} compute nodes that take part"
    if min(shards) < 0:
        return f"a shard is {number(min(shards))}; expected 0 or more"
    total = exact_sum(shards)
    return None if total == 1 else f"the shards add up to {number(total)}; expected exactly 1"


def ranks_wrong(context: StepContext) -> str | None:
    """Find ranks that are not compute nodes, not in ascending order, or fewer than two."""
    ranks, is_compute = context.schedule.ranks, context.network.is_compute
    if ranks is None:
        return None
    wrong = next((node for node in ranks if not 0 <= node < len(is_compute) or not is_compute[node]), None)
    if wrong is not None:
        return f"ranks: {wrong} is not the number of a compute node"
    if len(ranks) < 2 or any(one >= other for one, other in pairwise(ranks)):
        return "ranks are not two or more numbers of nodes in ascending order"
    return None


def symmetry_forbidden(context: StepContext) -> str | None:
    """Find a symmetry of an all-to-all, whose parts belong to the nodes in their order."""
    if context.group.order == 1 or context.schedule.collective is not Collective.ALL_TO_ALL:
        return None
    return "an all-to-all in steps has a symmetry; list all transfers"


def shards_asymmetric(context: StepContext) -> str | None:
    """Find a node that a shift maps to a node with a shard of another size."""
    sizes = context.schedule.shard_sizes
    for place, shift in enumerate(context.group.shifts):
        for node, image in enumerate(shift.tolist()):
            if sizes[node] != sizes[image]:
                names = wording.node(context, node), wording.node(context, image)
                sent = f"{names[0]} with a shard of {number(sizes[node])} to {names[1]}"
                return f"shift {place} sends {sent} with one of {number(sizes[image])}; expected equal shards"
    return None


def node_wrong(context: StepContext) -> str | None:
    """Find a transfer whose source, target or shard is not a compute node that takes part."""
    nodes = len(context.network.is_compute)
    takes_part = np.zeros(nodes, dtype=np.bool_)
    takes_part[list(context.schedule.members)] = True
    for phase in context.schedule.phases:
        sent = phase.transfers
        for role, column in (("shard", sent.shards), ("source", sent.sources), ("target", sent.targets)):
            wrong = _outside(column, nodes)
            wrong |= ~takes_part[np.where(wrong, 0, column)]
            transfer = first_true(wrong)
            if transfer is not None:
                node = int(column[transfer])
                where = wording.place(context, sent, transfer)
                who = "a compute node" if context.schedule.ranks is None else "a compute node that takes part"
                return f"{where}: {role} is {node}, which is not the number of {who}"
    return None


def part_wrong(context: StepContext) -> str | None:
    """Find a part that is empty or not inside its shard."""
    for phase in context.schedule.phases:
        sent = phase.transfers
        is_within = np.array([0 <= point <= 1 for point in sent.points], dtype=np.bool_)
        transfer = first_true((sent.lows >= sent.highs) | ~is_within[sent.lows] | ~is_within[sent.highs])
        if transfer is not None:
            part = wording.part(sent, transfer)
            return f"{wording.place(context, sent, transfer)}: interval is {part}; expected 0 <= begin < end <= 1"
    return None


def algbw_wrong(context: StepContext) -> str | None:
    """Find a claimed bandwidth that is not the achieved one."""
    claimed = context.schedule.algbw
    if claimed is None or claimed == context.algbw:
        return None
    return f"algbw is {number(claimed)}, but the steps achieve {number(context.algbw)}"
