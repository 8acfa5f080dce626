"""The builders of networks and their parameters, as a page and as JSON."""

from collections.abc import Iterable

from forestcoll.presentation.tables import Page, Table, labelled
from forestcoll.topology.registry import BuilderSpec

_TITLE = "TOPOLOGY is a file, or NAME[:key=value,…] such as dgx-a100:boxes=2 or torus:dims=4x4x4."


def builders_page(builders: Iterable[BuilderSpec]) -> Page:
    """Return the page of `builders`: each with its parameters, their default values, and its source."""
    blocks: list[Table | str] = []
    for spec in builders:
        rows = [(f"{each.name}={each.default_text}", each.meaning) for each in spec.parameters]
        blocks += ["", f"{spec.name}: {spec.summary}", *([labelled(rows)] if rows else [])]
        blocks.append(f"  source: {spec.source}")
    return Page(_TITLE, tuple(blocks))


def builders_document(builders: Iterable[BuilderSpec]) -> dict[str, object]:
    """Return the JSON object of `builders`."""
    return {"topologies": [_builder_document(spec) for spec in builders]}


def _builder_document(spec: BuilderSpec) -> dict[str, object]:
    return {
        "name": spec.name,
        "group": spec.group,
        "summary": spec.summary,
        "source": spec.source,
        "parameters": [
            {"name": each.name, "default": each.default_text, "meaning": each.meaning, "form": each.kind.form}
            for each in spec.parameters
        ],
    }
