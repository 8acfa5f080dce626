"""Programs that hang because the slots of connections are full: executors and `check-program` state the same size.

Four of the 48 public programs of rouge3877/ns3-msccl-data hung on 8 MI300X in place, at 64, 128, 256 and 512 MiB, and
were right at half of that (the logs in Validation/SingleCollective/GroundTruth/1x8-allreduce-allpair). `all_pairs` has
the form of these four, with fewer chunks. At all these sizes the executor and `check-program` say what the logs say.
"""

from pathlib import Path

import pytest
import xml_executor

from forestcoll.programs.formats.judging import judge_file


def step(number: int, kind: str, buffer: str, first: int, count: int, *, after: tuple[int, int] = (-1, -1)) -> str:
    """A step whose source and target are the same chunks."""
    places = f'srcbuf="{buffer}" srcoff="{first}" dstbuf="{buffer}" dstoff="{first}" cnt="{count}"'
    ends = f'depid="{after[0]}" deps="{after[1]}" hasdep="{int(kind == "rrc")}"'
    return f'<step s="{number}" type="{kind}" {places} {ends}/>'


def algorithm(collective: str, protocol: str, ranks: list[list[tuple[int, list[str]]]], chunks: int) -> str:
    """A file in place; of each rank the blocks, each with its peer and its steps."""
    ends = f'ngpus="{len(ranks)}" coll="{collective}" inplace="1" outofplace="0" minBytes="0" maxBytes="0"'
    text = [f'<algo name="a" proto="{protocol}" nchannels="1" nchunksperloop="{chunks}" {ends}>']
    own = chunks // len(ranks) if collective == "allgather" else chunks
    for rank, blocks in enumerate(ranks):
        text.append(f'<gpu id="{rank}" i_chunks="{own}" o_chunks="{chunks}" s_chunks="0">')
        for number, (peer, steps) in enumerate(blocks):
            text += [f'<tb id="{number}" send="{peer}" recv="{peer}" chan="0">', *steps, "</tb>"]
        text.append("</gpu>")
    return "".join([*text, "</algo>"])


def exchange(messages: int, chunks: int, protocol: str) -> str:
    """An allgather of two ranks; each sends all its messages, of so many chunks each, before it receives any."""
    count = messages * chunks

    def steps(rank: int) -> list[str]:
        sent = [("s", rank * count + each * chunks) for each in range(messages)]
        received = [("r", (1 - rank) * count + each * chunks) for each in range(messages)]
        return [step(number, kind, "o", first, chunks) for number, (kind, first) in enumerate(sent + received)]

    return algorithm("allgather", protocol, [[(1 - rank, steps(rank))] for rank in range(2)], 2 * count)


def all_pairs(ranks: int, instances: int) -> str:
    """An allreduce: each rank sends each other rank its shard at once, adds up what it receives, and sends the sum."""
    shard = ranks * instances

    def block(rank: int, place: int, peer: int) -> list[str]:
        own, last = rank * shard, ranks - 2
        return [
            step(0, "s", "i", peer * shard, shard),
            step(1, "rrc", "i", own, shard, after=(place - 1, 1) if place else (-1, -1)),
            step(2, "s", "i", own, shard, after=(last, 1) if place < last else (-1, -1)),
            step(3, "r", "i", peer * shard, shard),
        ]

    def blocks(rank: int) -> list[tuple[int, list[str]]]:
        peers = [each for each in range(ranks) if each != rank]
        return [(peer, block(rank, place, peer)) for place, peer in enumerate(peers)]

    return algorithm("allreduce", "Simple", [blocks(rank) for rank in range(ranks)], ranks * shard)


def right_up_to(text: str, tmp_path: Path) -> int | None:
    """Return up to which size the program is right, as `check-program` says; None if it is right at every size."""
    path = tmp_path / "program.xml"
    path.write_text(text)
    judged = judge_file(path)
    if judged.ok:
        return None
    assert judged.fault is not None
    assert judged.fault.rule == "deadlock"
    return judged.right_up_to or 0


def agree(text: str, tmp_path: Path) -> int | None:
    """Check that the executor hangs just above the size that `check-program` states, and nowhere else; return it."""
    size, chunks = right_up_to(text, tmp_path), xml_executor.Algorithm(text).chunks
    if size is None:
        assert all(xml_executor.run(text, each, in_place=True, seed=1) is None for each in xml_executor.sizes(text))
        return None
    for seed in range(3):
        if size:
            assert xml_executor.run(text, size, in_place=True, seed=seed) is None
        above = xml_executor.run(text, size + chunks, in_place=True, seed=seed)
        assert above is not None
        assert above.startswith("deadlock")
    return size


@pytest.mark.parametrize("protocol", ["Simple", "LL", "LL128"])
@pytest.mark.parametrize(("messages", "chunks"), [(1, 2), (1, 3), (1, 8), (2, 4), (3, 1), (9, 1), (8, 1), (4, 6)])
def test_a_connection_holds_two_messages_or_eight(messages: int, chunks: int, protocol: str, tmp_path: Path) -> None:
    size = agree(exchange(messages, chunks, protocol), tmp_path)
    slots = 2 if protocol == "Simple" else 8
    assert (size is None) == (messages * chunks <= slots)
    assert (size == 0) == (messages > slots)


@pytest.mark.parametrize(("ranks", "instances"), [(3, 1), (4, 1), (4, 2)])
def test_the_form_of_the_programs_that_hung_hangs_above_the_stated_size(
    ranks: int, instances: int, tmp_path: Path
) -> None:
    size = agree(all_pairs(ranks, instances), tmp_path)
    assert size is not None
    assert size > 0
