"""MSCCL++ plans: reading, refusing and writing files, and the rules of the executor, each broken by a test."""

import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from samples import local, loop_plan, packet_plan, plan, remote, schedule, switch_plan

import fault_lists
from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import InputError, shown
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import Demand
from forestcoll.programs.formats import mscclpp
from forestcoll.programs.formats.judging import judge_file
from forestcoll.programs.formats.mscclpp import ExecutionPlan
from forestcoll.programs.formats.mscclpp.document import OperationName
from forestcoll.programs.formats.mscclpp.operations import REQUIREMENTS
from forestcoll.programs.formats.mscclpp.rules import RULES
from forestcoll.programs.interpreter import check
from forestcoll.programs.lowering import Options, Placement, Style
from forestcoll.programs.model import Multicast, Span
from forestcoll.programs.targets.mscclpp_json import MscclppJson
from forestcoll.programs.targets.target import Export
from forestcoll.tuning.programs.export import export

ROOT = Path(__file__).parents[3]
SAMPLES = [plan, packet_plan, loop_plan, switch_plan]

Change = Callable[[dict[str, Any]], None]


def parsed(document: dict[str, Any]) -> ExecutionPlan:
    return mscclpp.plan_from_document(document, where="file.json")


def operations(document: dict[str, Any], rank: int = 0) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = document["gpus"][rank]["threadblocks"][0]["ops"]
    return listed


@pytest.mark.parametrize("make", SAMPLES)
def test_correct_plans_satisfy_all_rules_and_run(make: Callable[[], dict[str, Any]]) -> None:
    found = parsed(make())
    assert mscclpp.plan_fault(found) is None
    assert list(mscclpp.remarks(found)) == []
    assert check(mscclpp.to_program(found)).fault is None


@pytest.mark.parametrize("make", SAMPLES)
def test_a_written_schedule_is_read_back(make: Callable[[], dict[str, Any]]) -> None:
    found = parsed(make())
    text = "".join(mscclpp.emit(found))
    assert parsed(json.loads(text)) == found
    assert "".join(mscclpp.emit(parsed(json.loads(text)))) == text


@pytest.mark.parametrize("make", [plan, packet_plan, switch_plan])
def test_a_plan_converted_to_a_program_and_back_does_the_same(make: Callable[[], dict[str, Any]]) -> None:
    program = mscclpp.to_program(parsed(make()))
    again = mscclpp.to_program(mscclpp.from_program(program))
    for rank, other in zip(program.ranks, again.ranks, strict=True):
        for block, same in zip(rank.blocks, other.blocks, strict=True):
            moved = [(each.sources, each.targets, each.meets) for each in block.instructions if each.sources]
            assert moved == [(each.sources, each.targets, each.meets) for each in same.instructions if each.sources]


YES = True


def _set(path: str, value: object) -> Change:
    def change(document: dict[str, Any]) -> None:
        here: Any = document
        *keys, last = [int(key) if key.isdigit() else key for key in path.split("/")]
        for key in keys:
            here = here[key]
        if value is None:
            del here[last]
        else:
            here[last] = value

    change.__name__ = f"{path} is {shown(value)}"
    return change


FIRST = "gpus/0/threadblocks/0"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_set("name", None), r'file\.json: has no "name"'),
        (_set("inplace", 1), "inplace is 1; expected true or false"),
        (_set("gpus", {}), "gpus is {}; expected a list"),
        (_set("gpus/1", 7), r"gpus\[1\] is 7; expected an object"),
        (_set("gpus/0/id", -1), r"gpus\[0\]: id is -1; expected an integer of 0 or more"),
        (_set("gpus/0/input_chunks", 1.5), "input_chunks is 1.5; expected an integer"),
        (_set("gpus/0/input_chunks", YES), "input_chunks is true; expected an integer"),
        (_set(f"{FIRST}/ops/3/name", "putt"), r"ops\[3\]: name is 'putt'; expected one of nop, barrier, put"),
        (_set(f"{FIRST}/ops/3/src_buff/0/type", "x"), r"src_buff\[0\]: type is 'x'; expected one of i, o, s"),
        (_set(f"{FIRST}/ops/3/src_buff/0/size", None), 'has no "size"'),
        (_set(f"{FIRST}/channels/0/channel_ids", [0, "1"]), r"channel_ids\[1\] is '1'"),
        (_set("gpus/0/remote_buffers/0/access_channel_types", ["air"]), r"access_channel_types\[0\] is 'air'"),
        (_set("max_message_size", 2**70), "expected an integer of 0 or more"),
    ],
)
def test_an_invalid_plan_is_refused_with_its_place(change: Change, message: str) -> None:
    document = plan()
    change(document)
    with pytest.raises(InputError, match=message):
        parsed(document)


