"""The order of hosts for NCCL as a page."""

from pathlib import Path

from forestcoll.base.errors import plural
from forestcoll.base.files import is_stream
from forestcoll.nccl.order.files import COMMANDS, FORMATS
from forestcoll.nccl.order.rank_order import Crossed, RankOrder
from forestcoll.presentation.tables import Column, Page, Table, row
from forestcoll.presentation.text import bandwidth

_MOST_NAMED = 16
"""The most hosts that the page names; JSON and the file have all."""


def rank_order_page(found: RankOrder, output: Path | None = None, to: str = FORMATS[0]) -> Page:
    """Return the page of an order of hosts; `output` is the file of the format `to` that was written, or None."""
    topology, names = found.topology, [name for name, _ in found.hosts]
    listed = ", ".join([*names[:_MOST_NAMED], "…"] if len(names) > _MOST_NAMED else names)
    columns = (
        Column("links passed by", key="what"),
        Column("order given", right=True, key="given"),
        Column("this order", right=True, key="best"),
        Column("any order", _at_least, right=True),
        Column("", _proven),
        Column(None, key="bound"),
        Column(None, key="proven"),
    )
    rows = tuple(
        (each.what, each.given, each.best, each, each.is_proven, each.bound, each.is_proven) for each in found.crossed
    )
    unit, values = topology.bandwidth_unit, {"given_algbw": found.given_algbw, "algbw": found.algbw}
    blocks = (
        row(topology=topology.name, collective=found.collective, unit=unit),
        row("order", f"{listed}{' (as given)' if found.is_given else ''}", hosts=names),
        row(ranks=[topology.nodes[node].id for node in found.ranks], is_given=found.is_given),
        row(**values, proof=_proven(found.is_proven)),
        *(
            (row("NCCL's rings", f"algbw {bandwidth(found.algbw, unit)}; {_before(found, unit)}"),)
            if found.algbw is not None
            else ()
        ),
        row(output=output) if output is None else row("written", output, output=output),
        Table(columns, rows, key="crossed"),
        *_start(output, to),
    )
    hosts, ranks = plural(len(names), "host"), plural(len(found.ranks), "rank")
    return Page(f"{topology.name}: {found.collective} of NCCL, {hosts}, {ranks}", blocks)


def _start(output: Path | None, to: str) -> tuple[str, ...]:
    """Return the sentence that says how a launcher is told the file; none without one."""
    if output is None or is_stream(output) or to not in COMMANDS:
        return ()
    return (f"Start the job with: {COMMANDS[to].format(output)}",)


def _before(found: RankOrder, unit: str) -> str:
    if found.given_algbw == found.algbw:
        return "the same as in the order given"
    return f"{'-' if found.given_algbw is None else bandwidth(found.given_algbw, unit)} in the order given"


def _at_least(each: Crossed) -> str:
    return f"{each.bound} or more"


def _proven(is_proven: bool) -> str:  # noqa: FBT001 (what the text says)
    return "proven: no order has fewer" if is_proven else "found by search"
