"""`forestcoll probe` between ranks of gloo: its file and its JSON, and a rank that does not come."""

import json
from pathlib import Path

from torch_ranks import values

from forestcoll.topology.importers.reading import import_topology


def test_ranks_write_one_file_that_can_be_imported(tmp_path: Path) -> None:
    file = tmp_path / "measured.json"
    arguments = ["-o", str(file), "--sizes", "64K", "--repeat", "1", "--json"]
    environment = {"FORESTCOLL_HOST": "node7"}
    found = values("cases_networks:probed", 3, environment=environment, arguments=arguments, size=3)
    assert [status for status, _, _ in found] == [0] * 3
    assert [out for _, out, _ in found[1:]] == [""] * 2
    assert "forestcoll: measuring pairs of ranks of a host\n" in found[0][2]
    assert "measuring" not in found[1][2]
    document = json.loads(found[0][1])
    assert (document["hosts"], document["ranks"], document["backend"]) == (1, 3, "gloo")
    rows = [(row["kind"], row["count"]) for row in document["measurements"]]
    assert rows == [("pair", 6), ("one-to-all", 3), ("all-to-one", 3)]
    written = json.loads(file.read_text())
    assert written["format"] == "forestcoll.measurements/1"
    assert written["hosts"] == [{"name": "node7", "ranks": [0, 1, 2]}]
    assert [len(each["flows"]) for each in written["measurements"]] == [1] * 6 + [2] * 6
    assert all(flow[3] > 0 for each in written["measurements"] for flow in each["flows"])
    assert [latency[:2] for latency in written["latencies"]] == [[0, 1]]
    imported = import_topology(file)
    assert (imported.format, len(imported.topology.compute)) == ("measurements", 3)
    assert list(tmp_path.iterdir()) == [file]


def test_a_missing_rank_ends_all_others_and_nothing_is_written(tmp_path: Path) -> None:
    arguments = ["-o", str(tmp_path / "measured.json"), "--backend", "gloo"]
    environment = {"FORESTCOLL_TIMEOUT": "3"}
    found = values("cases_networks:probed", 2, environment=environment, arguments=arguments, size=3)
    assert [status for status, _, _ in found] == [1, 1]
    assert any("rank 2 did not answer rank 0 within 3 s" in err for _, _, err in found)
    assert not any("Traceback" in err for _, _, err in found)
    assert not list(tmp_path.iterdir())
