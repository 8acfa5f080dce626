"""Rules about the data that arrives. Each returns the message of the first wrong transfer, or None.

They read a phase as a `Spread`, in which a reduce runs backwards: shards spread from their own node, and a node can
forward at a later step what it received at a step.
"""

from fractions import Fraction

import numpy as np

from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.schedule.rows import IntArray
from forestcoll.schedule.steps.value import Transfers
from forestcoll.verification.first_wrong import first_true
from forestcoll.verification.network import BoolArray
from forestcoll.verification.steps import wording
from forestcoll.verification.steps.context import StepContext
from forestcoll.verification.steps.spread import Pieces, Spread


def sent_twice(context: StepContext) -> str | None:
    """Find, in a reduce, a part of a sum that a node sends twice, or that leaves the node where the sum ends."""
    for phase, spread in zip(context.schedule.phases, context.spreads, strict=True):
        sent = phase.transfers
        if phase.op is not PhaseOp.REDUCE:
            continue
        own, again = first_true(sent.sources == sent.shards), spread.pieces.overlap
        if own is not None:
            sender = _sender(context, sent, own)
            return f"{wording.place(context, sent, own)}: {sender} sends a part of the sum that ends on it"
        if again is not None:
            what = f"{_sender(context, sent, again)} sends data of {_part(context, sent, again)} twice"
            return f"{wording.place(context, sent, again)}: {what}, so the sum contains it twice"
    return None


def not_held(context: StepContext) -> str | None:
    """Find data that is sent before the sender has it or, in a reduce, data that the receiver never forwards."""
    for phase, spread in zip(context.schedule.phases, context.spreads, strict=True):
        sent = phase.transfers
        transfer = _first_not_held(spread)
        if transfer is None:
            continue
        where, what = wording.place(context, sent, transfer), _part(context, sent, transfer)
        if phase.op is PhaseOp.REDUCE:
            who = wording.node(context, int(sent.targets[transfer]))
            return f"{where}: node {who} does not forward all of {what} at a later step, so the sum lacks it"
        return f"{where}: {_sender(context, sent, transfer)} does not have all of {what} before the step"
    return None


def _sender(context: StepContext, sent: Transfers, transfer: int) -> str:
    return f"node {wording.node(context, int(sent.sources[transfer]))}"


def _part(context: StepContext, sent: Transfers, transfer: int) -> str:
    return f"part {wording.part(sent, transfer)} of the shard of {wording.node(context, int(sent.shards[transfer]))}"


def _first_not_held(spread: Spread) -> int | None:
    """Return the first transfer that sends data which its source has not received before its step, or None."""
    pieces = spread.pieces
    owners = spread.owners(spread.shards, spread.sources)
    complete_at = _complete_at(spread, pieces)
    doubtful = np.flatnonzero((spread.sources != spread.shards) & (complete_at[owners] >= spread.steps))
    lacking = first_true(_lacks_some(spread, pieces, doubtful, owners[doubtful]))
    return None if lacking is None else int(doubtful[lacking])


def _complete_at(spread: Spread, pieces: Pieces) -> IntArray:
    """Return, for each owner, the step at which it has the whole shard, or a step that never comes."""
    never = np.iinfo(np.int64).max
    complete = np.full(spread.size, never)
    whole = np.flatnonzero(_is_whole(spread, pieces))
    latest = np.maximum.reduceat(pieces.steps, pieces.starts[whole])
    # reduceat covers all pieces up to the next given start. The result is exact if the pieces of these owners are
    # adjacent. If other pieces are between them, the result is later than needed, which is safe.
    complete[whole] = latest
    return complete


