"""The rules of a tuner of NCCL as a page."""

from pathlib import Path

from forestcoll.base.units import size_name
from forestcoll.nccl.tuner.rules import TunerRules
from forestcoll.presentation.tables import Column, Page, Table, row


def tuner_page(found: TunerRules, folder: Path | None = None) -> Page:
    """Return the page of the rules; `folder` is where the files were written, or None."""
    columns = (
        Column("from", size_name, right=True, key="least"),
        Column("algorithm", key="algorithm"),
        Column("protocol", key="protocol"),
        Column("NCCL chooses", lambda same: "the same" if same else "another", key="is_nccls"),
        Column(None, key="most"),
    )
    rows = tuple((each.least, each.algorithm, each.protocol, each.is_nccls, each.most) for each in found.rules)
    kept = "no size needs a rule: NCCL's own choice is the best of those measured"
    blocks = (
        row(topology=found.network, collective=found.collective, hosts=found.hosts, ranks=found.ranks),
        row(source=found.source, nccl=found.table),
        f"Rules from {found.source}; {found.table}.",
        Table(columns, rows, key="rules") if rows else kept,
        *(() if rows else (row(rules=[]),)),
        "To measure all settings, run these commands, and give the logs to --measured:",
        *(f"  {each}" for each in found.runs),
        row(runs=found.runs, folder=folder),
        *((f"written: {folder}",) if folder is not None else ()),
    )
    return Page(f"{found.network}: {found.collective} of NCCL, {found.hosts} hosts, {found.ranks} ranks", blocks)
