"""What each command refuses: wrong usage with exit status 2, and input that does not fit with exit status 1."""

import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from cli_run import COMMANDS, run_command, written

from forestcoll.cli import types
from forestcoll.cli.file_types import FileName
from forestcoll.demand.collective import SCHEDULED

NEEDED = {"export": ("--to", "goal"), "view": ("ring", "-o", "x.svg")}
"""Options that are checked before any other."""
A100 = "dgx-a100:boxes=2"
LOG = Path(__file__).parents[2] / "examples" / "nccl-tests.log"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files that the rows below name."""
    folder = tmp_path_factory.mktemp("refusals")
    written(folder / "s.json", "generate", "ring:nodes=4")
    written(folder / "part.json", "generate", "ring:nodes=5", "--ranks", "0,2")
    written(folder / "gather.json", "generate", "ring:nodes=3", "--collective", "gather", "--root", 0)
    written(folder / "steps.json", "generate", "torus:dims=3x3", "--method", "bfb")
    written(folder / "exchange.json", "generate", "ring:nodes=4", "--collective", "all-to-all", "--method", "steps")
    written(folder / "one-way.json", "generate", "diamond", "--method", "bfb")
    written(folder / "series.json", "one-port", "ring:nodes=4", "--source", 0)
    written(folder / "bundle.json", "generate", "ring:nodes=4", "--groups", "0,1;2,3")
    shutil.copy(LOG, folder / "log")
    (folder / "demand.csv").write_text("0,1/2,1/4\n1/8,0,0\n0,1,0\n")
    (folder / "notes.txt").write_text("Dear reader,\n\nthis is no network.\n")
    (folder / "times.csv").write_text("size,algbw\n1M,3.17\n16M,37.6\n128M,152\n1G,187\n")
    (folder / "topo.txt").write_text("\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV12\t0-63\nGPU1\tNV12\t X \t0-63\n")
    pieces = '{"format": "forestcoll.demand/1", "pieces": [{"id": "a", "held_by": [0], "needed_by": [1]}]}'
    (folder / "pieces.json").write_text(pieces)
    (folder / "networks").mkdir()
    return folder


@pytest.fixture(autouse=True)
def folder(made: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run in this folder, and check that nothing is written."""
    monkeypatch.chdir(made)
    before = sorted(made.iterdir())
    yield
    assert sorted(made.iterdir()) == before


@pytest.mark.parametrize("name", COMMANDS)
def test_a_wrong_value_of_any_option_is_wrong_usage_that_names_it(name: str) -> None:
    for option in COMMANDS[name].params:
        if isinstance(option, click.Option) and not option.is_flag and isinstance(option.type, CHECKED):
            message = run_command(name, *NEEDED.get(name, ()), option.opts[0], "?!").error_line(2)
            assert message.startswith(f"Invalid value for '{option.opts[0]}'"), option.name
            assert "'?!'" in message, option.name
            assert message.endswith(f"(see forestcoll {name} --help)"), option.name
        if isinstance(option.type, FileName):
            words = (option.opts[0], "") if isinstance(option, click.Option) else ("",)
            assert "the file name is empty; give a name" in run_command(name, *NEEDED.get(name, ()), *words).err


CHECKED = (
    click.Choice,
    click.types.IntParamType,
    click.types.FloatParamType,
    types.CollectiveName,
    types.DataSize,
    types.DataSizes,
    types.ElementTypes,
    types.ExactNumber,
    types.FormatName,
    types.MessageSizes,
    types.NumberSpan,
    types.Reductions,
    types.Speed,
    types.TreeCount,
)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (types.DataSize(), "2M", 2**21),
        (types.DataSize(), 5, 5),
        (FileName(), "a/b.json", Path("a/b.json")),
        (FileName(), Path("a"), Path("a")),
        (types.Speed(), "400Gb/s", 50),
        (types.ElementTypes(), "bfloat16", "bfloat16"),
        (types.ElementTypes(), "all", "all"),
        (types.Reductions(), "avg", "avg"),
        (types.CollectiveName(SCHEDULED), "reduce_scatter", "reduce-scatter"),
        (types.CollectiveName(SCHEDULED), "ReduceScatter", "reduce-scatter"),
        (types.CollectiveName(SCHEDULED), "REDUCE-SCATTER", "reduce-scatter"),
    ],
)
def test_a_text_is_read_and_any_other_value_is_kept(kind: "click.ParamType[Any]", text: object, value: object) -> None:
    assert kind.convert(text, None, None) == value


