"""Profiles of large language models, from their published configurations.

The sizes are those of `config.json` on Hugging Face: the width (`hidden_size`), the width inside a feed-forward layer
(`intermediate_size`), the heads, and the vocabulary. `llama-3-119b` is Llama 3.1 405B with 36 of its 126 layers, as in
the ForestColl paper (§6.4). A batch is one sequence a node, of 2,048 tokens for Gemma and 1,024 for Llama, as there
(the paper gives its batches for two models only). Parameters, gradients and activations have 2 bytes (bfloat16).
"""

from collections.abc import Iterator
from dataclasses import dataclass

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

    @property
    def weights(self) -> int:
        """The weights of one decoder layer, without normalisation."""
        attention = 2 * (self.heads + self.key_heads) * self.head * self.width
        return attention + 3 * self.width * self.feed_forward

    @property
    def parameters(self) -> int:
        """The weights of all layers, without normalisation."""
        return self.layers * self.weights + (1 if self.tied else 2) * self.vocabulary * self.width

    @property
    def profile(self) -> Profile:
        """The profile of the model on a node that has all of it."""
        return Profile(self.name, f"sizes: {self.configuration}; {SOURCE}", tuple(self._layers()))

    def _layers(self) -> Iterator[Layer]:
        ends = self.vocabulary * self.width
        yield self._layer("embedding", 0, ends)
        scores = 2 * self.heads * self.head * self.tokens
        for number in range(self.layers):
            added = 2 * self.tokens * self.width  # after the attention, and after the feed-forward layer
            yield self._layer(f"layer {number}", (self.weights + scores) * self.tokens, self.weights, added)
        yield self._layer("output", ends * self.tokens, 0 if self.tied else ends)

    @staticmethod
    def _layer(name: str, multiplications: int, parameters: int, added: int = 0) -> Layer:
        layer = estimated_layer(name, multiplications, 0)
        size = _BYTES * parameters
        return Layer(name, layer.forward_us, layer.backward_us, size, 0, size, _BYTES * added)


LANGUAGE_MODELS = (
    LanguageModel("gemma-2-2b", "google/gemma-2-2b", 2304, 9216, 8, 4, 256, 26, 256_000, 2048, tied=True),
    LanguageModel("gemma-2-27b", "google/gemma-2-27b", 4608, 36_864, 32, 16, 128, 46, 256_000, 2048, tied=True),
    LanguageModel("llama-2-7b", "meta-llama/Llama-2-7b-hf", 4096, 11_008, 32, 32, 128, 32, 32_000, 1024),
    LanguageModel("llama-2-70b", "meta-llama/Llama-2-70b-hf", 8192, 28_672, 64, 8, 128, 80, 32_000, 1024),
    LanguageModel("llama-3-8b", "meta-llama/Meta-Llama-3-8B", 4096, 14_336, 32, 8, 128, 32, 128_256, 1024),
    LanguageModel("llama-3-70b", "meta-llama/Meta-Llama-3-70B", 8192, 28_672, 64, 8, 128, 80, 128_256, 1024),
    LanguageModel("llama-3-119b", "meta-llama/Llama-3.1-405B", 16_384, 53_248, 128, 8, 128, 36, 128_256, 1024),
)
"""The models of Figure 13 of the ForestColl paper, and Llama 3 70B."""
