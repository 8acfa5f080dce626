"""Profiles of models that are trained with data parallelism only: GPT-2, VGG-16 and ResNet-50.

GPT-2 has the sizes of A. Radford et al., *Language Models are Unsupervised Multitask Learners* (2019), Table 2, with
sequences of 1,024 tokens. The batches per node are those of the direct-connect paper (Figure 8): 8, 4 and 1 sequences,
or 64 images. The paper does not print which small models it trained; VGG-16 (K. Simonyan, A. Zisserman, 2015) and
ResNet-50 (K. He et al., 2016) are common ones, with images of 224 x 224 pixels. Biases and normalisation are left out.
"""

from collections.abc import Iterator

from forestcoll.design.workloads.estimate import SOURCE, estimated_layer
from forestcoll.design.workloads.profile import Layer, Profile

_VOCABULARY, _CONTEXT = 50_257, 1024
_GPT2 = {"gpt2-small": (768, 12, 8), "gpt2-medium": (1024, 24, 4), "gpt2-large": (1280, 36, 1)}
"""The width, the number of layers, and the sequences per node."""

_IMAGES = 64
_VGG = ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3))
"""The channels and the number of convolutions of each stage; each stage has half the image size of the one before."""

_RESNET = ((64, 3), (128, 4), (256, 6), (512, 3))
"""The inner channels and the number of blocks of each stage."""


def data_parallel_profile(name: str) -> Profile | None:
    """Return the profile of the model called `name`, or None if there is none.

    Example:
        >>> data_parallel_profile("gpt2-small").has_exchanges
        False
    """
    if name in _GPT2:
        return Profile(name, f"sizes: Radford et al. (2019), Table 2; {SOURCE}", tuple(_gpt2(*_GPT2[name])))
    if name == "vgg-16":
        return Profile(name, f"sizes: Simonyan and Zisserman (2015); {SOURCE}", tuple(_vgg()))
    if name == "resnet-50":
        return Profile(name, f"sizes: He et al. (2016); {SOURCE}", tuple(_resnet()))
    return None


DATA_PARALLEL = (*_GPT2, "vgg-16", "resnet-50")
"""The names of the models."""


def _gpt2(width: int, layers: int, sequences: int) -> Iterator[Layer]:
    tokens = sequences * _CONTEXT
    yield estimated_layer("embedding", 0, (_VOCABULARY + _CONTEXT) * width)
    for number in range(layers):
        weights = 4 * width * width
        yield estimated_layer(f"block {number} attention", (weights + 2 * width * _CONTEXT) * tokens, weights)
        yield estimated_layer(f"block {number} feed-forward", 8 * width * width * tokens, 8 * width * width)
    yield estimated_layer("output", width * _VOCABULARY * tokens, 0)


def _vgg() -> Iterator[Layer]:
    channels, side = 3, 224
    for stage, (wider, count) in enumerate(_VGG):
        for place in range(count):
            yield _convolution(f"stage {stage} convolution {place}", 3, channels, wider, side)
            channels = wider
        side //= 2
    for name, inputs, outputs in (
        ("dense 0", channels * side**2, 4096),
        ("dense 1", 4096, 4096),
        ("output", 4096, 1000),
    ):
        yield estimated_layer(name, inputs * outputs * _IMAGES, inputs * outputs)


def _resnet() -> Iterator[Layer]:
    yield _convolution("stem", 7, 3, 64, 112)
    channels, side = 64, 56
    for stage, (inner, blocks) in enumerate(_RESNET):
        for block in range(blocks):
            name = f"stage {stage} block {block}"
            yield _convolution(f"{name} reduce", 1, channels, inner, side)
            yield _convolution(f"{name} convolution", 3, inner, inner, side)
            yield _convolution(f"{name} expand", 1, inner, 4 * inner, side)
            if block == 0:
                yield _convolution(f"{name} shortcut", 1, channels, 4 * inner, side)
            channels = 4 * inner
        side //= 2
    yield estimated_layer("output", channels * 1000 * _IMAGES, channels * 1000)


def _convolution(name: str, kernel: int, inputs: int, outputs: int, side: int) -> Layer:
    """Return a convolution whose output is an image of side x side."""
    weights = kernel**2 * inputs * outputs
    return estimated_layer(name, weights * side**2 * _IMAGES, weights)