def _is_whole(spread: Spread, pieces: Pieces) -> BoolArray:
    """Return, for each owner, whether its pieces make up the whole shard."""
    if not len(pieces.owners) or spread.points[0] != 0 or spread.points[-1] != 1:
        return np.zeros(spread.size, dtype=np.bool_)
    counts = np.diff(pieces.starts)
    first = np.minimum(pieces.starts[:-1], len(pieces.owners) - 1)
    last = np.maximum(pieces.starts[1:] - 1, 0)
    joins = np.bincount(pieces.owners[pieces.joins_next], minlength=spread.size)
    whole: BoolArray = (
        (joins == counts - 1) & (pieces.lows[first] == 0) & (pieces.highs[last] == len(spread.points) - 1)
    )
    return whole


def _lacks_some(spread: Spread, pieces: Pieces, transfers: IntArray, owners: IntArray) -> BoolArray:
    """Return which of `transfers`, from these `owners`, send data that no piece of the owner brought before.

    All transfers go through the pieces of their owners at the same time.
    """
    lacks = np.zeros(len(transfers), dtype=np.bool_)
    codes = pieces.owners * len(spread.points) + pieces.lows
    at = np.searchsorted(codes, owners * len(spread.points) + spread.lows[transfers], side="right") - 1
    reached = spread.lows[transfers].copy()
    active = np.arange(len(transfers))
    while len(active):
        # Before the first piece (-1) and after the last, the last one is tried. It belongs to a later owner, begins
        # later, or ends where the search is, so it does not hold the data.
        here = np.minimum(at[active], len(codes) - 1)
        holds = (
            (pieces.owners[here] == owners[active])
            & (pieces.lows[here] <= reached[active])
            & (pieces.highs[here] > reached[active])
            & (pieces.steps[here] < spread.steps[transfers[active]])
        )
        lacks[active[~holds]] = True
        active = active[holds]
        reached[active] = pieces.highs[at[active]]
        active = active[reached[active] < spread.highs[transfers[active]]]
        at[active] += 1
    return lacks


def missing(context: StepContext) -> str | None:
    """Find a node that does not receive a whole shard or, in a reduce, does not send its whole part of a sum."""
    if context.schedule.collective is Collective.ALL_TO_ALL:
        return _missing_part(context, context.spreads[0])
    members = np.array(context.schedule.members)
    sizes = context.schedule.shard_sizes
    sent = np.array([node for node in members.tolist() if sizes[node] > 0])
    for phase, spread in zip(context.schedule.phases, context.spreads, strict=True):
        shards = np.intersect1d(sent, spread.origins)
        owners = spread.owners(shards[:, None], members[None, :]).ravel()
        is_own = (shards[:, None] == members[None, :]).ravel()
        place = first_true(~_is_whole(spread, spread.pieces)[owners] & ~is_own)
        if place is None:
            continue
        origin, member = divmod(int(owners[place]), spread.nodes)
        shard, node = (wording.node(context, each) for each in (int(spread.origins[origin]), member))
        does = "sends" if phase.op is PhaseOp.REDUCE else "receives"
        return f"node {node} never {does} all of the shard of {shard}; expected all of it by the last step"
    return None


def _missing_part(context: StepContext, spread: Spread) -> str | None:
    """Find, in an all-to-all, a node that does not receive its part of the buffer of another node."""
    members = context.schedule.members
    for shard in members:
        for place, node in enumerate(members):
            low, high = Fraction(place, len(members)), Fraction(place + 1, len(members))
            if node != shard and not _has_part(spread, shard * spread.nodes + node, low, high):
                part, who = f"[{low}, {high})", wording.node(context, node)
                owner = wording.node(context, shard)
                return f"node {who} never receives all of part {part} of the buffer of {owner}; expected all of it"
    return None


def _has_part(spread: Spread, owner: int, low: Fraction, high: Fraction) -> bool:
    """Return whether pieces of `owner` cover the part from `low` to `high`."""
    pieces, reached = spread.pieces, low
    for place in range(int(pieces.starts[owner]), int(pieces.starts[owner + 1])):
        begin, end = (spread.points[int(column[place])] for column in (pieces.lows, pieces.highs))
        if begin <= reached:
            reached = max(reached, end)
    return reached >= high
