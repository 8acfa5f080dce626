"""Writes the rules of a tuner as a folder: the rules in CSV, the plugin that applies them, and how to use it."""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from forestcoll.base.files import PathLike, as_path, write_text
from forestcoll.base.folders import check_folder, replaced_folder
from forestcoll.nccl.tuner.rules import NAMES, TunerRules

PLUGIN = "tuner.c"
RULES = "tuner.csv"
README = "README"

_COLUMNS = "collective,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks"


def write_tuner(rules: TunerRules, folder: PathLike) -> Path:
    """Write the rules of a tuner as a folder, completely or not at all.

    Args:
        rules: the rules.
        folder: the folder; it must not exist, be empty, or hold only such files, which are replaced.

    Returns:
        The path of the CSV file.

    Raises:
        InputError: the folder has other files, or cannot be written.
    """
    target = as_path(folder)
    check_tuner_folder(target)
    with replaced_folder(target) as made:
        write_text(made / RULES, tuner_csv(rules))
        write_text(made / PLUGIN, [files(__package__).joinpath(PLUGIN).read_text()])
        write_text(made / README, _readme(rules))
    return target / RULES


def check_tuner_folder(folder: Path) -> None:
    """Check that the files of a tuner can be written to `folder`.

    Raises:
        InputError: it is no folder, has other files, or its parent folder cannot be written.
    """
    check_folder(folder, lambda _: {PLUGIN, RULES, README}, "the files of a tuner")


def tuner_csv(rules: TunerRules) -> Iterator[str]:
    """Yield the lines of the CSV file. NVIDIA's example plugin reads it too, but runs the rest on one channel."""
    yield f"# {_COLUMNS}\n"
    yield f"# {rules.network}: {rules.source}; {rules.table}\n"
    for rule in rules.rules:
        name = f"{rule.algorithm},{rule.protocol}".lower()
        where = f"{rules.hosts},{rules.ranks}"
        yield f"{NAMES[rules.collective]},{rule.least},{rule.most},{name},0,{where}\n"


def _readme(rules: TunerRules) -> Iterator[str]:
    library = "libnccl-tuner-forestcoll.so"
    yield f"Rules for {rules.collective.with_article} of NCCL on {rules.network}: {rules.source}.\n"
    yield f"Build the plugin: gcc -O2 -shared -fPIC -o {library} {PLUGIN} (NCCL 2.27 to 2.32 load it).\n"
    yield f"Set in the job: NCCL_TUNER_PLUGIN=$PWD/{library} NCCL_TUNER_CONFIG_FILE=$PWD/{RULES}\n"
    yield "NCCL decides what has no rule, and the number of channels where it is 0. Remove rules that do not help.\n"
    yield "Check with nccl-tests; NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=TUNING prints the rules that were read.\n"
