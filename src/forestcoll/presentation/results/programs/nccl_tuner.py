"""The rules of a tuner of NCCL as a table, sentences and JSON."""

from dataclasses import asdict
from pathlib import Path

from forestcoll.base.units import size_name
from forestcoll.nccl.tuner.rules import TunerRules
from forestcoll.presentation.tables import Column, Page, Table


def tuner_page(found: TunerRules, folder: Path | None = None) -> Page:
    """Return what a person reads of the rules; `folder` is where the files were written, or None."""
    columns = (
        Column("from", size_name, right=True),
        Column("algorithm"),
        Column("protocol"),
        Column("NCCL chooses", lambda same: "the same" if same else "another"),
    )
    rows = tuple((each.least, each.algorithm, each.protocol, each.is_nccls) for each in found.rules)
    kept = "no size needs a rule: NCCL's own choice is the best of those measured"
    blocks: tuple[Table | str, ...] = (
        f"Rules from {found.source}; {found.table}.",
        Table(columns, rows) if rows else kept,
        "To measure all settings, run these commands, and give the logs to --measured:",
        *(f"  {each}" for each in found.runs),
        *((f"written: {folder}",) if folder is not None else ()),
    )
    return Page(f"{found.network}: {found.collective} of NCCL, {found.hosts} hosts, {found.ranks} ranks", blocks)


def tuner_document(found: TunerRules, folder: Path | None = None) -> dict[str, object]:
    """Return the JSON of the rules."""
    return {
        "topology": found.network,
        "collective": found.collective.value,
        "hosts": found.hosts,
        "ranks": found.ranks,
        "source": found.source,
        "nccl": found.table,
        "rules": [asdict(each) for each in found.rules],
        "runs": list(found.runs),
        "folder": None if folder is None else str(folder),
    }
