"""What is said of an import: what was understood, what was ignored and why, and what was assumed."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from forestcoll.base.errors import plural
from forestcoll.base.exact import plain_number
from forestcoll.nccl.lint import Finding
from forestcoll.nccl.oddities import oddities
from forestcoll.presentation.results.networks.networks import network_page
from forestcoll.presentation.tables import Page, row
from forestcoll.presentation.text import written
from forestcoll.topology.importers.imported import Imported


def import_page(imported: Imported, output: Path | None = None) -> Page:
    """Return the page of an import; the keys of `bandwidths` in JSON are bandwidths, its values count one-way links."""
    network = network_page(imported.topology)
    bandwidths = {plain_number(value): count for value, count in imported.bandwidths.items()}
    rows = (
        row("format", imported.format, format=imported.format, boxes=imported.boxes, bandwidths=bandwidths),
        row("NICs" * bool(imported.nics), str(imported.nics), nics=imported.nics),
        written(output),
    )
    assumed, ignored = _listed("Assumed:", imported.assumed), _listed("Ignored:", imported.ignored)
    odd = oddities(imported.topology)
    said = row(assumed=imported.assumed, ignored=imported.ignored, odd_hardware=odd)
    return Page(network.title, (*rows, *network.blocks, *assumed, *ignored, *_listed("Odd:", odd), said))


def lint_page(found: Mapping[Path, Sequence[Finding]]) -> Page:
    """Return the page of what NCCL makes of topology files."""
    lines = [f"{path}: line {each.line}: {each.text}" for path, said in found.items() for each in said]
    files = [{"file": path, "findings": [asdict(each) for each in said]} for path, said in found.items()]
    title = f"{plural(len(lines), 'finding')} in {plural(len(found), 'topology file')} of NCCL"
    return Page(title, (*lines, row(files=files)))


def _listed(title: str, said: Sequence[str]) -> list[str]:
    return [title, *(f"  {each}" for each in said)] if said else []
