"""Runs a plan of flows in one process, with NumPy and loops, hop by hop. Tests compare the engine with this."""

from collections.abc import Sequence

import numpy as np

from forestcoll.base.errors import InternalError
from forestcoll.runtime.engine.elements import AnyArray
from forestcoll.runtime.engine.exchange import ExchangeLayout
from forestcoll.runtime.engine.plan import Plan


def run_exchange(plan: Plan, layout: ExchangeLayout, inputs: Sequence[AnyArray | None]) -> list[AnyArray | None]:
    """Return what each rank has at the end: None for a rank that takes no part, or that receives nothing.

    Args:
        plan: a plan of an all-to-all, a gather or a scatter.
        layout: where its flows lie.
        inputs: what each rank sends, one-dimensional; None for a rank that takes no part.

    Raises:
        InternalError: a rank sends data that it does not have.
    """
    places = {rank: place for place, rank in enumerate(plan.members)}
    rows = {rank: list(layout.rows(places.get(rank))) for rank in range(plan.size)}
    results = [_new_result(layout, places.get(rank), inputs) for rank in range(plan.size)]
    for rank, place in places.items():
        source, result = inputs[rank], results[rank]
        if source is not None and result is not None:
            sent, received = layout.sent(place), layout.received(place)
            result[received[place] : received[place + 1]] = source[sent[place] : sent[place + 1]]
    for number, flow in enumerate(plan.flows):
        begin, length, _ = rows[flow.root][number]
        held: dict[int, AnyArray | None] = {flow.root: inputs[flow.root]}
        data = held[flow.root]
        held[flow.root] = None if data is None else data[begin : begin + length]
        for hop in flow.broadcast:
            if held.get(hop.source) is None:
                raise InternalError(f"rank {hop.source} sends data of flow {number}, which it does not have")
            held[hop.target] = held[hop.source]
        target = flow.broadcast[-1].target
        begin, length, _ = rows[target][number]
        result, data = results[target], held[target]
        if result is not None and data is not None:
            result[begin : begin + length] = data
    return results


def _new_result(layout: ExchangeLayout, place: int | None, inputs: Sequence[AnyArray | None]) -> AnyArray | None:
    """Return an array for the result of a rank; None if it receives nothing."""
    if place is None or not layout.received(place)[-1]:
        return None
    sample = next(each for each in inputs if each is not None)
    return np.zeros(layout.received(place)[-1], dtype=sample.dtype)
