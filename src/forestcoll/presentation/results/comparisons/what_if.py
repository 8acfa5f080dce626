"""What-if studies as tables and as JSON."""

from collections.abc import Sequence
from fractions import Fraction

from forestcoll.base.errors import plural
from forestcoll.demand.demand import NodeDemand
from forestcoll.presentation.names import counted
from forestcoll.presentation.results.schedules import explanations
from forestcoll.presentation.tables import Column, Page, Table, labelled
from forestcoll.presentation.text import bandwidth, percent
from forestcoll.schedule.proof.bound import Bound
from forestcoll.schedule.proof.cut import CutProof
from forestcoll.topology import Topology
from forestcoll.what_if.asked import Answer
from forestcoll.what_if.change import demand_after
from forestcoll.what_if.failover import FailoverSet, manifest
from forestcoll.what_if.study import Row, Study
from forestcoll.what_if.upgrades import Upgrade, UpgradeStudy
from forestcoll.what_if.value import Value

_MOST_ROWS = 20
"""The most rows of a table; --json has all of them."""

_LONGEST_EXACT = 16


def answer_document(answer: Answer) -> dict[str, object]:
    """Return the JSON of an answer of `forestcoll what-if`."""
    study = answer.study
    document = upgrades_document(study) if isinstance(study, UpgradeStudy) else study_document(study)
    return document if answer.failover is None else document | {"failover": failover_document(answer.failover)}


def answer_page(answer: Answer) -> Page:
    """Return what a person reads of an answer of `forestcoll what-if`."""
    study = answer.study
    page = upgrades_page(study) if isinstance(study, UpgradeStudy) else study_page(study, answer.what)
    return page if answer.failover is None else joined(page, failover_page(answer.failover))


def study_document(study: Study) -> dict[str, object]:
    """Return the JSON of a study of failures, changes or new links."""
    return {**_head(study), "rows": [_row_document(study, row) for row in study.rows]}


def study_page(study: Study, what: str = "change") -> Page:
    """Return what a person reads of a study; `what` says what its rows are, as in `failures of links`."""
    unit = study.topology.bandwidth_unit
    if not study.rows:
        return Page(_title(study.topology, study.demand), (_now(study), f"No {what} gains anything."))
    columns = (
        Column(what),
        Column("of this kind", right=True),
        Column(f"algbw, {unit}", right=True),
        Column("of now", right=True),
        Column("bottleneck"),
    )
    rows = tuple(
        (row.change.name, str(row.count), _number(row.value.algbw), percent(row.ratio), _bottleneck(study, row))
        for row in study.rows[:_MOST_ROWS]
    )
    table = Table(columns, rows, notes=_more(len(study.rows)))
    return Page(_title(study.topology, study.demand), (_now(study), table, *_first_reason(study)))


def upgrades_document(study: UpgradeStudy) -> dict[str, object]:
    """Return the JSON of a study of upgrades."""
    return {**_head(study), "rows": [_upgrade_document(study.topology, row) for row in study.rows]}


def upgrades_page(study: UpgradeStudy) -> Page:
    """Return what a person reads of a study of upgrades."""
    unit = study.topology.bandwidth_unit
    columns = (
        Column("more bandwidth on"),
        Column("of this kind", right=True),
        Column(f"now, {unit}", right=True),
        Column("gains up to", right=True),
        Column("algbw", right=True),
        Column("at", right=True),
        Column("of now", right=True),
    )
    rows = tuple(
        (
            row.name,
            str(row.count),
            _number(row.bandwidth),
            _limit(row),
            _number(row.algbw),
            _number(row.at),
            percent(row.ratio),
        )
        for row in study.rows[:_MOST_ROWS]
    )
    note = "no limit: more bandwidth always gains; algbw is that of twice the bandwidth"
    notes = (*_more(len(study.rows)), *((note,) if any(_limit(row) == "no limit" for row in study.rows) else ()))
    return Page(_title(study.topology, study.demand), (_now(study), Table(columns, rows, notes=notes)))


def failover_document(made: FailoverSet) -> dict[str, object]:
    """Return the JSON of a failover set: its manifest, and where it was written."""
    return {**manifest(made), "output": str(made.folder)}


def failover_page(made: FailoverSet) -> Page:
    """Return what a person reads of a failover set."""
    unit = made.topology.bandwidth_unit
    files = [each for each in made.failures if each.file is not None]
    lost = len(made.failures) - len(files)
    rows = [
        ("now", bandwidth(made.healthy.algbw, unit)),
        ("schedules", f"{len(files)}, each verified, and that of the network as it is"),
        ("written", f"{made.folder}; manifest.json says which file is for which failure"),
    ]
    if files:
        rows.insert(1, ("worst", bandwidth(min(each.algbw for each in files), unit)))
    if lost:
        rows.append(("without", f"{plural(lost, 'failure')}: nodes that take part cannot all reach each other"))
    return Page(_title(made.topology, made.demand), (labelled(rows),))


