"""MSCCL XML: reading, refusing and writing files, and the rules of its runtimes, each broken by a test."""

import csv
import re
from pathlib import Path

import pytest
from samples import ALGORITHM, REDUCTION, schedule

import fault_lists
from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.presentation.results.programs.programs import fault_line, judgement_page
from forestcoll.programs.formats import msccl_xml
from forestcoll.programs.formats.judging import judge_file
from forestcoll.programs.formats.msccl_xml import DIALECTS, Algorithm, dialect_fault, dialects, form_fault
from forestcoll.programs.formats.msccl_xml.rules import FORM
from forestcoll.programs.interpreter import check
from forestcoll.programs.lowering import Options, Placement, lower
from forestcoll.programs.model import Protocol
from forestcoll.programs.targets.msccl_xml import HANGS, MscclXml
from forestcoll.tuning.programs.export import export
from refusal import refusal

ROOT = Path(__file__).parents[3]


def parsed(text: str) -> Algorithm:
    return msccl_xml.parse_algorithm(text.encode(), where="file.xml")


def changed(old: str, new: str, *, text: str = ALGORITHM) -> str:
    assert old in text
    return text.replace(old, new, 1)


@pytest.mark.parametrize("text", [ALGORITHM, REDUCTION])
def test_correct_files_satisfy_all_rules_run_and_are_written_back(text: str) -> None:
    algorithm = parsed(text)
    assert "".join(msccl_xml.emit(algorithm)) == text
    assert form_fault(algorithm) is None
    program = msccl_xml.to_program(algorithm)
    assert check(program).ok
    for dialect in (DIALECTS["azure"], DIALECTS["rccl"]):
        assert dialect_fault(algorithm, dialect) is None
        assert msccl_xml.to_program(msccl_xml.from_program(program, dialect)).ranks == program.ranks


def test_malformed_text_is_refused_with_its_line() -> None:
    for old, new, message in (
        ("<algo", "<!DOCTYPE algo [<!ENTITY a 'b'>]><algo", "document type"),
        ('cnt="1"', 'cnt="one"', r"line 4: <step> has cnt 'one'; expected an integer"),
        ('cnt="1"', 'cnt="010"', "expected an integer"),
        ('cnt="1"', "", 'line 4: <step> has no "cnt"'),
        ('srcbuf="i"', 'srcbuf="x"', "expected i, o or s"),
        ('type="s"', 'type="sr"', "expected one of s, r, rcs"),
        ('hasdep="0"', 'hasdep="2"', "expected 0 or 1"),
        ("    <tb", "    <gpu", "<gpu> is inside <gpu>; it belongs inside <algo>"),
        ('ngpus="2" ', "", 'line 1: <algo> has no "ngpus"'),
        ("</algo>", "", "not valid XML"),
        ("  <gpu", " text <gpu", "text 'text' outside a tag"),
        ('id="0"', 'id="99999999999999999999"', "expected an integer"),
    ):
        with pytest.raises(InputError, match=message):
            parsed(changed(old, new))


def test_elements_that_the_runtimes_skip_are_skipped_and_said(tmp_path: Path) -> None:
    file = tmp_path / "program.xml"
    extra = '<copy i_off="0"><tb id="x"><step/></tb></copy>\n    <note/>\n    <copy/>\n    <tb'
    file.write_text(changed("<tb", extra))
    assert parsed(file.read_text()).gpus == parsed(ALGORITHM).gpus
    judged = judge_file(file)
    assert judged.ok
    assert judged.remarks == (
        "line 3: <copy> is no element that the runtimes know; they skip it",
        "line 4: <note> is no element that the runtimes know; they skip it",
    )
    for text in ("<other/>", "<html><algo/></html>"):
        assert "holds no <algo>; is this MSCCL XML?" in refusal(parsed, text)