def test_a_pipeline_in_a_pipeline_is_refused() -> None:
    document = loop_plan()
    pipeline = operations(document)[3]
    pipeline["ops"].append(dict(pipeline, ops=[]))
    with pytest.raises(InputError, match="a pipeline inside a pipeline"):
        parsed(document)


def with_too_many_operations(document: dict[str, Any]) -> None:
    operations(document).extend([{"name": "nop"}] * 60)


def with_both_packed_and_plain(document: dict[str, Any]) -> None:
    operations(document).append({"name": "copy", "src_buff": [local("i", 0)], "dst_buff": [local("s", 1)]})


def _put(**changes: object) -> Change:
    """Change the put of rank 0."""

    def change(document: dict[str, Any]) -> None:
        operations(document)[3] |= changes

    change.__name__ = f"another put: {shown(changes)}"
    return change


def with_out_of_place(document: dict[str, Any]) -> None:
    document["inplace"] = False
    document["gpus"][0]["input_chunks"] = 0


def with_another_group(document: dict[str, Any]) -> None:
    document["gpus"][0]["channels"][1]["rank_groups"][0]["ranks"] = [1]


def with_a_group_of_one_rank(document: dict[str, Any]) -> None:
    for channel in document["gpus"][1]["channels"]:
        channel.get("rank_groups", []).clear()
    document["gpus"][1]["threadblocks"] = []


def with_groups_in_two_orders(document: dict[str, Any]) -> None:
    for gpu in document["gpus"]:
        gpu["channels"].append(gpu["channels"][-1] | {"buffer_type": "o"})
    document["gpus"][1]["channels"].reverse()


def without_gpus(document: dict[str, Any]) -> None:
    document["gpus"] = []


def with_more_chunks_of_one_rank(document: dict[str, Any]) -> None:
    document["gpus"][1] |= {"input_chunks": 4, "output_chunks": 4}


OUT, FAR = local("o", 0), remote(0, 0)
SEMAPHORES = {"name": "sem_release", "semaphore_ids": []}

