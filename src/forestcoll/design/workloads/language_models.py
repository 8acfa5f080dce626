"""Profiles of large language models, from their published configurations.

The sizes are those of `config.json` on Hugging Face: the width (`hidden_size`), the width inside a feed-forward layer
(`intermediate_size`), the heads, and the vocabulary. `llama-3-119b` is Llama 3.1 405B with 36 of its 126 layers, as in
the ForestColl paper (§6.4). In a mixture of experts, each token goes to some of the experts of a layer. A batch is one
sequence a node, of 2,048 tokens for Gemma and 1,024 for others, as in the paper, which gives its batches for two models
only. Parameters, gradients and activations have 2 bytes (bfloat16).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from forestcoll.design.workloads.estimate import SOURCE, estimated_layer
from forestcoll.design.workloads.profile import Layer, Profile

_BYTES = 2
"""The bytes of a number."""


@dataclass(frozen=True)
class LanguageModel:
    """The sizes of a decoder whose feed-forward layers have a gate.

    Attributes:
        name: the name of the model.
        configuration: the repository on Hugging Face that has the sizes.
        width: the size of a token between layers.
        feed_forward: the width inside a feed-forward layer.
        heads: the number of heads of the queries.
        key_heads: the number of heads of the keys, and of the values.
        head: the size of a head.
        layers: the number of decoder layers.
        vocabulary: the number of tokens.
        tokens: the tokens of a batch on a node: one sequence.
        tied: whether the output has the weights of the embedding.
        experts: the number of experts in each layer; 0 for one feed-forward layer.
        active: the number of experts that a token goes to.

    Example:
        >>> next(model for model in LANGUAGE_MODELS if model.name == "llama-2-70b").parameters
        68975329280
    """

    name: str
    configuration: str
    width: int
    feed_forward: int
    heads: int
    key_heads: int
    head: int
    layers: int
    vocabulary: int
    tokens: int
    tied: bool = False
    experts: int = 0
    active: int = 0

    @property
    def parameters(self) -> int:
        """The weights of all layers, without normalisation."""
        layer = self._attention + self._router + max(1, self.experts) * self._feed_forward
        return self.layers * layer + (1 if self.tied else 2) * self.vocabulary * self.width

    @property
    def profile(self) -> Profile:
        """The profile of the model on a node that has all of it."""
        return Profile(self.name, f"sizes: {self.configuration}; {SOURCE}", tuple(self._layers()))

    @property
    def _attention(self) -> int:
        return 2 * (self.heads + self.key_heads) * self.head * self.width

    @property
    def _router(self) -> int:
        return self.experts * self.width

    @property
    def _feed_forward(self) -> int:
        return 3 * self.width * self.feed_forward

    def _layers(self) -> Iterator[Layer]:
        ends = self.vocabulary * self.width
        yield self._layer("embedding", 0, ends)
        attention = self._attention + self._router
        scores = 2 * self.heads * self.head * self.tokens
        added = self.tokens * self.width  # after the attention, and after the feed-forward layer
        for number in range(self.layers):
            name = f"layer {number}"
            if self.experts:
                yield self._layer(f"{name} attention", (attention + scores) * self.tokens, attention, added)
                yield self._expert_layer(f"{name} experts", added)
            else:
                weights = attention + self._feed_forward
                yield self._layer(name, (weights + scores) * self.tokens, weights, 2 * added)
        yield self._layer("output", ends * self.tokens, 0 if self.tied else ends)

    def _expert_layer(self, name: str, added: int) -> Layer:
        layer = self._layer(name, self.active * self._feed_forward * self.tokens, 0, added)
        size = _BYTES * self.experts * self._feed_forward
        return replace(layer, exchange_bytes=_BYTES * self.active * added, expert_bytes=size, experts=self.experts)

    @staticmethod
    def _layer(name: str, multiplications: int, parameters: int, added: int = 0) -> Layer:
        layer = estimated_layer(name, multiplications, 0)
        size = _BYTES * parameters
        return replace(layer, gradient_bytes=size, parameter_bytes=size, tensor_bytes=_BYTES * added)


_MIXTRAL, _QWEN = "mistralai/Mixtral-8x7B-v0.1", "Qwen/Qwen3-30B-A3B"

LANGUAGE_MODELS = (
    LanguageModel("gemma-2-2b", "google/gemma-2-2b", 2304, 9216, 8, 4, 256, 26, 256_000, 2048, tied=True),
    LanguageModel("gemma-2-27b", "google/gemma-2-27b", 4608, 36_864, 32, 16, 128, 46, 256_000, 2048, tied=True),
    LanguageModel("llama-2-7b", "meta-llama/Llama-2-7b-hf", 4096, 11_008, 32, 32, 128, 32, 32_000, 1024),
    LanguageModel("llama-2-70b", "meta-llama/Llama-2-70b-hf", 8192, 28_672, 64, 8, 128, 80, 32_000, 1024),
    LanguageModel("llama-3-8b", "meta-llama/Meta-Llama-3-8B", 4096, 14_336, 32, 8, 128, 32, 128_256, 1024),
    LanguageModel("llama-3-70b", "meta-llama/Meta-Llama-3-70B", 8192, 28_672, 64, 8, 128, 80, 128_256, 1024),
    LanguageModel("llama-3-119b", "meta-llama/Llama-3.1-405B", 16_384, 53_248, 128, 8, 128, 36, 128_256, 1024),
    LanguageModel(
        "mixtral-8x7b", "mistralai/Mixtral-8x7B-v0.1", 4096, 14_336, 32, 8, 128, 32, 32_000, 1024, experts=8, active=2
    ),
    LanguageModel(
        "qwen3-30b-a3b", "Qwen/Qwen3-30B-A3B", 2048, 768, 32, 4, 128, 48, 151_936, 1024, experts=128, active=8
    ),
)
"""The models of Figure 13 of the ForestColl paper, Llama 3 70B, and two mixtures of experts."""
