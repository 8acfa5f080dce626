"""The rules for schedules of flows, in the order in which they are applied. A rule may rely on every rule above it."""

from forestcoll.verification.claims import FORM, Claim, bound_rules
from forestcoll.verification.flows import delivery
from forestcoll.verification.flows.context import FlowContext
from forestcoll.verification.proof_checks.question import MAX_DENOMINATOR_DIGITS
from forestcoll.verification.routes.rules import RANKS, ROUTES, SYMMETRY, SYMMETRY_FREE
from forestcoll.verification.rule import Rule, statements

DELIVERY: tuple[Rule[FlowContext], ...] = (
    Rule(
        "rows-malformed",
        "Flat rows match: starts ascend from 0 to the number of entries, and there are as many sources as targets, "
        "shares and lists of routes, one or more.",
        delivery.rows_malformed,
    ),
    RANKS,
    *SYMMETRY,
    SYMMETRY_FREE,
    *ROUTES,
    Rule("route-ends-on-switch", "A route starts and ends on a compute node.", delivery.ends_on_switch),
    Rule(
        "flow-ends",
        "The source and the target of a flow are two compute nodes that take part.",
        delivery.ends_wrong,
    ),
    Rule(
        "flow-route-unknown",
        "A flow has one or more routes, which are numbers of routes in the table.",
        delivery.route_unknown,
    ),
    Rule(
        "flow-chain",
        "The first route of a flow starts on its source, each other route starts where the route before it ends, and "
        "the last route ends on its target.",
        delivery.chain_broken,
    ),
    Rule(
        "demand-wrong",
        "If a demand matrix is given, it has a row and a column for each node that takes part, zeros on the diagonal, "
        "and no negative entry. In a gather, all data goes to the root; in a scatter, all data comes from the root.",
        delivery.demand_wrong,
    ),
    Rule("symmetry-root", "A gather or a scatter has no symmetry.", delivery.symmetry_forbidden),
    Rule(
        "symmetry-demand", "A shift maps each pair of nodes to a pair with the same demand.", delivery.demand_asymmetric
    ),
    Rule("share-not-positive", "The share of a flow is more than 0.", delivery.not_positive),
    Rule(
        "share-too-fine",
        f"The common denominator of all shares and demands has at most {MAX_DENOMINATOR_DIGITS} digits.",
        delivery.too_fine,
    ),
    Rule(
        "flow-shares",
        "The shares of the flows of each pair of nodes add up to exactly what the pair exchanges: its entry of the "
        "demand matrix, or 1/N without a matrix. Other pairs have no flows.",
        delivery.delivery_wrong,
    ),
)
ACHIEVED: tuple[Rule[FlowContext], ...] = (
    Rule(
        "algbw-wrong",
        "algbw is exactly 1 / the greatest (data on the link / bandwidth) of a link.",
        delivery.algbw_wrong,
    ),
)
CLAIMS: tuple[Rule[Claim], ...] = (*FORM, *bound_rules("what nodes inside send to nodes outside"))


def flow_rules() -> tuple[tuple[str, str], ...]:
    """Return the identifier and the statement of each rule, in the order in which they are applied."""
    return (*statements(DELIVERY), *statements(ACHIEVED), *statements(CLAIMS))
