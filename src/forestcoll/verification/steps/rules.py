"""The rules that a step schedule must keep, in the order in which they are tried.

A rule is an identifier, a statement, and a function that returns the message of the first place that breaks it. It may
rely on every rule above it. A reduce is judged as the broadcast that it is when it is read backwards: who sends a part
there receives it here. What differs is that a part which is added up twice is wrong, while a copy that comes twice is
only wasteful.
"""

from typing import TypeAlias

from forestcoll.verification.claims import FORM, Claim, bound_rules
from forestcoll.verification.rule import Rule, statements
from forestcoll.verification.steps import delivery, form
from forestcoll.verification.steps.case import StepCase

StepRule: TypeAlias = Rule[StepCase]

RULES: tuple[StepRule, ...] = (
    Rule(
        "columns-malformed",
        "Flat columns fit together: all of a phase have an entry for each transfer, steps begin at rising places, and "
        "points rise.",
        form.columns_malformed,
    ),
    Rule("step-collective", "The collective is an allgather, a reduce-scatter or an allreduce.", form.collective_wrong),
    Rule(
        "step-phases",
        "An allgather is one broadcast, a reduce-scatter one reduce, an allreduce a reduce and then a broadcast.",
        form.phases_wrong,
    ),
    Rule(
        "step-shards", "Shards, where they are given, are 0 or more for each node and add up to 1.", form.shards_wrong
    ),
    Rule("transfer-node", "Sources, targets and nodes that have shards are numbers of compute nodes.", form.node_wrong),
    Rule("transfer-part", "A transfer sends a part of a shard that is not empty, from 0 to 1.", form.part_wrong),
    Rule("transfer-link", "A link joins the source of a transfer to its target.", form.link_missing),
    Rule(
        "part-twice",
        "Reduce: a node sends no part of a sum twice, and none of the sum that ends on itself.",
        delivery.sent_twice,
    ),
    Rule(
        "part-not-held",
        "Broadcast: what a node sends it had before the step began. Reduce: what a node receives it sends on at a "
        "later step, unless the sum ends there.",
        delivery.not_held,
    ),
    Rule(
        "part-missing",
        "Broadcast: every node receives the whole shard of every other. Reduce: every node sends its whole part of the "
        "sum of every other.",
        delivery.missing,
    ),
)

ACHIEVED: tuple[StepRule, ...] = (
    Rule("algbw-wrong", "algbw, where it is given, is exactly 1 / the time of all steps.", form.algbw_wrong),
)

CLAIMS: tuple[Rule[Claim], ...] = (*FORM, *bound_rules("what one side of it must receive from the other"))


def step_rules() -> tuple[tuple[str, str], ...]:
    """Return the identifier and the statement of each rule, in the order in which they are tried."""
    return (*statements(RULES), *statements(ACHIEVED), *statements(CLAIMS))
