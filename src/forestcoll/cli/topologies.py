"""`forestcoll topologies`: lists the builders of networks."""

from typing import TYPE_CHECKING

import click

from forestcoll.cli.options import json_option

if TYPE_CHECKING:
    from forestcoll.topology.registry import BuilderSpec


@click.command("topologies")
@json_option
def command(*, as_json: bool) -> None:
    """List the builders of networks and their parameters.

    With each parameter stands its default, with each builder where its numbers are published.
    """
    from forestcoll.presentation import text
    from forestcoll.topology.registry import builders

    if as_json:
        text.print_json({"topologies": [_document(spec) for spec in builders()]})
        return
    lines = ["TOPOLOGY is NAME[:key=value,…], as in dgx-a100:boxes=2 or torus:dims=4x4x4, or a file."]
    for spec in builders():
        lines += ["", f"{spec.name}: {spec.summary}"]
        lines += text.table([(f"{each.name}={each.default_text}", each.meaning) for each in spec.parameters])
        lines.append(f"  source: {spec.source}")
    text.print_lines(lines)


def _document(spec: "BuilderSpec") -> dict[str, object]:
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
