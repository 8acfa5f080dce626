"""What the lint of topology files says, and that a good file has no findings."""

from forestcoll import load_topology
from forestcoll.nccl.lint import lint
from forestcoll.nccl.topology_file import texts_for_virtual_machines, texts_of
from forestcoll.topology.importers.source import Source
from refusal import refusal

[GOOD] = texts_of(load_topology("dgx-a100:boxes=2")).values()


def said(text: str) -> list[str]:
    """Return the findings of a file, each with its line."""
    return [f"{each.line}: {each.text}" for each in lint(Source("topo.xml", text, "topo"))]


def test_files_that_we_write_have_no_findings() -> None:
    for spec in ("dgx-a100:boxes=2", "hgx-a100-4:boxes=1", "dgx-b200:boxes=2"):
        [text] = texts_of(load_topology(spec)).values()
        assert said(text) == []
    [text] = texts_for_virtual_machines(load_topology("dgx-a100:boxes=2")).values()
    assert said(text) == ["1: no <gpu>: the file only places devices, as one for a virtual machine"]


def test_words_for_speeds_and_slow_slots() -> None:
    [found] = said(GOOD.replace('"16.0 GT/s PCIe"', '"16.0 GT/s"'))
    assert found == (
        "3: link_speed '16.0 GT/s' is unknown to NCCL and counts as 8 GT/s without a warning; write '16.0 GT/s PCIe' "
        "(24 times)"
    )
    assert "write" not in said(GOOD.replace('"16.0 GT/s PCIe"', '"Unknown"', 1))[0]
    slow = GOOD.replace('"16.0 GT/s PCIe" link_width="16"', '"2.5 GT/s PCIe" link_width="1"', 1)
    assert said(slow) == ["3: a slot of 2.5 GT/s PCIe with 1 lane carries 0.188 GB/s for NCCL"]
    assert said(GOOD.replace('link_width="16"', 'link_width="0"', 1)) == ["3: link_width 0 counts as 16 lanes"]


def test_attributes_that_are_missing_or_of_one_job() -> None:
    assert said(GOOD.replace(' link_width="16"', "", 1))[0] == (
        "3: <pci> has no link_width; NCCL refuses the file if the system does not say it"
    )
    assert said(GOOD.replace("<gpu ", '<gpu rank="0" ', 1))[0].startswith("5: <gpu> has rank, that of one job")
    assert said(GOOD.replace("<net ", '<net rail="0" ', 1))[0].startswith("11: <net> has rail, which 2.32 refuses")


def test_ports() -> None:
    assert "counts as 10,000 Mb/s" in said(GOOD.replace('speed="200000"', 'speed="-1"', 1))[0]
    assert "counts as 25000 GB/s" in said(GOOD.replace('speed="200000"', 'speed="200000000"', 1))[0]
    for wrong in ("fast", "9" * 5000):
        assert "states no speed" in said(GOOD.replace('speed="200000"', f'speed="{wrong}"', 1))[0]
    assert "has no dev" in said(GOOD.replace('name="mlx5_0" dev="0"', 'name="mlx5_0"', 1))[0]
    assert "has gdr 0" in said(GOOD.replace('maxconn="131072" gdr="1"', 'maxconn="131072" gdr="0"', 1))[0]


def test_nvlinks_and_gpus() -> None:
    assert said(GOOD.replace('count="12"', 'count="10"', 1)) == ["5: GPU 0 has 10 NVLinks, most others 12"]
    assert said(GOOD.replace('count="12"', f'count="{"9" * 5000}"', 1)) == ["5: GPU 0 has 1 NVLink, most others 12"]
    [mesh] = texts_of(load_topology("hgx-a100-4:boxes=1")).values()
    assert said(mesh.replace('count="4"', 'count="3"', 1)) == [
        "4: GPU 0 lists 3 NVLinks to 0000:02:00.0, which lists 4 back",
        "4: GPU 0 has 11 NVLinks, most others 12",
        "11: GPU 1 lists 4 NVLinks to 0000:01:00.0, which lists 3 back",
    ]
    assert "to 0000:99:00.0, which is not in the file" in said(mesh.replace("0000:02:00.0", "0000:99:00.0", 1))[0]
    twice = GOOD.replace("        </gpu>\n", '        </gpu>\n<gpu dev="0" sm="80" gdr="1"/>\n', 1)
    assert said(twice)[0].startswith("4: 2 <gpu> in one <pci> are as many ranks on one GPU")
    assert "no <system>" in refusal(said, "<a/>")
    assert "cut off" in refusal(said, GOOD[:200])
    alone = load_topology("dgx-a100:boxes=2").without("b0/gpu0--ib").without("b1/gpu0--ib")
    assert said(next(iter(texts_of(alone).values()))) == ["4: GPU 0 shares no PCIe switch with a NIC, as others do"]
