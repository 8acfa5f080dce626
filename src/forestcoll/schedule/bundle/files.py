"""Files of the members of a bundle, each with the network, for tools that use one schedule."""

from forestcoll.errors import InputError
from forestcoll.files import PathLike, as_path, write_text
from forestcoll.schedule.bundle.value import BundleSchedule
from forestcoll.schedule.flows import document as flows
from forestcoll.schedule.trees import document as trees
from forestcoll.schedule.trees.value import TreeSchedule


def write_members(bundle: BundleSchedule, directory: PathLike) -> None:
    """Write the schedule of each group of a bundle to `group-N.json` in a directory, with N from 0.

    Args:
        bundle: the bundle.
        directory: the directory, which is created if it does not exist.

    Raises:
        InputError: the directory or a file cannot be written.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from forestcoll import generate_groups, read_verified, write_members
        >>> directory = Path(tempfile.mkdtemp())
        >>> write_members(generate_groups("ring:nodes=4", "0,1;2,3"), directory)
        >>> read_verified(directory / "group-1.json")[0].ranks
        (2, 3)
    """
    directory = as_path(directory)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{directory}: cannot be created: {error.strerror}") from None
    for place, member in enumerate(bundle.bundled):
        schedule = member.schedule
        text = trees.text_of(schedule) if isinstance(schedule, TreeSchedule) else flows.text_of(schedule)
        write_text(directory / f"group-{place}.json", text)