def _head(study: Study | UpgradeStudy) -> dict[str, object]:
    return {
        "topology": study.topology.name,
        "collective": study.demand.collective.value,
        "compute_nodes": len(study.demand.members(study.topology)),
        "algbw": str(study.base.algbw),
        "algbw_float": float(study.base.algbw),
        "unit": study.topology.bandwidth_unit,
    }


def _row_document(study: Study, row: Row) -> dict[str, object]:
    changed = row.change.applied(study.topology)
    return {
        "change": row.change.name,
        "algbw": str(row.value.algbw),
        "ratio": str(row.ratio),
        "count": row.count,
        "bottleneck": {
            "cut": study.topology.ids(row.value.cut),
            "exit_bandwidth": str(CutProof(row.value.cut).exit_bandwidth(changed)),
            "proof": row.value.proof,
        },
        "optimal": row.value.is_optimal,
    }


def _upgrade_document(topology: Topology, row: Upgrade) -> dict[str, object]:
    return {
        "change": row.name,
        "algbw": str(row.algbw),
        "ratio": str(row.ratio),
        "count": row.count,
        "links": [topology.ids(ends) for ends in row.links],
        "bandwidth": str(row.bandwidth),
        "breakpoint": None if row.breakpoint is None else str(row.breakpoint),
        "at": str(row.at),
        "gain_beyond": None if row.gain_beyond is None else str(row.gain_beyond),
        "curve": [{"bandwidth": str(each), "algbw": str(value)} for each, value in row.curve],
    }


def _title(topology: Topology, demand: NodeDemand) -> str:
    return f"{topology.name}: {demand.collective.value} over {counted(topology, demand.ranks)}"


def _now(study: Study | UpgradeStudy) -> Table:
    return labelled([("algbw now", bandwidth(study.base.algbw, study.topology.bandwidth_unit))])


def _number(value: Fraction) -> str:
    exact = str(value)
    if value.denominator == 1 or len(exact) > _LONGEST_EXACT:
        return exact if value.denominator == 1 else f"{float(value):.6g}"
    return f"{exact} ({float(value):.6g})"


def _limit(row: Upgrade) -> str:
    if row.breakpoint is not None:
        return "-" if row.ratio == 1 else _number(row.breakpoint)
    return "no limit" if row.curve else "not known"


def _more(rows: int) -> tuple[str, ...]:
    return (f"and {rows - _MOST_ROWS} more; --json lists them",) if rows > _MOST_ROWS else ()


def _bottleneck(study: Study, row: Row) -> str:
    """Return the links of the cut that limits after the change, in few words."""
    if not row.value.algbw:
        return "nodes are cut off"
    if row.value.proof != CutProof.kind:
        return _OTHER_PROOFS.get(row.value.proof, row.value.proof)
    changed = row.change.applied(study.topology)
    inside = [node for node in study.demand.members(study.topology) if node in set(row.value.cut)]
    left = len([node for node in study.demand.members(study.topology) if node not in set(row.change.nodes)])
    count = min(len(inside), left - len(inside))
    way = "out of" if len(inside) == count else "into"
    links = CutProof(row.value.cut).leaving(changed)
    total = _number(sum((link.bandwidth for link in links), Fraction(0)))
    return f"{plural(len(links), 'link')} {way} {plural(count, 'compute node')}, {total} together"


_OTHER_PROOFS = {
    "receipt": "the links of all compute nodes",
    "tree-dual": "several sets of nodes together",
    "partition": "the links between parts of the network",
}


def _first_reason(study: Study) -> Sequence[str]:
    """Return the bottleneck after the first change, in sentences."""
    row = study.rows[0] if study.rows else None
    if row is None or not row.value.algbw or not _is_cut(row.value):
        return ()
    network, changed_demand = row.change.network(study.topology), demand_after(row.change, study.topology, study.demand)
    if changed_demand is None:
        return ()
    place = {number: place for place, number in enumerate(row.change.kept(study.topology))}
    proof = CutProof(tuple(place[node] for node in row.value.cut))
    first, *more = explanations.explain(
        Bound(changed_demand.collective, row.value.algbw, proof), network, changed_demand
    )
    return (f"Bottleneck after {row.change.name}: {first}", *more)


def _is_cut(value: Value) -> bool:
    return value.proof == CutProof.kind and value.is_optimal


def joined(page: Page, other: Page) -> Page:
    """Return a page with the blocks of another below its own."""
    return Page(page.title, (*page.blocks, *other.blocks))