@pytest.mark.parametrize(
    ("size", "read"),
    [("9223372036854775807", 2**63 - 1), ("18446744073709551615", 2**63 - 1), ("1099511627776", 2**40), ("007", 7)],
)
def test_sizes_are_integers_of_64_bits(size: str, read: int) -> None:
    algorithm = parsed(changed('maxBytes="0"', f'maxBytes="{size}"'))
    assert algorithm.attributes["maxBytes"] == str(read)
    assert dialect_fault(algorithm, DIALECTS["rccl"]) is None
    assert check(msccl_xml.to_program(algorithm)).ok
    for wrong in ("8MB", "9" * 300):
        assert "<algo> has maxBytes '" in refusal(parsed, changed('maxBytes="0"', f'maxBytes="{wrong}"'))


def sends_first(messages: int, chunks: int, most: int) -> str:
    """An allgather of two ranks that send all their messages, of so many chunks each, before they receive any."""
    text, count = changed('maxBytes="0"', f'maxBytes="{most}"'), messages * chunks
    for name, old, new in (("nchunksperloop", 2, 2 * count), ("i_chunks", 1, count), ("o_chunks", 2, 2 * count)):
        text = text.replace(f'{name}="{old}"', f'{name}="{new}"')
    step = '<step s="{}" type="{}" srcbuf="i" srcoff="{}" dstbuf="o" dstoff="{}" cnt="{}" depid="-1" deps="-1" '
    step += 'hasdep="0"/>'
    blocks = iter(range(4))

    def steps(found: re.Match[str]) -> str:
        rank, is_copy = divmod(next(blocks), 2)
        if is_copy:
            return found[1] + step.format(0, "cpy", 0, rank * count, count) + found[3]
        sent = [("s", each, rank) for each in range(messages)] + [("r", each, 1 - rank) for each in range(messages)]
        lines = [
            step.format(number, kind, each * chunks, owner * count + each * chunks, chunks)
            for number, (kind, each, owner) in enumerate(sent)
        ]
        return found[1] + "\n".join(lines) + found[3]

    return re.sub(r"(<tb [^>]*>\s*)(.*?)(\s*</tb>)", steps, text, flags=re.DOTALL)


@pytest.mark.parametrize(("messages", "chunks"), [(2, 4), (1, 8)])
def test_of_a_program_that_deadlocks_the_greatest_right_size_is_said(
    tmp_path: Path, messages: int, chunks: int
) -> None:
    file = tmp_path / "program.xml"
    file.write_text(sends_first(messages, chunks, 0))
    judged = judge_file(file)
    assert judged.fault is not None
    assert judged.fault.rule == "deadlock"
    assert judged.right_up_to == 2**23  # M has 16 chunks, and with 4 in a message of 2 MiB, two messages are enough
    for size, right in ((judged.right_up_to, True), (judged.right_up_to + 1, False)):
        file.write_text(sends_first(messages, chunks, size))
        assert judge_file(file).ok is right
    line = fault_line(judged, file)
    assert line is not None
    assert line.endswith("[deadlock]; up to 8388608 bytes (8MiB) it is right: set maxBytes to that")
    assert judgement_page(judged, file).document()["right_up_to"] == 2**23


def test_a_program_that_always_deadlocks_has_no_right_size(tmp_path: Path) -> None:
    file = tmp_path / "program.xml"
    file.write_text(sends_first(3, 1, 0))
    assert judge_file(file).right_up_to is None
    file.write_text(sends_first(2, 4, 0).replace('minBytes="0"', 'minBytes="1073741824"'))
    assert judge_file(file).right_up_to is None


def test_nested_entities_and_elements_are_refused() -> None:
    entities = "".join(f"<!ENTITY a{i} '{f'&a{i - 1};' * 10}'>" for i in range(1, 20))
    assert "document type" in refusal(parsed, f"<!DOCTYPE algo [<!ENTITY a0 'ha'>{entities}]><algo name='&a19;'/>")
    with pytest.raises(InputError, match="is inside <algo>"):
        parsed("<algo name='' proto='' coll='' nchannels='1' nchunksperloop='1' ngpus='1'>" + "<algo>" * 10**5)


