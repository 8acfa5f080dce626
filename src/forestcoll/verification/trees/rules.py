"""The rules that a schedule must keep, in the order in which they are tried, a table for each collective.

A rule is an identifier, a statement, and a function that returns the message of the first place that breaks it. It
may rely on every rule above it: that is why the form of routes stands before trees, trees before loads, and loads
before what is claimed of them. What a collective asks of its own (its phases, its shards, its bound) is a row of its
table; the rows that all trees share are written once.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TypeAlias

from forestcoll.collective import Collective, PhaseOp
from forestcoll.verification.claims import FORM, Claim, bound_rules
from forestcoll.verification.proofs.question import MAX_DENOMINATOR_DIGITS
from forestcoll.verification.rule import Rule, statements
from forestcoll.verification.trees import delivery, routes, shares, symmetry
from forestcoll.verification.trees.case import Case

TreeRule: TypeAlias = Rule[Case]


@dataclass(frozen=True, slots=True)
class RuleBook:
    """The rules of a collective.

    Attributes:
        delivery: that the right data arrives everywhere; when they hold, the links' loads have a meaning.
        achieved: that the schedule achieves what it says.
        claims: that the bound is proven that the schedule claims.
    """

    delivery: tuple[Rule[Case], ...]
    achieved: tuple[Rule[Case], ...]
    claims: tuple[Rule[Claim], ...]

    def statements(self) -> tuple[tuple[str, str], ...]:
        """Return the identifier and the statement of each rule, in the order in which they are tried."""
        return (*statements(self.delivery), *statements(self.achieved), *statements(self.claims))


_FORM = (
    Rule(
        "rows-malformed",
        "Flat rows fit together: starts rise from 0 to the number of entries, and a phase has as many roots as shares "
        "and lists of routes.",
        shares.rows_malformed,
    ),
    Rule(
        "ranks-wrong",
        "Ranks, where they are given, are numbers of compute nodes, two or more, rising. They take part, other compute "
        "nodes are idle.",
        shares.ranks_wrong,
    ),
)
_SYMMETRY = (
    Rule(
        "symmetry-order",
        "A shift's order is 2 or more, and the orders multiply to at most the number of compute nodes that take part.",
        symmetry.order_wrong,
    ),
    Rule("symmetry-image", "A shift sends each node to a node, and no two to the same.", symmetry.image_wrong),
    Rule(
        "symmetry-kind",
        "A shift sends a node that takes part to one that does, an idle node to an idle one, a switch to one that can "
        "do the same.",
        symmetry.kind_wrong,
    ),
    Rule("symmetry-link", "A shift sends each link to a link of the same bandwidth.", symmetry.link_wrong),
    Rule(
        "symmetry-return",
        "A shift that is applied as often as its order says sends each node back to itself.",
        symmetry.return_wrong,
    ),
    Rule("symmetry-commute", "It does not matter which of two shifts is applied first.", symmetry.not_commuting),
    Rule(
        "symmetry-free",
        "Different powers of the shifts, multiplied, send a compute node that takes part to different nodes.",
        symmetry.not_free,
    ),
)
_ROUTES = (
    Rule("route-node-unknown", "A route's entries are numbers of nodes.", routes.node_unknown),
    Rule("route-too-short", "A route has two nodes or more.", routes.too_short),
    Rule("route-node-repeated", "A route visits a node once at most.", routes.node_repeated),
    Rule("route-link-missing", "A link joins each node of a route to the next.", routes.link_missing),
    Rule("route-interior-compute", "The interior nodes of a route are switches.", routes.interior_compute),
)
_OUT = "starts and ends on a compute node, or on a switch that can multicast."
_IN = "starts and ends on a compute node, or on a switch that can aggregate."
_BOTH = "starts and ends on a compute node, or on a switch that can multicast or aggregate."


def _ends(where: str) -> TreeRule:
    return Rule("route-ends-on-switch", f"A route {where}", routes.ends_on_switch)


_TREES = (
    Rule("phase-empty", "A phase has a tree or more.", shares.no_trees),
    Rule("tree-root", "A tree's root is a compute node that takes part.", delivery.root_wrong),
    Rule("tree-route-unknown", "A tree's routes are numbers of routes in the table.", delivery.route_unknown),
)
_OUTWARD = (
    Rule(
        "tree-order", "Each route of a tree starts on the root or where one before it ends.", delivery.starts_unreached
    ),
    Rule("tree-node-repeated", "No route of a tree ends on its root or where one before ends.", delivery.reached_twice),
    Rule("tree-not-spanning", "A tree reaches every compute node that takes part.", delivery.not_spanning),
)
_INWARD = (
    Rule(
        "tree-order", "Each route of a tree ends on the root or where one after it starts.", delivery.starts_unreached
    ),
    Rule(
        "tree-node-repeated",
        "No route of a tree starts on its root or where one after it starts.",
        delivery.reached_twice,
    ),
    Rule(
        "tree-not-spanning", "Every compute node that takes part, but the root, sends in a tree.", delivery.not_spanning
    ),
)
_RELAYS = Rule(
    "tree-relay-empty", "An idle node that sends in a tree that reduces has been sent something.", delivery.relay_empty
)
_BOTH_WAYS = (
    Rule(
        "tree-switch",
        "A route that a broadcast uses starts and ends on no switch that cannot multicast; nor one that a reduce uses, "
        "on one that cannot aggregate.",
        routes.joins_wrong_switch,
    ),
    *(
        Rule(outward.id, f"Broadcast: {outward.statement} Reduce: {inward.statement}", outward.find)
        for outward, inward in zip(_OUTWARD, _INWARD, strict=True)
    ),
    _RELAYS,
)
_SHARES = (
    Rule("share-not-positive", "A tree's share is more than 0.", shares.not_positive),
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
        "algbw is exactly 1 / the greatest (data over the link / bandwidth) of a link.",
        shares.algbw_wrong,
    ),
)
_SHARDS_PARTS = Rule(
    "shards-wrong", "Shards, where they are given, are 0 or more for each node and add up to 1.", shares.shards_wrong
)
_SHARDS_NONE = Rule("shards-wrong", "No shards are given.", shares.shards_wrong)
_SHARD_EACH = Rule(
    "root-shares",
    "The shares of each root's trees add up to exactly its shard, 1/N unless shards are given.",
    shares.root_wrong,
)
_ONE_ROOT = Rule("root-differs", "All trees have the same root.", shares.roots_differ)
_EQUAL_ROOTS = Rule(
    "root-shares", "The shares of each root's trees add up to the same in both phases.", shares.roots_unequal
)
_BROADCAST, _REDUCE = PhaseOp.BROADCAST, PhaseOp.REDUCE


def _phases(statement: str, *ops: PhaseOp) -> TreeRule:
    return Rule("phase-ops", statement, partial(shares.phase_ops, expected=ops))


def _book(phases: TreeRule, shards: TreeRule, trees_: tuple[TreeRule, ...], roots: TreeRule, part: str) -> RuleBook:
    """Return the rules of a collective from its own ones; `trees_` begins with that for the ends of routes.

    `part` says which part of the data must leave a cut; empty for all of it.
    """
    delivery = (*_FORM, phases, shards, *_SYMMETRY, *_ROUTES, trees_[0], *_TREES, *trees_[1:], *_SHARES, roots)
    return RuleBook(delivery, _ACHIEVED, (*FORM, *bound_rules(part)))


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
            (_ends(_BOTH), *_BOTH_WAYS),
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
