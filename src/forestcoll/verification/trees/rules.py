"""The rules for schedules of trees, in the order in which they are applied: one table for each collective.

A rule is an identifier, a statement, and a function that returns the message of the first place that breaks the rule.
It may rely on every rule above it. So the rules about routes come before those about trees, trees before loads, and
loads before claims. The rules of a single collective (its phases, its shards, its bound) are rows of its table. The
rules that all trees share are written once.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TypeAlias

from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.verification.claims import FORM, Claim, bound_rules
from forestcoll.verification.proof_checks.question import MAX_DENOMINATOR_DIGITS
from forestcoll.verification.routes.rules import RANKS, ROUTES, SYMMETRY, SYMMETRY_FREE_SOMEWHERE
from forestcoll.verification.rule import Rule, statements
from forestcoll.verification.trees import delivery, shares
from forestcoll.verification.trees.context import TreeContext

TreeRule: TypeAlias = Rule[TreeContext]


@dataclass(frozen=True, slots=True)
class RuleBook:
    """The rules of a collective.

    Attributes:
        form: flat rows match; ranks, phases, shards and symmetry are right.
        delivery: trees send data along links to every node. `TreeContext.examined` decides whether all of these rules
            hold.
        shares: the right data arrives everywhere. If all rules up to here hold, the loads of links are meaningful.
        achieved: the schedule achieves the bandwidth that it claims.
        claims: the bound that the schedule claims is proven.
    """

    form: tuple[Rule[TreeContext], ...]
    delivery: tuple[Rule[TreeContext], ...]
    shares: tuple[Rule[TreeContext], ...]
    achieved: tuple[Rule[TreeContext], ...]
    claims: tuple[Rule[Claim], ...]

    def statements(self) -> tuple[tuple[str, str], ...]:
        """Return the identifier and the statement of each rule, in the order in which they are applied."""
        of_trees = (self.form, self.delivery, self.shares, self.achieved)
        return (*(each for rules in of_trees for each in statements(rules)), *statements(self.claims))


_FORM = (
    Rule(
        "rows-malformed",
        "Flat rows match: starts ascend from 0 to the number of entries, and a phase has as many roots as shares and "
        "lists of routes.",
        shares.rows_malformed,
    ),
    RANKS,
    Rule(
        "ends-misplaced",
        "Only a broadcast or an allreduce without a symmetry has sources and targets: both of them, or neither.",
        delivery.ends_misplaced,
    ),
    Rule(
        "ends-wrong",
        "If sources and targets are given, they are numbers of nodes in ascending order. Together, they are all "
        "compute nodes that take part. In the rules about trees, each source of a broadcast counts as a root, only "
        "targets must be reached in a broadcast, and only sources take part in a reduce.",
        delivery.ends_wrong,
    ),
)
_OUT = "starts and ends on a compute node, or on a switch that can multicast."
_IN = "starts and ends on a compute node, or on a switch that can aggregate."
_BOTH = "starts and ends on a compute node, or on a switch that can multicast or aggregate."


def _ends(where: str) -> TreeRule:
    return Rule("route-ends-on-switch", f"A route {where}", delivery.ends_on_switch)


_TREES = (
    Rule("phase-empty", "A phase has at least one tree.", shares.no_trees),
    Rule(
        "tree-root",
        "The root of a tree is a compute node that takes part. In an allreduce without a symmetry, it may also be an "
        "idle node, or a switch that can aggregate (reduce) or multicast (broadcast).",
        delivery.root_wrong,
    ),
    Rule("tree-route-unknown", "The routes of a tree are numbers of routes in the table.", delivery.route_unknown),
)
_OUTWARD = (
    Rule(
        "tree-order",
        "Each route of a tree starts on the root or where an earlier route ends.",
        delivery.starts_unreached,
    ),
    Rule(
        "tree-node-repeated",
        "No route of a tree ends on its root or where an earlier route ends.",
        delivery.reached_twice,
    ),
    Rule("tree-not-spanning", "A tree reaches every compute node that takes part.", delivery.not_spanning),
)
_INWARD = (
    Rule(
        "tree-order",
        "Each route of a tree ends on the root or where a later route starts.",
        delivery.starts_unreached,
    ),
    Rule(
        "tree-node-repeated",
        "No route of a tree starts on its root or where a later route starts.",
        delivery.reached_twice,
    ),
    Rule(
        "tree-not-spanning", "Every compute node that takes part, but the root, sends in a tree.", delivery.not_spanning
    ),
)
_RELAYS = Rule(
    "tree-relay-empty", "An idle node that sends in a reduce has received data before.", delivery.relay_empty
)
_BOTH_DIRECTIONS = (
    Rule(
        "tree-switch",
        "A route of a broadcast does not start or end on a switch that cannot multicast; a route of a reduce does not "
        "start or end on a switch that cannot aggregate.",
        delivery.joins_wrong_switch,
    ),
    *(
        Rule(outward.id, f"Broadcast: {outward.statement} Reduce: {inward.statement}", outward.find)
        for outward, inward in zip(_OUTWARD, _INWARD, strict=True)
    ),
    _RELAYS,
)
_SHARES = (
    Rule("share-not-positive", "The share of a tree is more than 0.", shares.not_positive),
    Rule(
        "share-too-fine",
        f"The common denominator of all shares has at most {MAX_DENOMINATOR_DIGITS} digits.",
        shares.too_fine,
    ),
    Rule("shares-sum", "The shares of a phase add up to exactly 1.", shares.sum_wrong),
)
_ACHIEVED = (
    Rule(
        "algbw-wrong",
        "algbw is exactly 1 / the greatest (data on the link / bandwidth) of a link.",
        shares.algbw_wrong,
    ),
)
_SHARDS_PARTS = Rule(
    "shards-wrong", "If shards are given, each node has one, of 0 or more, and they add up to 1.", shares.shards_wrong
)
_SHARDS_NONE = Rule("shards-wrong", "No shards are given.", shares.shards_wrong)
_SHARD_EACH = Rule(
    "root-shares",
    "The shares of the trees of each root add up to exactly its shard, which is 1/N unless shards are given.",
    shares.root_wrong,
)
_ONE_ROOT = Rule(
    "root-differs", "All trees have the same root, which is one of the sources if these are given.", shares.roots_differ
)
_EQUAL_ROOTS = Rule(
    "root-shares", "The shares of the trees of each root add up to the same in both phases.", shares.roots_unequal
)
_BROADCAST, _REDUCE = PhaseOp.BROADCAST, PhaseOp.REDUCE


def _phases(statement: str, *ops: PhaseOp) -> TreeRule:
    return Rule("phase-ops", statement, partial(shares.phase_ops, expected=ops))


def _book(phases: TreeRule, shards: TreeRule, trees_: tuple[TreeRule, ...], roots: TreeRule, part: str) -> RuleBook:
    """Return all rules of a collective, made of its own rules and the shared ones.

    Args:
        phases: the rule about phases.
        shards: the rule about shards.
        trees_: the rule about the ends of routes, then the rules about the order in trees.
        roots: the rule about roots.
        part: the part of the data that must leave a cut, in words; empty for all data.
    """
    return RuleBook(
        form=(*_FORM, phases, shards, *SYMMETRY, SYMMETRY_FREE_SOMEWHERE),
        delivery=(*ROUTES, trees_[0], *_TREES, *trees_[1:]),
        shares=(*_SHARES, roots),
        achieved=_ACHIEVED,
        claims=(*FORM, *bound_rules(part)),
    )


RULE_BOOKS: Mapping[Collective, RuleBook] = MappingProxyType(
    {
        Collective.ALLGATHER: _book(
            _phases("An allgather has one phase, a broadcast.", _BROADCAST),
            _SHARDS_PARTS,
            (_ends(_OUT), *_OUTWARD),
            _SHARD_EACH,
            "the shards of the nodes inside",
        ),
        Collective.REDUCE_SCATTER: _book(
            _phases("A reduce-scatter has one phase, a reduce.", _REDUCE),
            _SHARDS_PARTS,
            (_ends(_IN), *_INWARD, _RELAYS),
            _SHARD_EACH,
            "the shards of the nodes outside",
        ),
        Collective.ALLREDUCE: _book(
            _phases("An allreduce has two phases, a reduce and a broadcast.", _REDUCE, _BROADCAST),
            _SHARDS_NONE,
            (_ends(_BOTH), *_BOTH_DIRECTIONS),
            _EQUAL_ROOTS,
            "",
        ),
        Collective.BROADCAST: _book(
            _phases("A broadcast has one phase, a broadcast.", _BROADCAST),
            _SHARDS_NONE,
            (_ends(_OUT), *_OUTWARD),
            _ONE_ROOT,
            "1 if the root is inside",
        ),
        Collective.REDUCE: _book(
            _phases("A reduce has one phase, a reduce.", _REDUCE),
            _SHARDS_NONE,
            (_ends(_IN), *_INWARD, _RELAYS),
            _ONE_ROOT,
            "1 if the root is outside",
        ),
    }
)
