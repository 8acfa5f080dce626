"""`forestcoll what-if`: what failures cost, and what upgrades and new links gain."""

from typing import Any

import click

from forestcoll.cli.file_types import OutputFolder, PictureFile
from forestcoll.cli.options import (
    PARTS,
    asked_by,
    collective_option,
    jobs_option,
    json_option,
    named_network,
    processes,
    ranks_option,
    topology_argument,
    usage_of,
)
from forestcoll.cli.types import IntegerFrom, OneOf
from forestcoll.demand.collective import Collective


@click.command("what-if")
@topology_argument
@click.option("--fail", type=OneOf(PARTS), help="Each failure of one part of this kind, worst first.")
@click.option("--at-once", type=IntegerFrom(min=1), metavar="K", help="With --fail: K parts fail at the same time.")
@click.option("--upgrade", is_flag=True, help="More bandwidth on each class of links and on each link, best first.")
@click.option(
    "--price",
    multiple=True,
    metavar="LINKS=PRICE",
    help="With --upgrade: what 1 GB/s more costs on each of these links: nic=20, or names as for --without.",
)
@click.option(
    "--plot",
    metavar="FILE",
    type=PictureFile(".svg", ".png"),
    help="With --price: also write a chart of the gain for the money to FILE (.svg or .png).",
)
@click.option("--add-link", is_flag=True, help="A new link between any two nodes, best first.")
@click.option(
    "--bandwidth",
    metavar="BANDWIDTH",
    help="With --add-link: of the new link, each way.  [default: of the fastest link that both ends have]",
)
@collective_option(Collective, Collective.ALLGATHER)
@ranks_option
@click.option("--root", metavar="ID", help="The root of a broadcast, reduce, gather or scatter, by its id or position.")
@jobs_option("Processes that work.")
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    type=OutputFolder(),
    help="With --fail: also write a schedule for each failure to DIR.",
)
@json_option
def command(*, as_json: bool, **options: Any) -> None:
    """Compute the effect of failures, upgrades and new links.

    Each row is the exact optimum of a collective on TOPOLOGY after a change. Changes that are known to be symmetric are
    one row. A NIC is a link between a node of a box and a switch outside. Without --fail, --upgrade or --add-link, the
    row is the change that --without and --degrade describe; with one of them, the changes come first.
    Failover sets are not for an all-to-all, a gather and a scatter.
    """
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.presentation.pictures.raster import write_picture
    from forestcoll.presentation.printing import print_result
    from forestcoll.presentation.results.comparisons.gain_plot import gain_plot
    from forestcoll.presentation.results.comparisons.what_if import answer_page
    from forestcoll.what_if.asked import asked

    topology, jobs, plot = options.pop("topology"), options.pop("jobs"), options["plot"]
    demand, _ = asked_by({name: options.pop(name) for name in ("collective", "ranks", "root")})
    question = usage_of(asked, {**options, "demand": demand})
    with TerminalProgress() as progress, processes(jobs) as executor:
        answer = question.answer(named_network(topology, connected=demand.needs_all), executor, progress)
        if plot is not None:
            write_picture(gain_plot(answer.study), plot)
    print_result(answer_page(answer), as_json=as_json)
