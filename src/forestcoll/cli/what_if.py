"""`forestcoll what-if`: what failures cost, and what upgrades and new links gain."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forestcoll.cli.options import (
    asked_by,
    collective_option,
    jobs_option,
    json_option,
    named_network,
    processes,
    ranks_option,
    topology_argument,
)
from forestcoll.cli.types import IntegerFrom, OutputFolder
from forestcoll.demand.collective import SCHEDULED, Collective

if TYPE_CHECKING:
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.presentation.tables import Page
    from forestcoll.topology import Topology

_PARTS = ("links", "nics", "switches", "boxes")


@click.command("what-if")
@topology_argument
@click.option("--fail", type=click.Choice(_PARTS), help="Each failure of one part of this kind, worst first.")
@click.option("--at-once", type=IntegerFrom(min=1), metavar="K", help="With --fail: K parts fail at the same time.")
@click.option("--upgrade", is_flag=True, help="More bandwidth on each class of links and on each link, best first.")
@click.option("--add-link", is_flag=True, help="A new link between any two nodes, best first.")
@click.option(
    "--bandwidth",
    metavar="BANDWIDTH",
    help="With --add-link: of the new link, each way.  [default: of the fastest link that both ends have]",
)
@collective_option(SCHEDULED, Collective.ALLGATHER)
@ranks_option
@click.option("--root", metavar="ID", help="The root of a broadcast or a reduce, by its id or position.")
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
    """
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.presentation.printing import print_result

    chosen = _WhatIfOptions(**options)
    chosen.check()
    with TerminalProgress() as progress:
        page = chosen.answer(progress)
    print_result(page, as_json=as_json)


@dataclass(frozen=True)
class _WhatIfOptions:
    topology: str
    fail: str | None
    at_once: int | None
    upgrade: bool
    add_link: bool
    bandwidth: str | None
    without: tuple[str, ...]
    degrade: tuple[str, ...]
    collective: str
    ranks: str | None
    root: str | None
    jobs: int | None
    output: Path | None

    def check(self) -> None:
        """Refuse options that do not go together, as wrong usage."""
        modes = sum([self.fail is not None, self.upgrade, self.add_link])
        if modes > 1:
            raise click.UsageError("--fail, --upgrade and --add-link exclude each other; give one of them")
        if not modes and not self.without and not self.degrade:
            raise click.UsageError("what changes? give --fail, --upgrade, --add-link, --without or --degrade")
        if self.fail is None and (self.at_once is not None or self.output is not None):
            raise click.UsageError("--at-once and -o are for --fail; give it too")
        if self.bandwidth is not None and not self.add_link:
            raise click.UsageError("--bandwidth is for --add-link; give it too")
        self._request  # noqa: B018 (it is checked before any work)

    @property
    def _request(self) -> dict[str, Any]:
        return {"demand": asked_by({"collective": self.collective, "ranks": self.ranks, "root": self.root})[0]}

    def answer(self, progress: "TerminalProgress") -> "Page":
        """Return the page of the study that the options select."""
        from forestcoll.presentation.results.comparisons import what_if as words
        from forestcoll.what_if.additions import additions
        from forestcoll.what_if.study import changes_of
        from forestcoll.what_if.upgrades import upgrades

        if self.fail is not None:
            return self._failures(progress)
        if self.upgrade:
            with processes(self.jobs) as executor:
                upgraded = upgrades(self._changed(), **self._request, executor=executor, progress=progress)
            return words.upgrades_page(upgraded)
        if self.add_link:
            with processes(self.jobs) as executor:
                how: dict[str, Any] = {"executor": executor, "progress": progress}
                study = additions(self._changed(), **self._request, bandwidth=self.bandwidth, **how)
            return words.study_page(study, "new link")
        network = named_network(self.topology, connected=self.ranks is None)
        study = changes_of(network, **self._request, without=self.without, degrade=self.degrade)
        return words.study_page(study, "change")

    def _failures(self, progress: "TerminalProgress") -> "Page":
        from forestcoll.presentation.results.comparisons import what_if as words
        from forestcoll.what_if.failover import check_failover, write_failover
        from forestcoll.what_if.study import failures

        network, at_once, part = self._changed(), self.at_once or 1, self.fail or ""
        if self.output is not None:
            check_failover(network, self.output, part, **self._request, at_once=at_once)
        with processes(self.jobs) as executor:
            how: dict[str, Any] = {"at_once": at_once, "executor": executor, "progress": progress}
            study = failures(network, part, **self._request, **how)
            made = None if self.output is None else write_failover(network, self.output, part, **self._request, **how)
        page = words.study_page(study, f"failure of {part}")
        return page if made is None else words.joined(page, words.failover_page(made))

    def _changed(self) -> "Topology":
        return named_network(self.topology, self.without, self.degrade, connected=self.ranks is None)
