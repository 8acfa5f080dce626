"""The rules about symmetries and about the table of routes, in the order in which they are applied."""

from forestcoll.verification.routes import form, symmetry, table
from forestcoll.verification.routes.context import RouteContext
from forestcoll.verification.rule import Rule

RANKS: Rule[RouteContext] = Rule(
    "ranks-wrong",
    "If ranks are given, they are two or more numbers of compute nodes in ascending order. These take part; other "
    "compute nodes are idle.",
    form.ranks_wrong,
)
SYMMETRY: tuple[Rule[RouteContext], ...] = (
    Rule(
        "symmetry-order",
        "The order of a shift is 2 or more; the product of all orders is at most the number of compute nodes that take "
        "part.",
        symmetry.order_wrong,
    ),
    Rule("symmetry-image", "A shift maps each node to a node, and no two nodes to the same.", symmetry.image_wrong),
    Rule(
        "symmetry-kind",
        "A shift maps a node that takes part to one that takes part, an idle node to an idle node, and a switch to a "
        "switch with the same abilities.",
        symmetry.kind_wrong,
    ),
    Rule("symmetry-link", "A shift maps each link to a link of the same bandwidth.", symmetry.link_wrong),
    Rule(
        "symmetry-return",
        "A shift that is applied as many times as its order says maps each node to itself.",
        symmetry.return_wrong,
    ),
    Rule("symmetry-commute", "Any two shifts commute.", symmetry.not_commuting),
)
SYMMETRY_FREE: Rule[RouteContext] = Rule(
    "symmetry-free",
    "Different products of powers of the shifts map a compute node that takes part to different nodes.",
    symmetry.not_free,
)
SYMMETRY_FREE_SOMEWHERE: Rule[RouteContext] = Rule(
    "symmetry-free",
    "There is a compute node that takes part and that different products of powers of the shifts map to different "
    "nodes.",
    symmetry.nowhere_free,
)
ROUTES: tuple[Rule[RouteContext], ...] = (
    Rule("route-node-unknown", "The entries of a route are numbers of nodes.", table.node_unknown),
    Rule("route-too-short", "A route has at least two nodes.", table.too_short),
    Rule("route-node-repeated", "A route visits a node at most once.", table.node_repeated),
    Rule("route-link-missing", "A link joins each node of a route to the next.", table.link_missing),
    Rule("route-interior-compute", "The interior nodes of a route are switches.", table.interior_compute),
)