WAITS = 'depid="-1" deps="-1"'
CHANGES = [
    ('nchannels="1"', 'nchannels="0"'),
    ('coll="allgather"', 'coll="gather"'),
    ('nchunksperloop="2"', 'nchunksperloop="3"'),
    ('proto="Simple"', 'proto="LL64"'),
    ('gpu id="1"', 'gpu id="0"'),
    ('gpu id="1"', 'gpu id="2"'),
    ('o_chunks="2"', 'o_chunks="3"'),
    ('tb id="1"', 'tb id="2"'),
    ('tb id="1"', 'tb id="0"'),
    ('send="1"', 'send="0"'),
    ('send="1"', 'send="2"'),
    ('chan="0"', 'chan="1"'),
    ('s="1" type="r"', 's="2" type="r"'),
    ('send="1" recv="1"', 'send="1" recv="-1"'),
    ('cnt="1"', 'cnt="72"'),
    ('cnt="1"', 'cnt="0"'),
    ('dstoff="1"', 'dstoff="2"'),
    ('srcoff="0"', 'srcoff="-1"'),
    ('depid="-1" deps="-1"', 'depid="2" deps="0"'),
    ('depid="-1" deps="-1"', 'depid="1" deps="1"'),
    ('depid="-1" deps="-1"', 'depid="1" deps="0"'),
    ('type="cpy"', 'type="nop"'),
    ('send="-1" recv="-1"', 'send="1" recv="-1"'),
    ('ngpus="2"', 'ngpus="1"'),
    ('nchunksperloop="2"', 'nchunksperloop="0"'),
    ('s_chunks="0"', 's_chunks="-1"'),
    ('send="1" recv="1"', 'send="-1" recv="1"'),
    (WAITS, 'depid="5" deps="0"'),
]


def lonely() -> str:
    """Return the algorithm without the receive of rank 0, whose block still sends."""
    text = changed('send="0" recv="0"', 'send="0" recv="-1"')
    text = text.replace('      <step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0"', "<!--", 1)
    return text.replace('<!-- cnt="1" depid="-1" deps="-1" hasdep="0"/>', "", 1)


def block_of(*steps: str) -> str:
    """Return a block of rank 0 with these types of steps, instead of the one that copies."""
    listed = "".join(
        f'<step s="{place}" type="{kind}" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="{int(kind != "nop")}" '
        f'depid="-1" deps="-1" hasdep="0"/>'
        for place, kind in enumerate(steps)
    )
    first = ALGORITHM.index('<step s="0" type="cpy"')
    return ALGORITHM[:first] + listed + ALGORITHM[ALGORITHM.index("\n", first) :]


OTHERS = {
    "a channel that nobody receives from": lonely(),
    "a rank is missing": changed('ngpus="2"', 'ngpus="3"').replace('loop="2"', 'loop="3"'),
    "a wait for a nop": block_of("nop", "cpy")
    .replace(WAITS, 'depid="1" deps="0"', 1)
    .replace('hasdep="0"', 'hasdep="1"'),
    "a nop without depid": block_of("nop", "cpy"),
    "a nop at the end": REDUCTION.replace('<step s="1" type="re"', '<step s="1" type="nop"').replace(
        'dstbuf="o" dstoff="0" cnt="1" depid="0" deps="1"', 'dstbuf="o" dstoff="0" cnt="0" depid="0" deps="1"'
    ),
    "a nop before a step without depid": REDUCTION.replace('depid="0" deps="1"', WAITS),
}


def test_every_message_of_the_form() -> None:
    cases = {f"{new} in place of {old}": changed(old, new) for old, new in CHANGES} | OTHERS
    found = [(name, form_fault(parsed(text))) for name, text in cases.items()]
    fault_lists.check("msccl-xml", found)
    assert {rule.id for rule in FORM} == {fault.rule for _, fault in found if fault is not None} | {"reduction-fused"}


@pytest.mark.parametrize(
    ("text", "limit", "most", "message"),
    [
        (ALGORITHM, "MAX_OFFSET", 0, "rank 0, block 0, step 1: dstoff is 1; the runtimes count to 0"),
        (REDUCTION, "MAX_DEPENDED_BLOCK", 0, "rank 0, block 2, step 0: depid is 1; the runtimes count to 0"),
        (ALGORITHM, "MAX_CHILDREN", 1, "rank 0: has 2 blocks; the runtime takes "),
        (ALGORITHM, "MAX_NODES", 1, "XML elements with <algo> and all <gpu>; the runtime takes 1"),
        (ALGORITHM, "MAX_BLOCKS_PER_CHANNEL", 0, "blocks send on channel 0; the runtime takes "),
    ],
)
def test_files_beyond_a_limit_of_the_runtimes_are_refused(
    text: str, limit: str, most: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dialects, limit, most)
    assert message in str(form_fault(parsed(text)) or dialect_fault(parsed(text), DIALECTS["azure"]))


