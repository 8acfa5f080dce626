"""Reads groups from a JSON file: `{"groups": [{"ranks": "0,8", "size": "1", "collective": "allreduce"}, …]}`."""

from collections.abc import Mapping

from forestcoll.base.errors import InputError, did_you_mean, shown
from forestcoll.base.files import PathLike, as_path, read_document
from forestcoll.base.json_parts import list_of, object_of, require
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import Demand
from forestcoll.demand.groups.value import MOST_GROUPS, Group, groups_of, size_of
from forestcoll.topology import Topology

_KEYS = ("ranks", "size", "collective", "root")


def read_groups(
    path: PathLike, topology: Topology, collective: Collective | str = Collective.ALLGATHER
) -> tuple[Group, ...]:
    """Return the groups in a JSON file.

    Each group is an object with `ranks`, a text or a list as for `ranks_of`; and optionally `size`, `collective` and
    `root`, the id or the position of a compute node.

    Args:
        path: the file; `-` is standard input.
        topology: the network.
        collective: the collective of groups for which the file states none.

    Returns:
        The groups, as `optimum` takes them.

    Raises:
        InputError: the file cannot be read, or a group is not valid; the message names the place and the value.

    Example:
        >>> from pathlib import Path
        >>> from forestcoll import load_topology
        >>> groups = '{"groups": [{"ranks": "0,1"}, {"ranks": [2, 3], "collective": "allreduce"}]}'
        >>> _ = Path("groups.json").write_text(groups)
        >>> [group.demand.collective.value for group in read_groups("groups.json", load_topology("ring:nodes=4"))]
        ['allgather', 'allreduce']
    """
    path = as_path(path)
    document = read_document(path)
    require(document, ("groups",), f"{path}:", "a file of groups")
    listed = list_of(document["groups"], f"{path}: groups")
    if not 0 < len(listed) <= MOST_GROUPS:
        raise InputError(f"{path}: groups has {len(listed)} entries; expected 1 to {MOST_GROUPS}")
    return tuple(
        _group(object_of(each, f"{path}: groups[{place}]"), f"{path}: groups[{place}]", topology, collective)
        for place, each in enumerate(listed)
    )


def _group(document: Mapping[str, object], where: str, topology: Topology, collective: Collective | str) -> Group:
    require(document, ("ranks",), where, "a group")
    for key in document:
        if key not in _KEYS:
            raise InputError(f"{where}: there is no key {shown(key)}; {did_you_mean(key, _KEYS)}remove it")
    size = size_of(document.get("size", 1), f"{where}.size")
    ranks, kind, root = document["ranks"], document.get("collective", collective), document.get("root")
    if not isinstance(kind, str):
        raise InputError(f"{where}.collective is {shown(kind)}; expected the name of a collective")
    if not isinstance(root, str | int | None):
        raise InputError(f"{where}.root is {shown(root)}; expected the id of a compute node")
    if not isinstance(ranks, str | list):
        raise InputError(f"{where}.ranks is {shown(ranks)}; expected a text such as '0-7', or a list of ranks")
    request = Demand(kind, ranks, root) if root is not None else ranks
    try:
        (group,) = groups_of(topology, [request], kind, [size])
    except InputError as error:
        raise InputError(f"{where}: {str(error).removeprefix('group 0: ')}") from None
    return group