@pytest.mark.parametrize("option", ["--trees", "--max-trees"])
def test_an_invalid_number_of_trees_is_refused(option: str) -> None:
    for text in ("x", "0", "-1", "1.5", "", "\N{ARABIC-INDIC DIGIT ONE}", "1_0", "00"):
        message = run_command("optimum", "ring:nodes=3", option, text).error_line(status=2)
        assert f"'{option}': {text!r}; expected an integer of 1 or more (see" in message
    message = run_command("generate", "ring:nodes=3", option, "9" * 5000).error_line(status=2)
    assert f"'{option}': '{'9' * 57}...' has more than 100 digits (see" in message


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("optimium ring", "no such command 'optimium'; did you mean 'optimum'? (see forestcoll --help)"),
        ("verfy", "no such command 'verfy'; did you mean 'verify'? (see forestcoll --help)"),
        ("pipelined-broadcast ring", "no such command 'pipelined-broadcast'; did you mean 'one-port'? (see forestcoll"),
        ("find-topology --nodes 8", "no such command 'find-topology'; did you mean 'design'? (see forestcoll --help)"),
        ("expand ring", "no such command 'expand'; did you mean 'design'? (see forestcoll --help)"),
        ("topologies", "no such command 'topologies'; did you mean 'topology'? (see forestcoll --help)"),
        ("frobnicate", "no such command 'frobnicate' (see forestcoll --help)"),
        ("generate ring --no-in-netwrok", "no such option '--no-in-netwrok'; did you mean '--no-in-network'?"),
        ("optimum ring --rot 1", "no such option '--rot'; did you mean '--root'? (see forestcoll optimum --help)"),
        ("optimum ring --zzz", "no such option '--zzz' (see forestcoll optimum --help)"),
        ("--versoin", "no such option '--versoin'; did you mean '--version'? (see forestcoll --help)"),
    ],
)
def test_the_error_for_a_misspelt_name_suggests_the_nearest_name(line: str, message: str) -> None:
    assert run_command(*line.split()).error_line(2).startswith(message)


