"""Add an algorithm and a method with a parameter by one file. They are generated, compared, and named in messages."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from dropped import dropped_in
from forestcoll import compare, generate, verify
from forestcoll.algorithms.method import methods
from forestcoll.cli.main import forestcoll
from refusal import refusal

FILE = '''
"""Chains: the data of each node goes from neighbour to neighbour."""

from collections.abc import Iterator
from dataclasses import dataclass

from forestcoll.algorithms.baseline import Family, baseline
from forestcoll.algorithms.crossings import Crossings
from forestcoll.algorithms.forests import LogicalTree, forest, schedule_of
from forestcoll.algorithms.method import Method, Problem, methods
from forestcoll.base.parameters import flag
from forestcoll.demand.collective import UNROOTED
from forestcoll.schedule.schedule import Schedule


def chains(problem: Problem, members: list[int]) -> Schedule:
    """Return the schedule of chains in this order of the nodes."""

    def trees(each: Problem) -> Iterator[LogicalTree]:
        crossings = Crossings(each)
        for place, root in enumerate(members):
            order = members[place:] + members[:place]
            yield LogicalTree(root, each.share, tuple(map(crossings.edge, order, order[1:])))

    return schedule_of(problem, lambda each: forest(each, trees(each)))


@baseline("paper-chain", Family.TREES, UNROOTED, title="chains", summary="From neighbour to neighbour")
def chain(problem: Problem) -> Schedule:
    """Return the schedule of chains upwards."""
    return chains(problem, list(problem.members))


@methods.add("paper-chain-way", summary="chains either way")
@dataclass(frozen=True)
class ChainWay(Method):
    """Chains, upwards or downwards."""

    down: bool = flag("whether the chains go downwards")

    def schedule(self, problem: Problem) -> Schedule:
        """Return the schedule of chains either way."""
        return chains(problem, list(problem.members)[:: -1 if self.down else 1])
'''


@pytest.fixture(autouse=True)
def _dropped_in(tmp_path: Path) -> Iterator[None]:
    with dropped_in(methods, "paper_chain", FILE, tmp_path):
        yield


def test_it_is_generated_and_verified() -> None:
    schedule = generate("ring:nodes=4", "allgather", "paper-chain")
    assert verify(schedule).ok
    assert schedule.algbw == Fraction(4, 3)  # three quarters of the data cross each link of one direction
    assert verify(generate("ring:nodes=4", "allgather", "paper-chain-way:down=true")).ok


def test_it_is_a_row_of_comparisons() -> None:
    row = compare("ring:nodes=4", baselines=["paper-chain"]).rows[-1]
    assert (row.name, row.valid, row.share) == ("paper-chain", True, Fraction(1, 2))


def test_it_is_completed_and_named_in_messages() -> None:
    items = ShellComplete(forestcoll, {}, "forestcoll", "_C").get_completions(["generate", "t", "--method"], "paper")
    assert [item.value for item in items] == ["paper-chain", "paper-chain-way"]
    assert "did you mean 'paper-chain'?" in refusal(lambda: generate("ring:nodes=4", method="paper-chian"))
    assert "did you mean 'down'?" in refusal(lambda: generate("ring:nodes=4", method="paper-chain-way:donw=true"))
