"""The names and the descriptions of the schedules of a comparison, for readers who do not know the algorithms."""

from typing import NamedTuple


class Description(NamedTuple):
    """What a reader must know about an algorithm.

    Attributes:
        title: its name in a sentence, in the plural or with an article.
        summary: what it does, as a sentence without a period.
    """

    title: str
    summary: str


_DESCRIPTIONS = {
    "forestcoll": Description("forestcoll's schedule", "Trees that together reach the optimum"),
    "nccl-ring": Description(
        "NCCL's rings", "The default of NVIDIA's library: data passes from GPU to GPU along one ring for each NIC"
    ),
    "rccl-ring": Description("RCCL's rings", "The default of AMD's library: its fixed rings for this kind of box"),
    "nccl-tree": Description("NCCL's trees", "NCCL's double binary tree over boxes, with chains of GPUs inside"),
    "nvls": Description("NVLS", "NCCL's algorithm in which the switch of the box adds up and copies"),
    "nvls-tree": Description("NVLSTree", "NVLS in each box, and NCCL's double tree between the boxes"),
    "pat": Description("PAT", "NCCL's algorithm for few bytes: binomial trees, one for each shard"),
    "two-level": Description(
        "the two-level algorithm", "Each shard crosses to each box once, over its rail, and then spreads inside"
    ),
    "two-level-barrier": Description(
        "the two-level algorithm with a barrier", "First the exchange between boxes, then the exchange inside"
    ),
    "direct": Description("direct sends", "Each compute node sends its shard to each other one"),
    "multitree": Description("MultiTree", "Greedy trees; the path with the most bandwidth left first"),
    "multitree-remaining": Description(
        "MultiTree (remaining)",
        "Greedy trees; the path with the most bandwidth left first, then that with the fewest hops",
    ),
    "multitree-bandwidth": Description(
        "MultiTree (bandwidth)",
        "Greedy trees; the path of the greatest bandwidth first, then that with the fewest hops",
    ),
    "multitree-source": Description("MultiTree (source)", "Greedy trees, by the rule of the published code"),
    "blink": Description("Blink", "The best packing of trees from one root, and its reverse"),
    "blink-switch": Description("Blink with switches", "The best packing of trees from one root, and its reverse"),
    "single-root": Description("one root", "One root, with each link divided best between reduce and broadcast"),
    "swing-torus": Description(
        "Swing on a torus", "Swing along each dimension, with a part of each shard for each direction"
    ),
    "recursive-doubling": Description(
        "recursive doubling", "Pairs exchange all that they have, with the nearest partner first"
    ),
    "recursive-doubling-far": Description(
        "recursive doubling, far first", "Pairs exchange all that they have, with the farthest partner first"
    ),
    "bruck": Description("Bruck's algorithm", "Each rank sends to the rank 1, 2, 4, and so on, before it"),
    "swing": Description("Swing", "Recursive doubling with partners in turn on the left and on the right"),
    "bine": Description("Bine trees", "Recursive doubling with partners at short distances"),
    "tacos": Description("TACOS", "A greedy schedule in steps of time, the best of several random orders"),
    "milp": Description("the integer program", "The best schedule of few steps, found by an integer program"),
}

_OTHER = "A schedule or a program from a file"


def title_of(name: str) -> str:
    """Return the name of a schedule of a comparison in a sentence.

    Example:
        >>> title_of("nccl-ring"), title_of("mine.json")
        ("NCCL's rings", 'mine.json')
    """
    return _DESCRIPTIONS[name].title if name in _DESCRIPTIONS else name


def summary_of(name: str) -> str:
    """Return what a schedule of a comparison does, as a sentence without a period.

    Example:
        >>> summary_of("mine.json")
        'A schedule or a program from a file'
    """
    return _DESCRIPTIONS[name].summary if name in _DESCRIPTIONS else _OTHER
