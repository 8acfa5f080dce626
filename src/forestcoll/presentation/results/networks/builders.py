"""The builders of networks and their parameters."""

from collections.abc import Iterable

from forestcoll.presentation.tables import Column, Page, Table, row
from forestcoll.topology.registry import BuilderSpec

_TITLE = "TOPOLOGY is a file, or NAME[:key=value,…] such as dgx-a100:boxes=2 or torus:dims=4x4x4."


def builders_page(builders: Iterable[BuilderSpec]) -> Page:
    """Return the page of `builders`: each with its parameters, their default values, and its source."""
    blocks: list[Table | str] = []
    documents = []
    for spec in builders:
        parameters = _parameters(spec)
        blocks += ["", f"{spec.name}: {spec.summary}", parameters, f"  source: {spec.source}"]
        about = {"name": spec.name, "group": spec.group, "summary": spec.summary, "source": spec.source}
        documents.append(about | {"parameters": parameters})
    return Page(_TITLE, (*blocks, row(topologies=documents)))


def _parameters(spec: BuilderSpec) -> Table:
    columns = (Column(), Column(key="meaning"), *(Column(None, key=key) for key in ("name", "default", "form")))
    return Table(
        columns,
        tuple(
            (f"{each.name}={each.default_text}", each.meaning, each.name, each.default_text, each.kind.form)
            for each in spec.parameters
        ),
    )