BROKEN: list[tuple[Callable[[], dict[str, Any]], Change]] = [
    (plan, _set("protocol", "LL128")),
    (plan, _set("num_threads_per_block", 100)),
    (plan, _set("min_message_size", 2**31)),
    (plan, _set("gpus/0/id", 1)),
    (plan, _set("gpus/0/output_chunks", 3)),
    (plan, with_out_of_place),
    (plan, _set("gpus/0/channels/0/connected_to", [0])),
    (plan, _set("gpus/0/remote_buffers/0/rank", 2)),
    (plan, _set(f"{FIRST}/id", 1)),
    (plan, with_too_many_operations),
    (plan, _set(f"{FIRST}/channels/0/channel_ids", [1])),
    (plan, _set(f"{FIRST}/remote_buffer_refs/0/remote_buffer_ids", [0] * 17)),
    (plan, _set(f"{FIRST}/ops/3/src_buff", [remote(0, 0)])),
    (plan, _set(f"{FIRST}/ops/3/channel_type", "switch")),
    (plan, _set(f"{FIRST}/ops/3/name", "pws")),
    (plan, _set(f"{FIRST}/ops/5/channel_ids", [1])),
    (plan, _set(f"{FIRST}/ops/5/channel_ids", [])),
    (plan, _set(f"{FIRST}/ops/3/dst_buff/0/index", 2)),
    (plan, _set(f"{FIRST}/ops/3/dst_buff/0/buffer_id", 1)),
    (plan, _set(f"{FIRST}/ops/3/dst_buff/0/size", 2)),
    (packet_plan, _set(f"{FIRST}/ops/2/src_buff/0/type", "o")),
    (packet_plan, _set("protocol", "Simple")),
    (packet_plan, with_both_packed_and_plain),
    (plan, _set(f"{FIRST}/ops/2", {"name": "sem_acquire", "semaphore_ids": [0]})),
    (plan, _set(f"{FIRST}/ops/2", {"name": "barrier", "barrier_id": 16})),
    (loop_plan, _set(f"{FIRST}/ops/3/iter_context/num_chunks", 2)),
    (loop_plan, _set(f"{FIRST}/ops/3/iter_context/unit_size", 100)),
    (plan, _set("buffer_alignment", 0)),
    (plan, without_gpus),
    (plan, _set("gpus/0/channels/0/connected_to", [7])),
    (packet_plan, with_more_chunks_of_one_rank),
    (switch_plan, with_another_group),
    (switch_plan, with_a_group_of_one_rank),
    (switch_plan, with_groups_in_two_orders),
    (plan, _set(f"{FIRST}/channels/0/channel_ids", [0] * 17)),
    (plan, _set(f"{FIRST}/remote_buffer_refs/0/remote_buffer_ids", [3])),
    (plan, _set("gpus/0/remote_buffers/0/access_channel_types", ["port"])),
    (plan, _put(dst_buff=[OUT, FAR])),
    (plan, _put(dst_buff=[FAR, FAR])),
    (plan, _put(src_buff=[OUT] * 11, dst_buff=[FAR] * 11)),
    (plan, _set(f"{FIRST}/ops/5/channel_ids", [0] * 9)),
    (plan, _put(src_buff=[local("s", 0)])),
    (packet_plan, _set(f"{FIRST}/ops/1/src_buff/0/size", 2)),
    (plan, _put(tbg_info={"tb_id": 2, "tbg_size": 2})),
    (plan, _put(src_buff=[OUT, local("i", 0)], dst_buff=[FAR, FAR])),
    (plan, _set(f"{FIRST}/ops/2", {"name": "barrier", "barrier_id": 0, "num_threadblocks": 0})),
    (plan, _set(f"{FIRST}/ops/2", SEMAPHORES)),
    (plan, _set(f"{FIRST}/ops/2", SEMAPHORES | {"semaphore_ids": [0] * 17})),
]


def test_every_message_of_a_plan() -> None:
    found = []
    for make, change in BROKEN:
        document = make()
        change(document)
        found.append((f"{make.__name__}, {change.__name__.lstrip('_')}", mscclpp.plan_fault(parsed(document))))
    fault_lists.check("mscclpp", found)
    assert {rule.id for rule in RULES} == {fault.rule for _, fault in found if fault is not None}


