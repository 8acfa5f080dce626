"""What-if studies as tables."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache, partial

from forestcoll.base.errors import plural
from forestcoll.demand.change import demand_after
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.presentation.names import counted
from forestcoll.presentation.results.schedules import explanations
from forestcoll.presentation.tables import Column, Page, Row, Table, row
from forestcoll.presentation.text import bandwidth, percent
from forestcoll.schedule.proof.bound import Bound
from forestcoll.schedule.proof.cut import CutProof
from forestcoll.topology import Topology
from forestcoll.topology.changes import Change
from forestcoll.what_if.asked import Answer
from forestcoll.what_if.failover import FailoverSet, manifest
from forestcoll.what_if.nccl_algbws import NcclAlgbws
from forestcoll.what_if.study import ChangeRow, Study
from forestcoll.what_if.upgrades import Upgrade, UpgradeStudy

_MOST_ROWS = 20
"""The most rows of a table; --json has all of them."""

_MOST_OF_LIBRARY = 64
"""The most rows that say what NCCL reaches."""

_LONGEST_EXACT = 16


def answer_page(answer: Answer) -> Page:
    """Return the page of an answer of `forestcoll what-if`."""
    study = answer.study
    page = upgrades_page(study) if isinstance(study, UpgradeStudy) else study_page(study, answer.what)
    return page if answer.failover is None else joined(page, failover_page(answer.failover))


def study_page(study: Study, what: str = "change") -> Page:
    """Return the page of a study; `what` says what its rows are, as in `failures of links`."""
    head = _head(study)
    if not study.rows:
        return Page(_title(study.topology, study.demand), (*head, f"No {what} gains anything.", row(rows=[])))
    now, left = len(study.demand.members(study.topology)), [_members_left(study, each) for each in study.rows]
    nccl = _Nccl(study, [each.change for each in study.rows])
    columns = (
        Column(what, key="change"),
        Column("of this kind", right=True, key="count"),
        Column("compute nodes" if set(left) != {now} else None, right=True, key="compute_nodes"),
        Column(f"algbw, {study.topology.bandwidth_unit}", _number, right=True, key="algbw"),
        Column("busbw", _number, right=True, key="busbw"),
        Column("of now", percent, right=True),
        Column("NCCL" if nccl.is_known else None, nccl.own_part, right=True),
        Column("NCCL's best" if nccl.is_known else None, nccl.best_part, right=True),
        Column("bottleneck", partial(_bottleneck, study)),
        *(Column(None, key=key) for key in ("ratio", "bottleneck", "optimal", "library_algbw", "library_best_algbw")),
    )
    rows = tuple(
        (
            each.change.name,
            each.count,
            nodes,
            each.value.algbw,
            each.value.algbw * study.demand.collective.busbw_factor(max(nodes, 1)),
            each.ratio,
            place,
            place,
            each,
            each.ratio,
            partial(_bottleneck_document, study, each),
            each.value.is_optimal,
            partial(nccl.algbw, place),
            partial(nccl.best_algbw, place),
        )
        for place, (each, nodes) in enumerate(zip(study.rows, left, strict=True))
    )
    table = Table(columns, rows, notes=_whole_fabric(study), key="rows", most=_MOST_ROWS)
    return Page(
        _title(study.topology, study.demand),
        (*head, nccl.head, table, *_first_reason(study), *nccl.sentences(study.rows[0])),
    )


class _Nccl:
    """What NCCL reaches after each change of a study: the first changes only, because each takes time."""

    def __init__(self, study: Study | UpgradeStudy, changes: Sequence[Change]) -> None:
        self._found = NcclAlgbws(study.topology, study.demand)
        self._changes = changes[:_MOST_OF_LIBRARY]
        self._after = cache(lambda place: self._found.after(self._changes[place]))

    @property
    def is_known(self) -> bool:
        """Whether NCCL has a schedule before the changes, and knows all of them."""
        return self._found.now.algbw is not None and all(map(self._found.knows, self._changes))

    @property
    def _own(self) -> str:
        return _ALGORITHMS.get(self._found.now.algorithm, self._found.now.algorithm)

    @property
    def head(self) -> Row:
        """What NCCL reaches before the changes."""
        return row(library_algbw=lambda: self._found.now.algbw, library_best_algbw=lambda: self._found.now.best)

    def algbw(self, place: int) -> Fraction | None:
        """Return the algbw of NCCL's own schedule after a change."""
        return self._after(place).algbw if place < len(self._changes) else None

    def best_algbw(self, place: int) -> Fraction | None:
        """Return the algbw of NCCL's best setting after a change."""
        return self._after(place).best if place < len(self._changes) else None

    def own_part(self, place: int) -> str:
        """Return what is left of NCCL's own schedule."""
        return _or_dash(self.algbw(place), self._found.now.algbw)

    def best_part(self, place: int) -> str:
        """Return what is left of NCCL's best setting."""
        return _or_dash(self.best_algbw(place), self._found.now.best)

    def sentences(self, first: ChangeRow) -> Iterator[str]:
        """Yield what the first change costs the optimum and NCCL, if NCCL runs after it, and what the columns are."""
        if not self.is_known:
            return
        now, own, best = self._found.now, self.algbw(0), self.best_algbw(0)
        if first.ratio <= 1 and own is not None and best is not None and now.algbw and now.best:
            lost, of_own, of_best = (percent(1 - each) for each in (first.ratio, own / now.algbw, best / now.best))
            name = first.change.name
            yield f"{name} costs the optimum {lost}, NCCL's {self._own} {of_own}, and NCCL's best setting {of_best}."
        yield f"NCCL: what NCCL's {self._own} have left. NCCL's best: what its best setting has, which may be another."