WRONG_USAGE = [
    ("topology --to graphml", "-o, --to, --without and --degrade are for one network"),
    ("topology ring --to gml", "a network cannot be written as 'gml'; did you mean 'graphml'? there are forestcoll, "),
    ("bench", "no network; give --topology, --schedule, or FORESTCOLL_TOPOLOGY in the environment"),
    ("optimum ring --collective allgather --demand demand.csv", "an allgather has no demand; leave --demand out"),
    (
        "optimum ring --all --demand pieces.json",
        "--demand does not fit --all, which shows every collective; leave it out",
    ),
    ("one-port ring", "Missing option '--source'"),
    ("one-port ring --source 0 --method graph:loss=100%", "graph: loss is '100%'; expected a part such as 1%"),
    (
        "one-port ring --source 0 --method packets:count=4",
        "--method packets is for one message; also give its --size",
    ),
    ("one-port ring --source 0 --size 1MB --method tree", "--method tree is for a series; leave out --size"),
    ("one-port ring --source 0 --size 1MB --method graph:loss=0", "--method graph is for a series; leave out --size"),
    ("compare ring --collective broadcast", "'broadcast' is not supported by this command; choose one of allgather, "),
    ("design", "give --nodes and --degree to find networks, or BASE and --by to expand a network"),
    ("design ring", "give --nodes and --degree to find networks, or BASE and --by to expand a network"),
    ("design ring --by degree=2 --nodes 4", "--nodes does not fit --by; leave one of them out"),
    ("design ring ring --by degree=2", "--by expands one network; give one BASE"),
    ("design ring --by degree=2 --collective mix", "--by makes no schedule for mix; choose one of allgather, reduce-"),
    ("design ring --by degree=2 --collective gather", "'gather' is not supported by this command; choose one of allg"),
    (f"explain {A100}", "give either --measured with a file, or --busbw with a number"),
    ("explain ring --measured x --busbw 3", "give either --measured with a file, or --busbw"),
    ("explain ring --busbw 3", "--busbw needs TOPOLOGY and --collective"),
    ("explain --measured x --ranks 0-3", "--without, --degrade and --ranks need TOPOLOGY"),
    ("export s.json", "Missing option '--to'"),
    ("export s.json --to mscclpp-json --dialect azure", "--dialect is for msccl-xml; leave it out"),
    ("export s.json --to chakra:instances=2", "chakra: there is no parameter 'instances'"),
    ("export s.json --to msccl-xml:pieces=2", "msccl-xml: there is no parameter 'pieces'"),
    ("export s.json --to msccl-xml -o snippet=use.py", "msccl-xml has no snippet, only mscclpp-json has one"),
    ("export s.json --to mscclpp-json -o snippet=use.py", "also give -o FILE"),
    ("export s.json --to goal --size 1MiB", "--size is for msccl-xml and mscclpp-json; leave it out for goal"),
    (
        "export s.json --to nccl-graph --size 1MiB",
        "--size is for msccl-xml and mscclpp-json; leave it out for nccl-graph",
    ),
    ("export s.json --to msccl-xml --bytes 1GB", "--bytes is for astra-sim, chakra, goal; leave it out"),
    ("export s.json --to chakra -o -", "give -o PREFIX"),
    ("export s.json --to astra-sim -o -", "give -o DIR"),
    ("export s.json --to msccl-xml:chunks=0", "chunks is '0'; expected 'exact' or an integer from 1 to"),
    ("design --nodes 9..8 --degree 4", "is a decreasing range"),
    (f"design --nodes {'9' * 19} --degree 4", "expected a number such as 64, or 32..64 (see "),
    ("design --nodes 8", "give --nodes and --degree to find networks, or BASE and --by to expand a network"),
    ("design --nodes 8 --degree 4 --jobs 2", "--jobs does not fit one number of nodes and one degree; leave it out"),
    ("design --nodes 8 --degree 4 --collective reduce-scatter", "a search compares no networks for reduce-scatter"),
    ("design --nodes 8 --degree 4 --size 1MB --costs alpha=-1", "alpha is '-1'"),
    ("design --nodes 8 --degree 4 --costs alpha=3", "also give its --size"),
    ("design --nodes 8 --degree 4 --size 1MB --objective steps", "--objective is for a search without a workload"),
    (
        "design --nodes 8..9 --degree 4 --choose 2",
        "--choose does not fit a sweep; give one number of nodes and one degree, or leave it",
    ),
    ("design --nodes 8..9 --degree 4 ring --jobs 2", "is for a search in one process"),
    ("design --nodes 8 --degree 4 --collective mix -o f", "-o writes the schedule of an allgather or an allr"),
    ("fit", "Missing argument 'TIMES...'"),
    ("generate ring --trees 1 --max-trees 2", "--trees and --max-trees"),
    ("generate ring --collective allreduce --root 0", "an allreduce has no root; leave --root out (see"),
    ("generate ring --collective broadcast", "a broadcast needs a root; give the id of a compute node"),
    ("generate ring --collective reduce --root 0 --shards x.json", "a reduce has no shards"),
    (
        "generate ring --collective all-to-all --method proven",
        "proven is not a method for an all-to-all, only for allgather",
    ),
    ("generate ring --method trees:chunks=2", "trees: there is no parameter 'chunks'"),
    ("generate ring -o members=m", "-o members=DIR is for groups"),
    ("generate ring --groups 0,1;2,3 --compact", "--compact is for one collective; leave it out for groups"),
    ("generate ring --groups 0,1;2,3 --method bfb", "--method is for one collective; leave it out for groups"),
    (
        "generate ring --max-peers 2 --collective alltoall --trees 2",
        "--trees is for fast, proven, trees; leave it out with the method flows",
    ),
    ("generate ring --max-peers 2 --groups 0,1", "--max-peers is for one collective"),
    ("generate ring --max-peers 2 --method bfb", "--max-peers is for fast, flows, proven, trees; leave it out"),
    ("generate ring --method bfb --trees 2", "--trees is for fast, proven, trees; leave it out"),
    ("generate ring --method bfb --shards x.json", "bfb takes no shards; leave shards out"),
    ("generate ring --method ring --compact", "--compact is for bfb, fast, flows, proven, trees; leave it out"),
    ("generate ring --method bfb --collective broadcast --root 0", "bfb is not a method for a broadcast"),
    ("generate ring --method steps --collective all-to-all --demand x.csv", "steps takes no matrix; leave matrix out"),
    ("generate ring --demand pieces.json --trees 3", "--trees is for one collective"),
    (
        "generate ring --demand pieces.json --method bfb",
        "--method is for one collective; leave it out for groups and pieces",
    ),
    ("import topo.txt --nvlink 0", "'0'; expected a bandwidth above 0"),
    ("import topo.txt --pcie 32GB", "unknown unit 'GB'"),
    ("import topo.txt --format nccl", "'nccl': no such format; did you mean 'nccl-xml'? there are adjacency-list, amd"),
    ("import topo.txt --rounding 0", "'0'; expected speeds, none, or an integer from 1 to 60"),
    ("optimum ring ring", "unexpected extra argument"),
    ("optimum ring --collective", "'--collective' requires an argument. (see forestcoll optimum --help)"),
    ("optimum ring --collective allgahter", "there is no collective 'allgahter'; did you mean 'allgather'? there are"),
    ("optimum ring --root 0", "an allgather has no root; leave --root out (see"),
    ("optimum ring --collective reduce-scatter --root 0", "a reduce-scatter has no root; leave --root out (see"),
    ("optimum ring --collective reduce", "a reduce needs a root; give the id of a compute node"),
    ("optimum ring --collective gather", "a gather needs a root"),
    ("optimum ring --collective broadcast --root 0 --shards x.json", "a broadcast has no shards"),
    (
        "optimum ring --collective all-to-all --trees 2",
        "--trees is for fast, proven, trees; leave it out with the method flows",
    ),
    ("optimum ring --collective all-to-all --shards x.json", "an all-to-all has no shards"),
    ("optimum ring --demand demand.csv", "an allgather has no demand; leave --demand out"),
    (
        "optimum ring --collective gather --root 0 --demand demand.csv --shards x",
        "shards and a demand matrix exclude each other",
    ),
    ("optimum ring --without", "'--without' requires an argument. (see forestcoll optimum --help)"),
    ("optimum ring --without 0--1 x 1--2", "unexpected extra argument"),
    ("optimum ring --ranks ''", "'--ranks': '' has an empty part; write ranks as in '0-7,16' or 'gpu0,"),
    ("optimum ring --ranks 0,,1", "'--ranks': '0,,1' has an empty part; write ranks as in '0-7,16'"),
    ("optimum ring --no-relays", "all compute nodes take part, so none relays data; give ranks"),
    (f"optimum {A100} --groups 0,1 --layout tp=8,dp=2", "--groups and --layout exclude each other"),
    (f"optimum {A100} --run dp", "--run is for groups; also give --layout"),
    (f"optimum {A100} --group-sizes 1", "--group-sizes is for groups; also give --layout or --groups"),
    (f"optimum {A100} --groups 0,1 --ranks 0-3", "groups have no ranks; leave --ranks out"),
    (f"optimum {A100} --groups 0,1 --max-trees 3", "--max-trees is for one collective"),
    ("optimum ring --demand pieces.json --ranks 0-3", "--ranks does not fit a demand of pieces"),
    ("optimum ring --demand pieces.json --collective allreduce", "--collective does not fit a demand of pieces"),
    ("optimum ring --demand pieces.json --groups 0,1", "--groups does not fit a demand of pieces"),
    (f"optimum {A100} --all --groups 0,1", "--groups does not fit --all, which shows every collective; leave it out"),
    ("simulate s.json --sizes 1XB", "'--sizes': '1XB'; expected a size"),
    ("simulate s.json --sizes 2GB..1GB", "backwards"),
    ("simulate s.json -o link=l.csv", "there is no kind 'link'; did you mean 'links'? there are table, plot, links,"),
    ("simulate s.json -o a.csv -o table=b.csv", "a kind of file is given twice; give each once"),
    ("simulate s.json --alpha-us -1", "'-1'; expected a number from 0 to 1000000000 (see "),
    ("topology ring -o", "requires an argument"),
    ("design --nodes 8 --degree 4 --layout fsdp=8", "--layout is for --profile; also give --profile"),
    ("design --nodes 8 --degree 4 --profile ''", "Invalid value for '--profile': is empty; give a name"),
    ("train-time switch-base-256 ring:nodes=4 --alpha -1", "expected 0 or more"),
    ("train-time '' ring:nodes=4", "Invalid value for 'PROFILE': is empty; give a name"),
    ("train-time llama-3-8b ring:nodes=4 --layout fsdp=4 --buckets 1MB", "--buckets is for data parallelism; "),
    ("tune ring:nodes=3 --collective broadcast", "'broadcast' is not supported by this command"),
    ("tune ring:nodes=3 -o -", "name a folder"),
    ("verify", "Missing argument 'FILE'"),
    ("view ring", "Missing option '-o'"),
    ("what-if ring", "what changes? give --fail"),
    ("what-if ring --fail links --upgrade", "--upgrade does not fit --fail; leave one of them out"),
    ("what-if ring --without 0--1 -o d", "--output is for --fail; also give --fail"),
    ("what-if ring --price nic=20", "--price is for --upgrade; also give --upgrade"),
    ("what-if ring --bandwidth 5", "--bandwidth is for --add-link; also give --add-link"),
    ("what-if ring --upgrade --at-once 2", "--at-once does not fit --upgrade; leave one of them out"),
    ("what-if ring --upgrade --bandwidth 2", "--bandwidth does not fit --upgrade; leave one of them out"),
    ("what-if ring --fail links --collective broadcast", "needs a root; give the id of a compute node"),
    ("what-if ring --fail links --root 0", "has no root; leave --root out"),
    ("what-if ring --fail links --jobs 0", "'0'; expected an integer from 1 to 1024 (see "),
    ("what-if ring --fail links -o -", "the output is a folder, which standard output cannot take; name a folder"),
]


