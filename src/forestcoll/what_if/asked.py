"""What `forestcoll what-if` is asked, and its answer: failures, upgrades, new links, or one change.

Which options fit each question follows from its fields.
"""

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from forestcoll.base.errors import InputError
from forestcoll.base.parameters import Question, of_options
from forestcoll.base.progress import Progress
from forestcoll.demand.collective import Collective
from forestcoll.demand.texts import DemandLike
from forestcoll.topology import Topology
from forestcoll.topology.changes import changed_network
from forestcoll.what_if.additions import additions
from forestcoll.what_if.failover import FailoverSet, check_failover, write_failover
from forestcoll.what_if.study import Study, changes_of, failures
from forestcoll.what_if.upgrades import UpgradeStudy, upgrades


@dataclass(frozen=True)
class Answer:
    """The answer to a question.

    Attributes:
        study: the optimum before and after each change.
        what: what a row is, such as `new link`.
        failover: the schedules that were written; None if none were.
    """

    study: Study | UpgradeStudy
    what: str = "change"
    failover: FailoverSet | None = None


@dataclass(frozen=True)
class _WhatIf(Question):
    """A question about a network.

    Attributes:
        demand: the demand.
        without: parts that are gone.
        degrade: parts with another bandwidth.
    """

    needs: ClassVar[str] = "what changes? give --fail, --upgrade, --add-link, --without or --degrade"
    demand: DemandLike = Collective.ALLGATHER
    without: tuple[str, ...] = ()
    degrade: tuple[str, ...] = ()

    def changed(self, network: Topology) -> Topology:
        """Return the network before the changes that the question is about."""
        return changed_network(network, self.without, self.degrade)


@dataclass(frozen=True, kw_only=True)
class Failures(_WhatIf):
    """A question about failures.

    Attributes:
        fail: what fails.
        at_once: how many parts fail at the same time.
        output: the folder for a schedule of each failure; None for no schedules.
    """

    fits: ClassVar[str] = "--fail; leave one of them out"
    fail: str
    at_once: int = 1
    output: Path | None = None

    def answer(self, network: Topology, executor: Executor | None, progress: Progress) -> Answer:
        """Return what failures cost, and write the schedules."""
        before, asked = self.changed(network), (self.fail, self.demand)
        how: dict[str, Any] = {"at_once": self.at_once, "executor": executor, "progress": progress}
        if self.output is not None:
            check_failover(before, self.output, *asked, at_once=self.at_once)
        study = failures(before, *asked, **how)
        made = None if self.output is None else write_failover(before, self.output, *asked, **how)
        return Answer(study, f"failure of {self.fail}", made)


@dataclass(frozen=True, kw_only=True)
class Upgrades(_WhatIf):
    """A question about more bandwidth.

    Attributes:
        upgrade: True.
        price: what 1 more of bandwidth costs on links, as `prices_of` reads it.
        plot: the file for a chart of the gain for the money; None for no chart.
    """

    fits: ClassVar[str] = "--upgrade; leave one of them out"
    upgrade: bool
    price: tuple[str, ...] = ()
    plot: Path | None = None

    def __post_init__(self) -> None:
        if self.plot is not None and not self.price:
            raise InputError("--plot shows the gain for the money; give --price too")

    def answer(self, network: Topology, executor: Executor | None, progress: Progress) -> Answer:
        """Return what upgrades gain."""
        how: dict[str, Any] = {"prices": self.price, "executor": executor, "progress": progress}
        return Answer(upgrades(self.changed(network), self.demand, **how))


@dataclass(frozen=True, kw_only=True)
class Additions(_WhatIf):
    """A question about new links.

    Attributes:
        add_link: True.
        bandwidth: the bandwidth of a new link; None for that of the fastest link that both ends have.
    """

    fits: ClassVar[str] = "--add-link; leave one of them out"
    add_link: bool
    bandwidth: str | None = None

    def answer(self, network: Topology, executor: Executor | None, progress: Progress) -> Answer:
        """Return what new links gain."""
        how: dict[str, Any] = {"bandwidth": self.bandwidth, "executor": executor, "progress": progress}
        return Answer(additions(self.changed(network), self.demand, **how), "new link")


@dataclass(frozen=True, kw_only=True)
class Changes(_WhatIf):
    """A question about one change: at least one of the two is given."""

    fits: ClassVar[str] = "--without and --degrade alone; also give --fail, --upgrade or --add-link"

    def __post_init__(self) -> None:
        if not self.without and not self.degrade:
            raise InputError(self.needs)

    def answer(self, network: Topology, _executor: Executor | None, _progress: Progress) -> Answer:
        """Return the optimum before and after the change."""
        return Answer(changes_of(network, self.demand, without=self.without, degrade=self.degrade))


def asked(options: Mapping[str, Any]) -> Failures | Upgrades | Additions | Changes:
    """Return the question that options ask.

    Args:
        options: the values of options by their names; None, False and () are not given.

    Raises:
        InputError: an option is missing, or two do not fit each other.

    Example:
        >>> asked({"fail": "links", "upgrade": False, "add_link": False, "at_once": 2}).at_once
        2
    """
    if options["fail"]:
        return of_options(Failures, options)
    if options["upgrade"]:
        return of_options(Upgrades, options)
    if options["add_link"]:
        return of_options(Additions, options)
    return of_options(Changes, options, Failures, Upgrades, Additions)