_ALGORITHMS = {"RING": "rings", "TREE": "trees", "NVLS_TREE": "NVLS and trees"}
"""What a sentence calls algorithms of NCCL; others by their names."""


def _or_dash(after: Fraction | None, now: Fraction | None) -> str:
    return "-" if after is None or not now else percent(after / now)


def upgrades_page(study: UpgradeStudy) -> Page:
    """Return the page of a study of upgrades."""
    has_prices = any(each.price is not None for each in study.rows)
    factor = _busbw_factor(study)
    columns = (
        Column("more bandwidth on", key="change"),
        Column("of this kind", right=True, key="count"),
        Column(f"now, {study.topology.bandwidth_unit}", _number, right=True, key="bandwidth"),
        Column("gains up to", _limit, right=True),
        Column("algbw", _number, right=True, key="algbw"),
        Column("busbw", _number, right=True, key="busbw"),
        Column("at", _number, right=True, key="at"),
        Column("of now", percent, right=True),
        *(Column(None, key=key) for key in ("ratio", "links", "breakpoint", "gain_beyond", "curve")),
        *(Column(None, key=key) for key in ("library_algbw", "library_best_algbw")),
        Column("cost" * has_prices or None, _money, right=True, key="cost" if has_prices else None),
        Column("gain for 1" * has_prices or None, _money, right=True, key="gain_per_cost" if has_prices else None),
    )
    nccl = _Nccl(study, [_upgrade(each) for each in study.rows])
    rows = tuple(
        (
            each.name,
            each.count,
            each.bandwidth,
            each,
            each.algbw,
            each.algbw * factor,
            each.at,
            each.ratio,
            each.ratio,
            [study.topology.ids(ends) for ends in each.links],
            each.breakpoint,
            each.gain_beyond,
            [_point(each, bandwidth, algbw) for bandwidth, algbw in each.curve],
            partial(nccl.algbw, place),
            partial(nccl.best_algbw, place),
            each.cost,
            each.gain_per_cost,
        )
        for place, each in enumerate(study.rows)
    )
    limits = {_limit(each) for each in study.rows}
    notes = (
        "gains up to: more bandwidth than this on each of the links gains nothing more; -: more gains nothing at all",
        "at: the bandwidth of each of the links for which algbw is given",
        *("no limit: more bandwidth always gains; algbw is that of twice the bandwidth",) * ("no limit" in limits),
        *("not known: algbw is that of twice the bandwidth",) * ("not known" in limits),
        *("box switches: switches inside a box; all other switches are outside the boxes",)
        * any(each.name.endswith("box switches") for each in study.rows),
        *("cost: of that bandwidth on all of the links; gain for 1: in algbw, for each 1 of the first money",)
        * has_prices,
    )
    table = Table(columns, rows, notes=notes, key="rows", most=_MOST_ROWS)
    return Page(_title(study.topology, study.demand), (*_head(study), nccl.head, table, *_best_for_the_money(study)))


