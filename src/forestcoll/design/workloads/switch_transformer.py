"""Profiles of Switch Transformers, from their published sizes.

The sizes are those of W. Fedus, B. Zoph, N. Shazeer, *Switch Transformers*, JMLR 23 (2022), Table 9: width,
feed-forward width, attention heads of size 64, number of layers in the encoder and in the decoder, number of experts,
and the distance between layers with experts. A batch has 2^20 tokens.

The direct-connect paper measured its computing times on an A100 but does not publish them. Here they are estimated
(`estimate`). Exchanged tokens have 2 bytes per number.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from forestcoll.base.errors import InputError, shown
from forestcoll.design.workloads import estimate
from forestcoll.design.workloads.estimate import estimated_layer
from forestcoll.design.workloads.profile import Layer, Profile

SOURCE = f"sizes: Fedus et al., Switch Transformers, JMLR 23 (2022), Table 9; {estimate.SOURCE}"
_HEAD = 64
_VOCABULARY = 32_128
_BATCH_TOKENS = 2**20
_SEQUENCE = 512


@dataclass(frozen=True)
class SwitchTransformer:
    """The sizes of a model.

    Attributes:
        name: the name of the model.
        width: the size of a token between layers.
        feed_forward: the width inside a feed-forward layer.
        heads: the number of attention heads, each of size 64.
        layers: the number of layers in the encoder. The decoder has the same number.
        experts: the number of experts in a layer with experts.
        every: one of `every` layers has experts.
        gated: whether a feed-forward layer has a gate, which makes three matrices instead of two.
    """

    name: str
    width: int
    feed_forward: int
    heads: int
    layers: int
    experts: int
    every: int
    gated: bool

    @property
    def has_exchanges(self) -> bool:
        """Whether nodes exchange data in all-to-alls, as experts need it."""
        return self.experts > 0

    def on(self, nodes: int) -> Profile:
        """Return the profile of the model on that many nodes, as `switch_profile` does."""
        return switch_profile(self, nodes)


SWITCH_TRANSFORMERS = (
    SwitchTransformer("switch-base-256", 768, 2048, 12, 12, 256, 2, gated=True),
    SwitchTransformer("switch-large-128", 1024, 2816, 16, 24, 128, 2, gated=True),
    SwitchTransformer("switch-c-2048", 2080, 6144, 32, 15, 2048, 1, gated=False),
)
"""Switch-Base with 256 experts (14.7 billion parameters), Switch-Large, and Switch-C (1.6 trillion)."""


def switch_profile(model: SwitchTransformer, nodes: int) -> Profile:
    """Return the profile of a model on one of `nodes` nodes. Each node has an equal part of the batch and the experts.

    Raises:
        InputError: the batch cannot be divided equally over the nodes.
    """
    if type(nodes) is not int or nodes < 2 or _BATCH_TOKENS % nodes:
        raise InputError(f"{model.name} on {shown(nodes)} nodes; expected 2 or more, a divisor of {_BATCH_TOKENS}")
    tokens = _BATCH_TOKENS // nodes
    layers = [estimated_layer("embedding", 0, model.width * _VOCABULARY)]
    for stack, attentions in (("encoder", 1), ("decoder", 2)):
        for number in range(model.layers):
            layers.extend(
                _block(model, f"{stack} {number}", attentions, tokens, with_experts=(number + 1) % model.every == 0)
            )
    layers.append(estimated_layer("output", model.width * _VOCABULARY * tokens, 0))
    return Profile(f"{model.name} on {nodes} nodes", SOURCE, tuple(layers))


def _block(model: SwitchTransformer, name: str, attentions: int, tokens: int, *, with_experts: bool) -> Iterator[Layer]:
    inner = model.heads * _HEAD
    for place in range(attentions):
        weights = 4 * model.width * inner
        scores = 2 * inner * _SEQUENCE  # products of a token with its sequence, then of the scores with the values
        which = "attention" if place == 0 else "cross-attention"
        yield estimated_layer(f"{name} {which}", (weights + scores) * tokens, weights, 0)
    weights = (3 if model.gated else 2) * model.width * model.feed_forward
    if with_experts:
        router = model.width * model.experts
        yield estimated_layer(f"{name} router", router * tokens, router, 0)
        experts = estimated_layer(f"{name} experts", weights * tokens, 0, 2 * model.width * tokens)
        yield replace(experts, expert_bytes=4 * model.experts * weights, experts=model.experts)
    else:
        yield estimated_layer(f"{name} feed-forward", weights * tokens, weights, 0)
