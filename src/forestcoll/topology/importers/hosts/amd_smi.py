"""The tables of `amd-smi topology` and `rocm-smi --showtopo`, and the JSON of the first: which GPUs xGMI joins.

Both tools say that two GPUs are one hop apart if xGMI joins them, even over other GPUs. Where the table of bandwidths
has values, only pairs with a value above 0 have links of their own, and the greatest value divided by the least counts
these. Where it has none, and the weights of xGMI pairs differ, only the pairs with the least weight are direct. The
bandwidths themselves are those of the driver, and not those of the links, so the speed is asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.importers.hosts.amd_tables import AmdTables, json_tables, text_tables
from forestcoll.topology.importers.hosts.cpus import cpu_tree, pcie_speeds
from forestcoll.topology.importers.hosts.host import Device, HostFile, groups, hosts_network
from forestcoll.topology.importers.importer import Importer, importers, option
from forestcoll.topology.importers.notes import Notes
from forestcoll.topology.importers.options import missing_speed
from forestcoll.topology.importers.source import Source

_MODELS = (
    ("mi300", "64"),
    ("mi325", "64"),
    ("gfx942", "64"),
    ("mi35", "76.8"),
    ("gfx950", "76.8"),
    ("mi25", "50"),
    ("gfx90a", "50"),
)
"""What a file may say of the GPUs besides the tables, and what one xGMI link of such a GPU carries."""

Links = list[tuple[str, str, Fraction]]


@importers.add("amd-smi", summary="the tables of amd-smi topology and rocm-smi --showtopo", several=True, tried=40)
@dataclass(frozen=True)
class AmdSmi(Importer):
    """Reads the tables of amd-smi topology and rocm-smi --showtopo."""

    xgmi: Fraction | None = option("xgmi")
    pcie: Fraction | None = option("pcie")
    link_bandwidth: Fraction | None = option("link_bandwidth")

    @staticmethod
    def looks_like(text: str) -> bool:
        """Return whether the text has a table of link types, or the JSON of them."""
        if text.lstrip()[:1] in ("[", "{"):
            return '"link_type"' in text and ('"num_hops"' in text or '"weight"' in text or '"links"' in text)
        return "LINK TYPE TABLE" in text or "Link Type between two GPUs" in text

    def read(self, sources: Sequence[Source], notes: Notes) -> TopologyBuilder:
        """Return the network of a host."""
        return hosts_network([_host(source, self, notes) for source in sources], notes)


def _host(source: Source, options: AmdSmi, notes: Notes) -> HostFile:
    is_json = source.text.lstrip()[:1] in ("[", "{")
    tables = json_tables(source) if is_json else text_tables(source)
    counts = _direct(tables, notes)
    links: Links = []
    if counts:
        speed = _speed(source, options, notes)
        links = [(one, other, count * speed) for (one, other), count in counts.items()]
    switches: list[Device] = []
    if len(groups(tables.gpus, links)) > 1:
        pcie, between = pcie_speeds(source.where, "xGMI does not join all GPUs", options, notes)
        tree = cpu_tree([[[[gpu]] for gpu in members] for members in _cpus(tables, notes)], pcie, between)
        switches, links = tree.switches, [*links, *tree.links]
    devices = [Device(gpu, {"gpu": gpu.removeprefix("GPU"), **tables.attributes.get(gpu, {})}) for gpu in tables.gpus]
    return HostFile(source, source.stem, tuple(devices), tuple(switches), tuple(links))


def _direct(tables: AmdTables, notes: Notes) -> dict[tuple[str, str], int]:
    """Return for each pair of GPUs with links of their own how many these are."""
    pairs = [pair for pair in permutations(tables.gpus, 2) if tables.types.get(pair) == "XGMI"]
    pairs = [pair for pair in pairs if tables.hops.get(pair, 1) == 1]
    spans = {pair: tables.spans[pair] for pair in pairs if tables.spans.get(pair, (0, 0))[1] > 0}
    if spans:
        notes.assume(
            "the table of bandwidths says which GPUs xGMI links join, and how many, but not how fast these are"
        )
        return {pair: max(1, greatest // least if least else 1) for pair, (least, greatest) in spans.items()}
    weights = {pair: tables.weights[pair] for pair in pairs if pair in tables.weights}
    if len(weights) == len(pairs) and len(set(weights.values())) > 1:
        least = min(weights.values())
        notes.assume(f"only xGMI pairs with the least weight, {least}, have a link; the others go over several")
        return {pair: 1 for pair in pairs if weights[pair] == least}
    if pairs:
        notes.assume("two GPUs that xGMI joins in one hop have one link")
    return dict.fromkeys(pairs, 1)


def _speed(source: Source, options: AmdSmi, notes: Notes) -> Fraction:
    if options.xgmi is not None:
        return options.xgmi
    text = source.text.lower().replace(" ", "")
    found = next(((name, speed) for name, speed in _MODELS if name in text), None)
    if found is None:
        what = "what one xGMI link carries; its table of bandwidths is that of the driver"
        raise missing_speed(source.where, what, "--xgmi", "64 on MI300X, 50 on MI250, 46 on MI100 and MI50")
    notes.assume(
        f"one xGMI link carries {found[1]} GB/s each way, as the file names {found[0]}; "
        "forestcoll import --xgmi gives another speed"
    )
    return Fraction(found[1])


def _cpus(tables: AmdTables, notes: Notes) -> list[list[str]]:
    """Return the GPUs of each CPU: by their NUMA nodes or, where the file does not say, by hops."""
    if all(gpu in tables.numa for gpu in tables.gpus):
        by_node: dict[str, list[str]] = {}
        for gpu in tables.gpus:
            by_node.setdefault(tables.numa[gpu], []).append(gpu)
        return list(by_node.values())
    notes.assume("GPUs that xGMI joins, or with two hops between them, are at the same CPU")
    near = [
        (one, other, Fraction(1))
        for one, other in permutations(tables.gpus, 2)
        if tables.hops.get((one, other), 3) <= 2
    ]
    return groups(tables.gpus, near)
