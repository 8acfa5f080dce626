"""`forestcoll topologies`: the list of topology builders."""

import click

from forestcoll.cli.options import json_option


@click.command("topologies")
@json_option
def command(*, as_json: bool) -> None:
    """List the topology builders and their parameters.

    The list contains the default value of each parameter, and the source of the published figures of each network.
    """
    from forestcoll.presentation.printing import print_json, print_page
    from forestcoll.presentation.results.networks.builders import builders_document, builders_page
    from forestcoll.topology.registry import builders

    if as_json:
        print_json(builders_document(builders()))
    else:
        print_page(builders_page(builders()))
