"""Files of the members of a bundle, each with the network, for tools that use one schedule."""

from pathlib import Path

from forestcoll.base.errors import InputError, shown
from forestcoll.base.files import PathLike, as_path, write_text
from forestcoll.base.folders import make_folder
from forestcoll.base.together import written_together
from forestcoll.schedule.bundle.value import BundleSchedule
from forestcoll.schedule.flows import document as flows
from forestcoll.schedule.trees import document as trees
from forestcoll.schedule.trees.value import TreeSchedule


def write_members(bundle: BundleSchedule, directory: PathLike) -> None:
    """Write the schedule of each group of a bundle to `group-N.json` in a directory, with N from 0: all files or none.

    Args:
        bundle: the bundle.
        directory: the directory, which is created if it does not exist. It may hold other files, but none of a
            bundle with more groups.

    Raises:
        InputError: the directory or a file cannot be written, or it has a file of a further group.

    Example:
        >>> from forestcoll import Groups, generate
        >>> from forestcoll.schedule import write_members
        >>> from forestcoll.verification import read_verified
        >>> write_members(generate("ring:nodes=4", Groups("0,1;2,3")), "groups")
        >>> read_verified("groups/group-1.json")[0].ranks
        (2, 3)
    """
    directory = as_path(directory)
    with written_together():
        make_folder(directory)
        _write(bundle, directory)


def _write(bundle: BundleSchedule, directory: Path) -> None:
    names = [f"group-{place}.json" for place in range(len(bundle.bundled))]
    for path in sorted(directory.glob("group-*.json")):
        if path.name not in names:
            found = shown(path.name)
            raise InputError(f"{directory}: holds {found}, which is no group of this bundle; name another folder")
    for place, member in enumerate(bundle.bundled):
        schedule = member.schedule
        text = trees.text_of(schedule) if isinstance(schedule, TreeSchedule) else flows.text_of(schedule)
        write_text(directory / f"group-{place}.json", text)