def test_every_rule_is_described() -> None:
    with (ROOT / "docs" / "tables" / "rules-mscclpp-json.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file))[1:] == [[f"`{rule.id}`", rule.statement] for rule in RULES]
    assert set(REQUIREMENTS) == set(OperationName)


def test_a_get_with_two_offsets_is_a_fault_as_the_kernel_swaps_them() -> None:
    document = plan()
    for rank, gpu in enumerate(document["gpus"]):
        operations(document, rank)[3] = {
            "name": "get",
            "src_buff": [remote(0, 1 - rank)],
            "dst_buff": [local("o", rank)],
            "channel_ids": [0],
            "channel_type": "memory",
        }
        assert gpu["remote_buffers"][0]["type"] == "o"
    fault = mscclpp.plan_fault(parsed(document))
    assert fault is not None
    assert (fault.rule, fault.rank, fault.step) == ("operation-handler", 0, 3)


@pytest.mark.parametrize(
    ("make", "change"),
    [
        (plan, _set(f"{FIRST}/ops/4", {**operations(plan())[3], "src_buff": [local("o", 0)]})),
        (packet_plan, _set(f"{FIRST}/ops/2/src_buff/0/index", 0)),
        (packet_plan, _set(f"{FIRST}/ops/1/src_buff/1/index", 1)),
        (packet_plan, _set(f"{FIRST}/ops/0/src_buff/0/index", 0)),
        (loop_plan, _set("gpus/1/threadblocks/0/ops/3/iter_context/unit_size", 32768)),
        (switch_plan, _set(f"{FIRST}/ops/3/src_buff/0/index", 1)),
        (switch_plan, _set(f"{FIRST}/ops/2", {"name": "rlxwait", "channel_ids": [0], "channel_type": "memory"})),
    ],
)
def test_a_plan_with_a_wrong_result_is_found_by_running_it(make: Callable[[], dict[str, Any]], change: Change) -> None:
    """`test_broken_files` changes exported plans, which have neither packets nor switches."""
    document = make()
    change(document)
    found = parsed(document)
    assert mscclpp.plan_fault(found) is None
    fault = check(mscclpp.to_program(found)).fault
    assert fault is not None
    assert fault.rank is not None


def test_rounds_of_pipelines_are_in_the_ratio_of_their_units() -> None:
    document = loop_plan()
    for rank in range(2):
        operations(document, rank)[3]["iter_context"]["unit_size"] = 1024
    assert check(mscclpp.to_program(parsed(document))).ok


def test_remarks_say_where_the_executor_deviates_from_the_plan() -> None:
    document = plan()
    document["gpus"][0]["input_chunks"] = document["gpus"][1]["input_chunks"] = 0
    operations(document).append({"name": "flush", "channel_ids": [0], "channel_type": "port"})
    document["gpus"][0]["channels"].append({"channel_type": "port", "connected_to": [1]})
    document["gpus"][0]["threadblocks"][0]["channels"].append({"channel_type": "port", "channel_ids": [0]})
    put = {"src_buff": [{"type": "i", "index": 0, "size": 1}], "dst_buff": [{"buffer_id": 0, "index": 0, "size": 1}]}
    operations(document).append({"name": "pwsf", **put, "channel_ids": [0], "channel_type": "port"})
    remarks = list(mscclpp.remarks(parsed(document)))
    assert [remark.split()[0] for remark in remarks] == ["input_chunks", "flush", "pwsf"]


def test_an_exported_plan_uses_switches_that_multicast_and_add_up() -> None:
    def exported(spec: str, collective: Collective) -> Export:
        made = schedule(spec, collective)
        return MscclppJson().export(made, MscclppJson().usual_options(made))

    one_box = exported("dgx-h100:boxes=1,gpus=4,nvls=true", Collective.ALLREDUCE)
    summed = [each for *_, each in one_box.lowering.program.instructions() if each.sources]
    assert all(isinstance(place, Multicast) for each in summed for place in each.places)
    assert '"glres"' in one_box.text
    two = exported("dgx-h100:boxes=2,gpus=4,nvls=true", Collective.ALLGATHER)
    assert '"gstore"' in two.text
    assert '"pws"' in two.text
    plain = exported("dgx-h100:boxes=1,gpus=4", Collective.ALLREDUCE)
    assert all(isinstance(place, Span) for *_, each in plain.lowering.program.instructions() for place in each.places)
    assert '"res"' not in plain.text  # on one switch, every rank sends straight to the root


def test_the_snippet_selects_the_plan_for_its_root_in_place() -> None:
    done = export(generate("ring:nodes=3", "broadcast:root=1"), "mscclpp-json")
    names: dict[str, Any] = {"__file__": "use.py"}
    types = SimpleNamespace(float16=1, bfloat16=2, float32=3, int32=4, uint32=5)
    module = SimpleNamespace(ext=SimpleNamespace(), DataType=types)
    code = done.snippet("ring.json")
    with mock.patch.dict(sys.modules, {"mscclpp": module, "mscclpp.ext": module.ext}):
        exec(code, names)  # noqa: S102 (our own code)
    assert "'ring.json'" in code
    assert (names["NAME"], names["RANKS"], names["ROOT"]) == (json.loads(done.text)["name"], 3, 1)
    request = SimpleNamespace(
        collective="broadcast", world_size=3, message_size=2**20, input_buffer=0, hints={}, dtype=types.float32
    )
    known = {"broadcast": {names["NAME"]: "the plan"}}
    for root, place, dtype, chosen in (
        (1, 0, types.float32, "the plan"),
        (0, 0, types.float32, None),
        (1, 8, types.float32, None),
        (1, 0, 9, None),  # the executor has no kernel for other types
    ):
        request.hints, request.output_buffer, request.dtype = {"root": [root]}, place, dtype
        assert names["select"](known, request) == chosen, (root, place, dtype)
    with pytest.raises(InputError, match="only plans"):
        export(schedule("ring:nodes=3"), "msccl-xml").snippet("ring.xml")


@pytest.mark.parametrize("target", ["mscclpp-json", "msccl-xml"])
def test_a_program_for_one_placement_is_for_the_calls_of_frameworks(target: str) -> None:
    spec = "ring:nodes=3"
    for collective in sorted(set(Collective) - {Collective.GATHER, Collective.SCATTER}):
        made = generate(spec, collective) if collective.is_personalised else schedule(spec, collective)
        program = export(made, target).lowering.program
        in_place = collective in {Collective.ALLREDUCE, Collective.BROADCAST, Collective.REDUCE}
        assert (program.in_place, program.out_of_place) == (in_place, not in_place), collective


def test_plans_of_one_network_have_different_names() -> None:
    """The executor of MSCCL++ runs what it has set up for the name of a plan and the memory of the call."""
    made = [schedule("ring:nodes=3", each) for each in (Collective.ALLGATHER, Collective.REDUCE_SCATTER)]
    made += [generate("ring:nodes=3", Demand("broadcast", root=root)) for root in range(3)]
    texts = [export(each, "mscclpp-json").text for each in made]
    other = Options(style=Style.ONE_SIDED, placement=Placement.OUT_OF_PLACE, chunks=6)
    texts.append(MscclppJson().export(made[0], other).text)
    names = {text: json.loads(text)["name"] for text in texts}
    assert len(set(names.values())) == len(texts)
    assert export(made[0], "mscclpp-json").text == texts[0]
    assert [name.rpartition(" ")[0] for name in names.values()] == ["ring:nodes=3"] * len(texts)


def test_a_plan_is_for_messages_whose_offsets_fit_into_32_bits() -> None:
    found = parsed(json.loads(export(schedule("ring:nodes=3", Collective.ALLREDUCE), "mscclpp-json").text))
    chunks = max(max(gpu.output_chunks, gpu.scratch_chunks) for gpu in found.gpus)
    assert found.most_bytes == 2**32 // chunks * found.gpus[0].input_chunks


def test_the_releases_that_have_all_operations_of_a_plan_load_it(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    export(schedule("dgx-h100:boxes=1,gpus=3,nvls=true", Collective.ALLGATHER), "mscclpp-json").write(path)
    found = judge_file(path).loads
    refused = "the release has no operation gstore"
    assert found == {"mscclpp 0.8": refused, "mscclpp 0.9": refused, "mscclpp 0.10": None}
    export(schedule("ring:nodes=3", Collective.ALLGATHER), "mscclpp-json").write(path)
    assert set(judge_file(path).loads.values()) == {None}


@pytest.mark.parametrize(
    ("spec", "names"),
    [
        (
            "dgx-a100:boxes=2",
            ["allreduce_2nodes_1K_64K.json or allreduce_2nodes_128K_2M.json, whatever the collective is"],
        ),
        ("dgx-a100:boxes=4,gpus=4", []),
        ("dgx-a100:boxes=1", []),
        ("ring:nodes=16", []),
    ],
)
def test_names_that_mscclpp_loads_by_itself_are_a_remark(spec: str, names: list[str]) -> None:
    made = MscclppJson().export(generate(spec), MscclppJson().usual_options(generate(spec)))
    assert [remark.rpartition("/ as ")[2] for remark in made.remarks] == names