def _point(row: Upgrade, bandwidth: Fraction, algbw: Fraction) -> dict[str, Fraction]:
    cost = {} if row.price is None else {"cost": row.price * (bandwidth - row.bandwidth)}
    return {"bandwidth": bandwidth, "algbw": algbw, **cost}


def _money(value: Fraction | None) -> str:
    return "" if value is None else f"{float(value):.6g}"


def _best_for_the_money(study: UpgradeStudy) -> Sequence[str]:
    """Return which upgrade gains most for the first money, and up to where it does."""
    best = next((row for row in study.rows if row.gain_per_cost), None)
    if best is None:
        return ("No upgrade with a price gains anything.",) * any(row.price is not None for row in study.rows)
    unit, gain = study.topology.bandwidth_unit, _money(best.gain_per_cost)
    upto = ""
    if best.curve[1:]:
        bandwidth, algbw = best.curve[1]
        cost = _money(_point(best, bandwidth, algbw)["cost"])
        upto = f", up to {_number(bandwidth)} {unit} on each link, which costs {cost}"
    return (f"Most for the money: {best.name}: {gain} {unit} of algbw for each 1{upto}.",)


def _upgrade(each: Upgrade) -> Change:
    """Return the change that an upgrade is."""
    return Change(each.name, bandwidths=tuple((*way, each.at) for ends in each.links for way in (ends, ends[::-1])))


def failover_page(made: FailoverSet) -> Page:
    """Return the page of a failover set; JSON has its manifest, and where it was written."""
    unit = made.topology.bandwidth_unit
    files = [each for each in made.failures if each.file is not None]
    lost = len(made.failures) - len(files)
    rows = [row("now", bandwidth(made.healthy.algbw, unit), failover=manifest(made) | {"output": made.folder})]
    if files:
        rows.append(row("worst", bandwidth(min(each.algbw for each in files), unit)))
    rows += [
        row("schedules", f"{len(files)}, each verified, and that of the network as it is"),
        row("written", f"{made.folder}; manifest.json says which file is for which failure"),
    ]
    if lost:
        rows.append(row("without", f"{plural(lost, 'failure')}: nodes that take part cannot all reach each other"))
    return Page(_title(made.topology, made.demand), tuple(rows))


def _head(study: Study | UpgradeStudy) -> list[Row]:
    topology, algbw, demand = study.topology, study.base.algbw, study.demand
    unit, busbw = topology.bandwidth_unit, algbw * _busbw_factor(study)
    return [
        row(topology=topology.name, collective=demand.collective, compute_nodes=len(demand.members(topology))),
        row("algbw now", bandwidth(algbw, unit), algbw=algbw, algbw_float=float(algbw)),
        row("busbw now", bandwidth(busbw, unit), busbw=busbw, unit=unit),
    ]


def _busbw_factor(study: Study | UpgradeStudy) -> Fraction:
    return study.demand.collective.busbw_factor(len(study.demand.members(study.topology)))


