"""Writes MSCCL XML: the same value gives the same bytes, in a form that the scanners of the runtimes can read."""

from collections.abc import Iterator

from forestcoll.programs.formats.msccl_xml.document import Algorithm, Block, Gpu, Step

_ORDER = ("name", "proto", "nchannels", "nchunksperloop", "ngpus", "coll", "inplace", "outofplace")
"""The order of the first attributes of `<algo>`; the others follow in their given order."""


def emit(algorithm: Algorithm) -> Iterator[str]:
    """Yield the text of the file for `algorithm`, in pieces."""
    yield f"<algo{_attributes(algorithm)}>\n"
    for gpu in algorithm.gpus:
        yield from _gpu(gpu)
    yield "</algo>\n"


def _attributes(algorithm: Algorithm) -> str:
    values = dict(algorithm.attributes) | {
        "nchannels": str(algorithm.channels),
        "nchunksperloop": str(algorithm.chunks_per_loop),
        "ngpus": str(algorithm.gpu_count),
    }
    names = [name for name in _ORDER if name in values] + [name for name in values if name not in _ORDER]
    return "".join(f' {name}="{_escaped(values[name])}"' for name in names)


def _escaped(text: str) -> str:
    """Return the value of an attribute; `xml.sax.saxutils` also imports what fetches files over the network."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def _gpu(gpu: Gpu) -> Iterator[str]:
    sizes = f'i_chunks="{gpu.input_chunks}" o_chunks="{gpu.output_chunks}" s_chunks="{gpu.scratch_chunks}"'
    yield f'  <gpu id="{gpu.rank}" {sizes}>\n'
    for block in gpu.blocks:
        yield _block(block)
    yield "  </gpu>\n"


def _block(block: Block) -> str:
    peers = f'send="{block.send_peer}" recv="{block.receive_peer}" chan="{block.channel}"'
    steps = "".join(map(_step, block.steps))
    return f'    <tb id="{block.number}" {peers}>\n{steps}    </tb>\n'


def _step(step: Step) -> str:
    return (
        f'      <step s="{step.number}" type="{step.type.value}"'
        f' srcbuf="{step.source_buffer}" srcoff="{step.source_offset}"'
        f' dstbuf="{step.target_buffer}" dstoff="{step.target_offset}" cnt="{step.chunks}"'
        f' depid="{step.awaited_block}" deps="{step.awaited_step}" hasdep="{int(step.awaited)}"/>\n'
    )
