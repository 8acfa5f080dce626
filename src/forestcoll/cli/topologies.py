"""`forestcoll topologies`: lists the builders of networks."""

import click

from forestcoll.cli.options import json_option


@click.command("topologies")
@json_option
def command(*, as_json: bool) -> None:
    """List the builders of networks and their parameters.

    The list has the default value of each parameter, and the source of the published figures of each network.
    """
    from forestcoll.presentation.builders import builders_document, builders_page
    from forestcoll.presentation.printing import print_json, print_page
    from forestcoll.topology.registry import builders

    if as_json:
        print_json(builders_document(builders()))
    else:
        print_page(builders_page(builders()))