def _bottleneck_document(study: Study, row: ChangeRow) -> dict[str, object]:
    """Return what JSON says of the bottleneck; a proof that is no cut is long, so only the first row has it."""
    bound = row.value.bound
    if bound is not None:
        found: dict[str, object] = {"cut": None, "exit_bandwidth": None, "proof": row.value.proof}
        if row is study.rows[0]:
            found["details"] = explanations.document(bound, row.change.network(study.topology))
        return found
    cut = CutProof(row.value.cut)
    return {
        "cut": study.topology.ids(cut.inside),
        "exit_bandwidth": cut.exit_bandwidth(row.change.applied(study.topology)),
        "proof": row.value.proof,
    }


def _members_left(study: Study, row: ChangeRow) -> int:
    return len(set(study.demand.members(study.topology)).difference(row.change.nodes))


def _whole_fabric(study: Study) -> tuple[str, ...]:
    """Return what to ask about a switch that may stand for several ones, as a spine of the builders does, if it fails.

    Such a switch is outside the boxes, and no leaf.
    """
    for each in study.rows:
        nodes = [study.topology.nodes[number] for number in each.change.nodes]
        if len(nodes) == 1 and not each.value.algbw and not nodes[0].is_compute:
            name, attributes = each.change.name, nodes[0].attributes
            if "box" not in attributes and attributes.get("tier") != "leaf":
                half = f"--degrade {name}=50% is the failure of half of them"
                return (f"{name} is one node here; if it stands for several switches, {half}",)
    return ()


def _title(topology: Topology, demand: NodeDemand) -> str:
    return f"{topology.name}: {demand.collective.value} over {counted(topology, demand.ranks)}"


def _number(value: Fraction) -> str:
    exact = str(value)
    if value.denominator == 1 or len(exact) > _LONGEST_EXACT:
        return exact if value.denominator == 1 else f"{float(value):.6g}"
    return f"{exact} ({float(value):.6g})"


def _limit(row: Upgrade) -> str:
    if row.breakpoint is not None:
        return "-" if row.ratio == 1 else _number(row.breakpoint)
    return "no limit" if row.curve else "not known"


def _bottleneck(study: Study, row: ChangeRow) -> str:
    """Return what limits after the change, in few words."""
    if not row.value.algbw:
        return "nodes are cut off"
    if row.value.bound is not None:
        return _other_bottleneck(row.value.bound)
    changed = row.change.applied(study.topology)
    inside = [node for node in study.demand.members(study.topology) if node in set(row.value.cut)]
    count = min(len(inside), _members_left(study, row) - len(inside))
    way = "out of" if len(inside) == count else "into"
    links = CutProof(row.value.cut).leaving(changed)
    total = _number(sum((link.bandwidth for link in links), Fraction(0)))
    return f"{plural(len(links), 'link')} {way} {plural(count, 'compute node')}, {total} together"


def _other_bottleneck(bound: Bound) -> str:
    if bound.proof.kind == "tree-dual" and bound.collective is not Collective.ALLREDUCE:
        return "switches that cannot copy or add up"
    return _OTHER_PROOFS.get(bound.proof.kind, bound.proof.kind)


_OTHER_PROOFS = {
    "receipt": "the links of all compute nodes together",
    "tree-dual": "reduce and broadcast share the links",
    "partition": "the links between parts of the network",
    "lengths": "the links that all pairs share",
}


def _first_reason(study: Study) -> Sequence[str]:
    """Return the bottleneck after the first change, in sentences."""
    row = study.rows[0] if study.rows else None
    if row is None or not row.value.algbw or not row.value.is_optimal:
        return ()
    network, changed_demand = row.change.network(study.topology), demand_after(row.change, study.topology, study.demand)
    if changed_demand is None:
        return ()
    place = {number: place for place, number in enumerate(row.change.kept(study.topology))}
    cut = CutProof(tuple(place[node] for node in row.value.cut))
    bound = row.value.bound or Bound(changed_demand.collective, row.value.algbw, cut)
    first, *more = explanations.explain(bound, network, changed_demand)
    return (f"Bottleneck after {row.change.name}: {first}", *more)


def joined(page: Page, other: Page) -> Page:
    """Return a page with the blocks of another below its own."""
    return Page(page.title, (*page.blocks, *other.blocks))
