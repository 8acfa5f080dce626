from pathlib import Path

import pytest
from cli_run import run_command

import forestcoll as fc
from forestcoll.base.display import Displayed
from forestcoll.programs import judge_file
from forestcoll.topology import import_topology


def test_every_result_is_printed_as_a_page_and_shown_in_a_notebook(tmp_path: Path) -> None:
    network = fc.load_topology("ring:nodes=3")
    schedule = fc.generate(network)
    program = fc.export(schedule, "msccl-xml")
    program.write(tmp_path / "p.xml")
    fc.topology.write_network(network, tmp_path / "ring.graphml")
    values = (
        network,
        schedule,
        program,
        judge_file(tmp_path / "p.xml"),
        import_topology(tmp_path / "ring.graphml"),
        fc.optimum(network),
        fc.bounds(network),
        fc.verify(schedule),
        fc.compare(network, baselines=["bruck"]),
        fc.failures(network),
        fc.upgrades(network),
        fc.tune(network, sizes=[2**20]),
    )
    for value in values:
        assert isinstance(value, Displayed)
        first, *others = str(value).splitlines()
        assert first != "", type(value)
        assert others, type(value)
        assert value._repr_html_().startswith('<div class="forestcoll"')


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("optimum torus:dims=3x3", lambda: fc.optimum("torus:dims=3x3")),
        ("optimum torus:dims=3x3 --all", lambda: fc.bounds("torus:dims=3x3")),
        ("compare ring:nodes=4 --baselines bruck", lambda: fc.compare("ring:nodes=4", baselines=["bruck"])),
        ("what-if ring:nodes=4 --upgrade", lambda: fc.upgrades("ring:nodes=4")),
    ],
)
def test_print_shows_what_the_command_prints(line: str, value: object) -> None:
    assert callable(value)
    assert run_command(*line.split()).out == f"{value()}\n"
