"""What is said of an import: what was understood, what was ignored and why, and what was assumed."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from forestcoll.base.errors import plural
from forestcoll.base.exact import plain_number
from forestcoll.nccl.lint import Finding
from forestcoll.presentation.results.networks.networks import network_page
from forestcoll.presentation.tables import Page, Table, labelled
from forestcoll.presentation.text import path_text, written_to
from forestcoll.topology.importers.imported import Imported


def import_document(imported: Imported, output: Path | None) -> dict[str, object]:
    """Return the JSON of an import; the keys of `bandwidths` are bandwidths, its values count one-way links."""
    network = imported.topology
    return {
        "topology": network.name,
        "format": imported.format,
        "boxes": imported.boxes,
        "compute_nodes": len(network.compute),
        "switches": len(network.switches),
        "nics": imported.nics,
        "links": len(network.links),
        "unit": network.bandwidth_unit,
        "bandwidths": {str(plain_number(value)): count for value, count in imported.bandwidths.items()},
        "ignored": list(imported.ignored),
        "assumed": list(imported.assumed),
        "output": path_text(output),
    }


def import_page(imported: Imported, output: Path | None = None) -> Page:
    """Return what a person reads of an import."""
    network = network_page(imported.topology)
    counts = [("format", imported.format), ("written", written_to(output))]
    if imported.nics:
        counts.insert(1, ("NICs", plural(imported.nics, "switch").replace("switchs", "switches")))
    blocks: list[Table | str] = [labelled(counts), *network.blocks]
    for title, said in (("Assumed:", imported.assumed), ("Ignored:", imported.ignored)):
        blocks += _listed(title, said)
    return Page(network.title, tuple(blocks))


def lint_document(found: Mapping[Path, Sequence[Finding]]) -> dict[str, object]:
    """Return the JSON of what NCCL makes of topology files."""
    return {"files": [{"file": str(path), "findings": [asdict(each) for each in said]} for path, said in found.items()]}


def lint_page(found: Mapping[Path, Sequence[Finding]]) -> Page:
    """Return what a person reads of topology files."""
    lines = [f"{path}: line {each.line}: {each.text}" for path, said in found.items() for each in said]
    return Page(f"{plural(len(lines), 'finding')} in {plural(len(found), 'topology file')} of NCCL", tuple(lines))


def _listed(title: str, said: Sequence[str]) -> list[str]:
    return [title, *(f"  {each}" for each in said)] if said else []
