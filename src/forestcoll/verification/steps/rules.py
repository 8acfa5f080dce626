"""The rules for step schedules, in the order in which they are applied.

A rule is an identifier, a statement, and a function that returns the message of the first place that breaks the rule.
It may rely on every rule above it. A reduce is checked as a broadcast by reading it backwards, with senders and
receivers exchanged. There is one difference: a part that is added twice is wrong, but a part that is copied twice is
only wasteful.
"""

from typing import TypeAlias

from forestcoll.verification.claims import FORM, Claim, bound_rules
from forestcoll.verification.routes.rules import SYMMETRY, SYMMETRY_FREE
from forestcoll.verification.rule import Rule, statements
from forestcoll.verification.steps import delivery, form, routes
from forestcoll.verification.steps.context import StepContext

StepRule: TypeAlias = Rule[StepContext]

RULES: tuple[StepRule, ...] = (
    Rule(
        "columns-malformed",
        "Columns match: all columns of a phase have one entry for each transfer; starts of steps, points and starts of "
        "routes are in ascending order; routes list numbers of nodes, and transfers numbers of routes.",
        form.columns_malformed,
    ),
    Rule(
        "step-collective",
        "The collective is an allgather, a reduce-scatter, an allreduce or an all-to-all.",
        form.collective_wrong,
    ),
    Rule(
        "step-phases",
        "An allgather or an all-to-all is one broadcast, a reduce-scatter one reduce, an allreduce a reduce and then a "
        "broadcast.",
        form.phases_wrong,
    ),
    Rule(
        "step-ranks",
        "If ranks are given, they are two or more numbers of compute nodes in ascending order. These take part; other "
        "compute nodes are idle.",
        form.ranks_wrong,
    ),
    Rule(
        "step-shards",
        "If shards are given, each node has one, of 0 or more, and they add up to 1. In an all-to-all, none are given.",
        form.shards_wrong,
    ),
    *SYMMETRY,
    SYMMETRY_FREE,
    Rule("symmetry-exchange", "An all-to-all has no symmetry.", form.symmetry_forbidden),
    Rule("symmetry-shard", "A shift maps each node to a node whose shard has the same size.", form.shards_asymmetric),
    Rule(
        "transfer-node",
        "Sources, targets and owners of shards are numbers of compute nodes that take part.",
        form.node_wrong,
    ),
    Rule("transfer-part", "A transfer sends a part of a shard that is not empty and lies in [0, 1].", form.part_wrong),
    Rule("route-short", "A route has two or more nodes.", routes.too_short),
    Rule("route-repeats", "A route visits each node at most once.", routes.node_repeated),
    Rule("route-link", "A link joins each node of a route to the next.", routes.hop_missing),
    Rule("transfer-route", "The route of a transfer starts on its source and ends on its target.", routes.ends_wrong),
    Rule("transfer-link", "A link joins the source of a transfer without a route to its target.", routes.link_missing),
    Rule(
        "part-twice",
        "Reduce: a node sends no part of a sum twice, and no part of the sum that ends on it.",
        delivery.sent_twice,
    ),
    Rule(
        "part-not-held",
        "Broadcast: a node has all that it sends before the step begins. Reduce: a node forwards all that it receives "
        "at a later step, unless the sum ends on it.",
        delivery.not_held,
    ),
    Rule(
        "part-missing",
        "Broadcast: every node receives the whole shard of every other node. Reduce: every node sends its whole part "
        "of the sum of every other node. All-to-all: every node receives its part of the buffer of every other node.",
        delivery.missing,
    ),
)

ACHIEVED: tuple[StepRule, ...] = (
    Rule("algbw-wrong", "If algbw is given, it is exactly 1 / the time of all steps.", form.algbw_wrong),
)

CLAIMS: tuple[Rule[Claim], ...] = (*FORM, *bound_rules("the data that one side must receive from the other"))


def step_rules() -> tuple[tuple[str, str], ...]:
    """Return the identifier and the statement of each rule, in the order in which they are applied."""
    return (*statements(RULES), *statements(ACHIEVED), *statements(CLAIMS))
