"""The rules of bundles, in the order in which they are applied. A rule may rely on every rule above it."""

from forestcoll.base.exact import exact_sum
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.verification.bundle.claims import BundleClaim, beaten, bound_wrong, unproven, wrong_kind
from forestcoll.verification.bundle.context import BundleContext
from forestcoll.verification.rule import Rule, statements
from forestcoll.verification.wording import number, quoted


def _no_member(context: BundleContext) -> str | None:
    """Find a bundle without members."""
    return None if context.schedule.bundled else "the bundle has no members; expected at least one"


def _size_wrong(context: BundleContext) -> str | None:
    """Find a member whose size is not greater than 0."""
    for place, member in enumerate(context.schedule.bundled):
        if member.size <= 0:
            return f"members[{place}] has size {number(member.size)}; expected more than 0"
    return None


def _pieces_wrong(context: BundleContext) -> str | None:
    """Find pieces that are not the data of their member, or a piece that is listed twice."""
    seen: set[str] = set()
    for place, member in enumerate(context.schedule.bundled):
        for name, size in member.pieces:
            if name in seen:
                return f"members[{place}] has piece {quoted(name)}, which is listed before; expected each piece once"
            if size <= 0:
                return f"members[{place}]: piece {quoted(name)} has size {number(size)}; expected more than 0"
            seen.add(name)
        total = exact_sum(size for _, size in member.pieces)
        if member.pieces and total != member.size:
            return f"members[{place}] has size {number(member.size)}, and its pieces together {number(total)}"
    return None


def _kind_wrong(context: BundleContext) -> str | None:
    """Find a member of another kind."""
    for place, member in enumerate(context.schedule.bundled):
        if type(member.schedule) not in {TreeSchedule, FlowSchedule}:
            return f"members[{place}] is a schedule of another kind; expected 'trees' or 'flows'"
    return None


def _network_differs(context: BundleContext) -> str | None:
    """Find a member on another network."""
    for place, member in enumerate(context.schedule.bundled):
        if member.schedule.topology is not context.topology and member.schedule.topology != context.topology:
            return f"members[{place}] is on another network; expected that of the bundle"
    return None


def _member_wrong(context: BundleContext) -> str | None:
    """Find a member that breaks a rule of its kind."""
    for place, report in enumerate(context.reports):
        if report.fault is not None:
            return f"members[{place}]: {report.fault.message} [{report.fault.rule}]"
    return None


def _algbw_wrong(context: BundleContext) -> str | None:
    """Find a bandwidth that is not that of the loads of all members together."""
    claimed, achieved = context.schedule.algbw, context.algbw
    if claimed is None or claimed == achieved:
        return None
    return f"algbw is {number(claimed)}, but the loads of all members together give {number(achieved)}"


DELIVERY: tuple[Rule[BundleContext], ...] = (
    Rule("bundle-empty", "A bundle has at least one member.", _no_member),
    Rule("member-size", "The size of a member is more than 0.", _size_wrong),
    Rule(
        "member-pieces",
        "The pieces of a member have sizes above 0, which add up to its size, and no piece is listed twice.",
        _pieces_wrong,
    ),
    Rule("member-kind", "A member is a schedule of trees or of flows.", _kind_wrong),
    Rule("member-network", "All members are on the network of the bundle.", _network_differs),
    Rule("member-wrong", "A member keeps all rules of its kind.", _member_wrong),
)
ACHIEVED: tuple[Rule[BundleContext], ...] = (
    Rule(
        "algbw-wrong",
        "algbw is exactly 1 / the greatest (data on the link / bandwidth) of a link, where the data of all members "
        "adds up, each times its size.",
        _algbw_wrong,
    ),
)
CLAIMS: tuple[Rule[BundleClaim], ...] = (
    Rule("certificate-kind", "The proof of the bound is of the kind 'group-lengths'.", wrong_kind),
    Rule("certificate-proof", "The numbers of a proof meet the conditions of its kind.", unproven),
    Rule("certificate-bound", "optimal_algbw is exactly the bound that the certificate proves.", bound_wrong),
    Rule("certificate-beaten", "algbw is not above the bound that the certificate proves.", beaten),
)


def bundle_rules() -> tuple[tuple[str, str], ...]:
    """Return the identifier and the statement of each rule, in the order in which they are applied."""
    return (*statements(DELIVERY), *statements(ACHIEVED), *statements(CLAIMS))