@pytest.mark.parametrize(("line", "message"), WRONG_USAGE)
def test_wrong_usage(line: str, message: str) -> None:
    said = run_command(*shlex.split(line)).error_line(2)
    assert message in said
    assert said.endswith(f"(see forestcoll {line.split(maxsplit=1)[0]} --help)")


SIX = "ring:nodes=6"
REFUSED = [
    ("train-time llama-3-8b ring:nodes=4 ''", "'': no such builder or file"),
    (f"optimum {A100} --all --layout tp=8,dp=2 --run tp", "a table lists all dimensions of a layout; leave run"),
    ("optimum ring --all --root z", "no node 'z'"),
    (f"optimum {A100} --all --root ib", "is a switch"),
    (f"optimum {SIX} --all --ranks 0,2 --root 1", "ring:nodes=6: root 1 is not among the ranks; add it to the ranks"),
    (
        "one-port ring --source 0 -o picture=p.txt",
        "p.txt: the file name must end in one of .svg, .png, no",
    ),
    ("compare ring --baselines nccl-ring,brucks", "'brucks' is not the name of an algorithm; did you mean 'bruck'? "),
    ("compare ring --baselines multitree --html none/r.html", "cannot be written"),
    ("design ring --by power:9", "expansion 'power:9' is unknown; expected line-graph=N, degree=N, power=N, product="),
    (f"explain {A100} --measured no.log", "no.log: no such file"),
    ("explain dgx-a100:boxes=4 --measured log", "ran on 16 ranks, and dgx-a100:boxes=4 has 32"),
    (f"explain {A100} --measured notes.txt", "has no row of nccl-tests or rccl-tests"),
    ("export none.json --to msccl-xml -o x.xml", "none.json: no such file"),
    ("export bundle.json --to msccl-xml", "a schedule of kind 'bundle' cannot be lowered"),
    ("export gather.json --to msccl-xml", "no runtime loads a program for a gather"),
    ("export part.json --to msccl-xml", "takes no part, so that it runs no program"),
    ("export s.json --to msccl-xml:placement=both", "for in place or for out of place; export two files"),
    ("export s.json --to mscclpp-json:protocol=LL128", "no protocol LL128"),
    ("export s.json --to msccl-xml:blocks=1 -o x.xml", "no program fits MSCCL XML for microsoft"),
    ("export exchange.json --to mscclpp-json", "an all-to-all in steps has no program; use a schedule of flows"),
    ("export one-way.json --to mscclpp-json", "in MSCCL++ the receiver signals the sender; export to msccl-xml"),
    ("design --nodes 1000000000 --degree 4", "nodes is 1000000000; expected an integer from 2 to 16384"),
    (
        "design --nodes 9 --degree 4 --only published --choose ring",
        "there is no network 'ring' on the frontier; choose one of H(2,3) (2 steps)",
    ),
    ("design --nodes 12 --degree 2 -o plot=p.html", "p.html: the file name must end in one of .svg, .png, not '"),
    ("fit no.csv --schedule s.json", "no.csv: no such file"),
    ("fit times.csv", "no schedule is given; give --schedule, or a column schedule"),
    ("fit times.csv --schedule s.json --parameters launch_us,alpha_us", "do not tell it from launch_us"),
    ("fit times.csv --schedule s.json --costs times.csv", "not valid JSON"),
    (f"generate {A100} --method bfb", "is a switch; the methods of steps need a network without switches"),
    ("generate ring:nodes=4 --compact --method proven", "leave compact out"),
    ("generate ring:nodes=4 --collective all-to-all --demand demand.csv", "demand.csv: "),
    ("generate ring:nodes=3 --collective all-to-all --demand none.csv", "none.csv: no such file"),
    (
        "generate kautz:degree=2,length=2 --collective all-to-all --method steps:steps=2",
        "takes 3 steps or more; step",
    ),
    (
        f"generate {A100} --collective broadcast --root gpu",
        f"{A100}: there is no node 'gpu' for the root; did you mean",
    ),
    ("import notes.txt", "none of the formats"),
    ("import notes.txt --format nvidia-smi-topo", "no row such as"),
    ("import topo.txt s.json", "import files of one format"),
    ("optimum networks", "networks: is a folder; name a file in it"),
    ("optimum cluster:box=networks,boxes=2,nics=2,nic_bandwidth=25", "box is 'networks', which is a directory; name a"),
    (
        f"optimum {A100} --collective reduce --root ib",
        f"{A100}: root 'ib' is a switch; give the id of a compute node, ",
    ),
    ("optimum ring:nodes=4 --without 0--9", "'0--9' names no link: there is no node '9'; name the ends of a link, suc"),
    (f"optimum {SIX} --ranks 0-6", "there is no rank 6; ring:nodes=6 has 6 compute nodes, ranks 0 to 5"),
    (f"optimum {SIX} --ranks 4", "1 rank is named; a collective needs two"),
    (f"optimum {SIX} --ranks 0-1 --collective broadcast --root 5", f"{SIX}: root 5 is not among the ranks; add it to "),
    (f"optimum {SIX} --ranks 0,2 --no-relays", "rank 0 cannot reach rank 2 without relays; allow relays or add links"),
    (f"optimum {A100} --layout tp=8,dp=3", f"layout tp=8,dp=3 has 24 ranks, and {A100} has 16 compute nodes"),
    (f"optimum {A100} --layout tp=8,dp=2 --group-sizes 1,2", "there are 2 sizes and 1 dimensions that run"),
    (f"optimum {A100} --groups '0,1;2'", "group 1: 1 rank is named"),
    (f"optimum {A100} --groups missing.json", "missing.json"),
    (f"one-port {A100} --source ib", "source 'ib' is a switch; give the id of a compute node, or its position from 0 "),
    ("one-port ring --source x --size 1MB", "there is no node 'x' for the source; give the id of"),
    ("simulate none.json", "none.json: no such file"),
    ("simulate s.json -o plot=plot.txt", "the file name must end in one of .svg"),
    ("train-time missing.json ring:nodes=4", "'missing.json': no such sample or file; the samples are"),
    ("train-time gpt2-smal ring:nodes=4", "'gpt2-smal': no such sample or file; did you mean 'gpt2-small'? the sampl"),
    ("train-time llama-2-7b ring:nodes=4 --layout fsdp=4 --method ''", "'': no such method; there are best, bfb"),
    ("simulate ring:nodes=4 --method ''", "'': no such method; there are best, bfb"),
    ("train-time switch-base-256 ring:nodes=6", "switch-base-256 on 6 nodes; expected 2 or more"),
    (f"train-time gpt2-small {A100}", "has switches, and a breadth-first allreduce needs a network without; give the "),
    ("train-time gpt2-small ring:nodes=4 --sweep batches=2", "sweep: 'batches=2'; did you mean 'batch'? write batch=1"),
    ("train-time gpt2-small ring:nodes=4 --sweep batch=1/2", "sweep: batch '1/2'; expected an integer of 1 or more"),
    ("train-time gpt2-small ring:nodes=4 --sweep bandwidth=1,0", "sweep: bandwidth '0'; expected a number above 0"),
    ("train-time switch-base-256 s.json", "training needs an allreduce, and this schedule is of allgather"),
    ("train-time switch-base-256 series.json", "training needs an allreduce, and this schedule is of broadcast"),
    ("train-time switch-base-256 ring:nodes=4 -o x.gif", "x.gif: the file name must end in one of .svg"),
    ("view ring:nodes=4 -o ring.gif", "must end in one of .html, .svg, .png"),
    ("view nothing.json -o ring.svg", "nothing.json"),
    ("what-if ring:nodes=4 --without 0--2", "no link joins 0 and 2"),
    ("what-if ring:nodes=4 --fail links --collective alltoall -o d", "is not supported for a failover set"),
    ("what-if ring:nodes=4 --fail links -o x.csv", "x.csv: is the name of a file; a failover set is a folder"),
    ("what-if ring:nodes=4 --fail links --degrade 0--1=x", "bandwidth 'x'"),
    ("what-if ring:nodes=4 --fail links --ranks 7,8", "there is no rank"),
]


@pytest.mark.parametrize(("line", "message"), REFUSED)
def test_what_does_not_fit_is_refused_in_one_line(line: str, message: str) -> None:
    assert message in run_command(*shlex.split(line)).error_line()
