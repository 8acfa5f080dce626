"""The parts of trees in plans of MSCCL++: what the chunks, instances, step chunks and bytes of a round are together.

A plan of trees cuts the greatest tree into *parts* of the same size that move at the same time in blocks of their own,
and all other trees into parts of this size. So each tree has blocks, and a part of the links, in proportion to its
data. Parts have many chunks and differ a little (`lowering`), so that blocks do not begin all messages at the same
times, and links are not idle during their overheads. A *message* is what a block moves of a part at once.
"""

from dataclasses import replace
from fractions import Fraction
from math import ceil

from forestcoll.programs.formats.sizes import ALIGNMENT
from forestcoll.programs.lowering import Options
from forestcoll.programs.lowering.options import MOST

LEAST_CHUNKS = 48
"""The chunks of a part of the greatest tree, at least, if the data may have so many: parts then have many sizes."""


def parts_of(options: Options, share: Fraction) -> int:
    """Return the number of parts of the greatest tree, which has `share` of the data."""
    if options.step_chunks is None:
        return options.instances
    return ceil(Fraction(_chunks(options, share) * options.instances, options.step_chunks))


def message_of(options: Options, share: Fraction) -> int:
    """Return the bytes of the greatest message."""
    return ceil(options.step_chunks or _chunks(options, share)) * options.round_bytes


def in_parts(options: Options, share: Fraction, parts: int, most_chunks: int) -> Options:
    """Return options with so many parts of the greatest tree, if the data may have `most_chunks`."""
    if parts == 1:
        return replace(options, instances=1, step_chunks=None)
    greatest, instances = _chunks(options, share), 1
    while greatest * instances < LEAST_CHUNKS * parts and 2 * (options.chunks or 1) * instances <= most_chunks:
        instances *= 2
    return replace(options, instances=instances, step_chunks=-(-greatest * instances // parts))


def in_messages(options: Options, share: Fraction, message: int) -> Options:
    """Return options with messages of about so many bytes."""
    size = ceil(options.step_chunks or _chunks(options, share))
    aligned = min(message // size, MOST) // ALIGNMENT * ALIGNMENT
    return replace(options, round_bytes=max(ALIGNMENT, aligned))


def _chunks(options: Options, share: Fraction) -> int:
    """Return about how many chunks the greatest tree has before `instances`."""
    return max(1, round(share * (options.chunks or 1)))