def test_reductions_that_are_fused_have_one_count() -> None:
    more = '      <step s="2" type="re" srcbuf="s" srcoff="0" dstbuf="o" dstoff="0" cnt="2" depid="-1" deps="-1" '
    last = '<step s="1" type="re" srcbuf="s" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="0" deps="1" hasdep="0"/>\n'
    text = REDUCTION.replace(last, f'{last}{more}hasdep="0"/>\n').replace('o_chunks="1"', 'o_chunks="2"')
    text = text.replace('s_chunks="1"', 's_chunks="2"').replace('nchunksperloop="2"', 'nchunksperloop="4"')
    fault = form_fault(parsed(text))
    assert fault is not None
    assert (fault.rule, fault.rank, fault.block, fault.step) == ("reduction-fused", 0, 2, 2)
    awaited = text.replace(last, last.replace('hasdep="0"', 'hasdep="1"'))  # a step that others wait for is not fused
    assert getattr(form_fault(parsed(awaited)), "rule", None) != "reduction-fused"


def test_every_rule_is_described() -> None:
    with (ROOT / "docs" / "tables" / "rules-msccl-xml.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file))[1:] == [[f"`{rule.id}`", rule.statement] for rule in FORM]


@pytest.mark.parametrize(
    ("dialect", "old", "new", "message"),
    [
        ("azure", ' outofplace="1"', "", 'no "outofplace"'),
        ("rccl", ' maxBytes="0"', "", 'no "maxBytes"'),
        ("azure", 'minBytes="0" maxBytes="0"', 'minBytes="8" maxBytes="4"', "no size is left"),
        ("azure", 'i_chunks="1"', 'i_chunks="0"', None),
        ("azure", "<algo", '<?xml version="1.0"?>\n<algo', "line 1 has an XML declaration"),
        ("rccl", 'name="pair"', "name='pair'", "line 1 has an attribute in single quotes"),
        ("rccl", 'proto="Simple" ', 'proto="Simple"\n', "line 1 has a tab or a line break within a tag"),
        ("microsoft", 'name="pair"', f'name="{"x" * 300}"', "name has 300 characters"),
        ("microsoft", 'coll="allgather"', 'coll="reducescatter"', "coll is 'reducescatter'"),
        ("azure", 'coll="allgather"', 'coll="custom"', "coll is 'custom'"),
        ("azure", 'minBytes="0"', 'minBytes="-1"', "minBytes is -1 and maxBytes is 0; expected 0 or more"),
        ("azure", 'nchannels="1"', 'nchannels="99"', "nchannels is 99; the runtime has "),
    ],
)
def test_files_that_one_runtime_does_not_load(dialect: str, old: str, new: str, message: str | None) -> None:
    fault = dialect_fault(parsed(changed(old, new)), DIALECTS[dialect])
    assert (fault is None) if message is None else (fault is not None and message in str(fault))


def test_limits_differ_by_dialect() -> None:
    text = block_of(*["cpy"] * 65)
    faults = {name: dialect_fault(parsed(text), dialect) for name, dialect in DIALECTS.items()}
    assert faults["microsoft"] is None
    for name in ("azure", "rccl"):
        fault = faults[name]
        assert fault is not None
        assert (fault.rank, fault.block, fault.step) == (0, 1, 64)


def test_the_root_is_the_rank_that_receives_nothing() -> None:
    text = "".join(
        msccl_xml.emit(
            msccl_xml.from_program(lower(schedule("ring:nodes=4", Collective.BROADCAST)).program, DIALECTS["azure"])
        )
    )
    assert msccl_xml.to_program(parsed(text)).root == 0
    assert msccl_xml.to_program(parsed(text), root=2).root == 2
    assert "there is no rank 4" in refusal(msccl_xml.to_program, parsed(text), root=4)
    assert "allgather has no root" in refusal(msccl_xml.to_program, parsed(ALGORITHM), root=0)


def test_messages_take_one_slot_if_the_greatest_size_allows_it() -> None:
    small = parsed(REDUCTION)
    assert msccl_xml.to_program(small).slots == 8
    assert msccl_xml.to_program(small).slot_chunks == 1  # 1 MiB in two chunks; a slot of LL holds 32 KiB
    tiny = parsed(changed('maxBytes="1048576"', 'maxBytes="8192"', text=REDUCTION))
    assert msccl_xml.to_program(tiny).slot_chunks == 8
    assert msccl_xml.to_program(parsed(ALGORITHM)).slot_chunks == 1


@pytest.mark.parametrize(
    ("collective", "protocol", "size"),
    [
        (Collective.ALLREDUCE, "Simple", 2**21),
        (Collective.BROADCAST, "Simple", 2**19),
        (Collective.REDUCE, "Simple", 2**19),
        (Collective.BROADCAST, "LL", 2**15),
    ],
)
def test_messages_of_broadcasts_and_reduces_have_fewer_chunks(collective: Collective, protocol: str, size: int) -> None:
    options = Options(placement=Placement.OUT_OF_PLACE, protocol=Protocol(protocol), chunks=8)
    program = lower(schedule("ring:nodes=4", collective), options).program
    text = "".join(msccl_xml.emit(msccl_xml.from_program(program, DIALECTS["azure"])))
    limited = text.replace('maxBytes="0"', f'maxBytes="{2 * size}"')  # in chunks of a quarter of a message
    assert msccl_xml.to_program(parsed(limited)).slot_chunks == 4


@pytest.mark.parametrize(
    ("spec", "protocol", "remarks"),
    [("dgx-a100:boxes=2", "Simple", 1), ("dgx-a100:boxes=2", "LL", 0), ("dgx-a100:boxes=1", "Simple", 0)],
)
@pytest.mark.parametrize("collective", [Collective.BROADCAST, Collective.REDUCE])
def test_a_broadcast_or_reduce_that_would_hang_has_a_warning(
    tmp_path: Path, collective: Collective, spec: str, protocol: str, remarks: int
) -> None:
    options = Options(placement=Placement.IN_PLACE, protocol=Protocol(protocol), chunks=64)
    done = MscclXml(protocol=protocol).export(schedule(f"{spec},gpus=2", collective), options)
    assert len(done.warnings) == remarks
    path = tmp_path / "program.xml"
    done.write(path)
    judged = judge_file(path).remarks  # a file does not say which ranks are in one box
    assert [remark.split(" with ")[0] for remark in judged] == [f"all runtimes hang in a {collective.value}"] * (
        protocol == "Simple"
    )
    assert done.warnings in ((), judged)
    assert (done.remarks, str(judge_file(path)).count("warning")) == ((), len(judged))


@pytest.mark.parametrize("collective", [Collective.BROADCAST, Collective.REDUCE])
def test_export_chooses_a_protocol_that_does_not_hang(collective: Collective) -> None:
    over_network = export(schedule("dgx-a100:boxes=2,gpus=2", collective), "msccl-xml")
    assert over_network.lowering.program.protocol is Protocol.LL
    assert over_network.warnings == ()
    assert over_network.remarks == (f"the protocol is LL: {HANGS}",)
    in_a_box = export(schedule("dgx-a100:boxes=1,gpus=2", collective), "msccl-xml")
    assert (in_a_box.lowering.program.protocol, in_a_box.remarks) == (Protocol.SIMPLE, ())
    simple = export(schedule("dgx-a100:boxes=2,gpus=2", collective), "msccl-xml:protocol=Simple")
    assert "warning" in str(simple).splitlines()[1]
    assert "hang" in str(simple).splitlines()[1]


def test_an_allreduce_has_no_remark_and_only_some_dialects_are_known() -> None:
    assert export(schedule("dgx-a100:boxes=2,gpus=2", Collective.ALLREDUCE), "msccl-xml").remarks == ()
    assert "there is no dialect 'amd'" in refusal(msccl_xml.dialect_named, "amd")
