"""Small inputs of importers, and the import of a text."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from forestcoll.algorithms.generate import optimum
from forestcoll.topology.importers.imported import Imported
from forestcoll.topology.importers.reading import import_sources
from forestcoll.topology.importers.source import Source
from refusal import refusal


def import_text(*texts: str, form: Any = None, **options: Any) -> Imported:
    """Import texts as the files host0, host1, ..."""
    names = ["host0.txt", "host1.txt", "host2.txt", "host3.txt"]
    sources = [Source.of(text.encode(), Path(name)) for text, name in zip(texts, names, strict=False)]
    return import_sources(sources, form, **options)


def problem(*texts: str, form: Any = None, **options: Any) -> str:
    """The one line that refuses texts."""
    message = refusal(import_text, *texts, form=form, **options)
    assert message.startswith("host")
    return message


def links(imported: Imported) -> dict[tuple[object, object], Fraction]:
    """The bandwidth of each link, by the ids of its ends."""
    nodes = imported.topology.nodes
    return {(nodes[link.source].id, nodes[link.target].id): link.bandwidth for link in imported.topology.links}


def ids(imported: Imported) -> Sequence[object]:
    """The ids of the compute nodes."""
    return imported.topology.ids(imported.topology.compute)


def algbw(imported: Imported) -> Fraction:
    """The optimum of an allgather."""
    return optimum(imported.topology).algbw


def matrix(
    rows: Sequence[Sequence[str]], nics: Sequence[str] = (), title: str = "mlx5_", numa: Sequence[str] = ()
) -> str:
    """The matrix of nvidia-smi topo -m between GPUs, `X` on the diagonal, and between GPUs and NICs."""
    gpus = [f"GPU{number}" for number in range(len(rows))]
    titles = [f"{title}{number}" for number in range(len(nics[0].split()) if nics else 0)]
    lines = ["\t" + "\t".join([*gpus, *titles, "CPU Affinity", "NUMA Affinity"])]
    for number, row in enumerate(rows):
        near = nics[number].split() if nics else []
        lines.append("\t".join([gpus[number], *row, *near, "0-47,96-143", numa[number] if numa else "0"]))
    for place, name in enumerate(titles):
        column = [nics[number].split()[place] for number in range(len(rows))]
        lines.append("\t".join([name, *column, *(" X " if each == name else "SYS" for each in titles)]))
    return "\n".join(lines) + "\n\nLegend:\n\n  X    = Self\n  NV#  = Connection traversing a bonded set of # NVLinks\n"


def full(count: int, relation: str) -> list[list[str]]:
    """Rows of GPUs that are all equally near."""
    return [[" X " if one == other else relation for other in range(count)] for one in range(count)]
