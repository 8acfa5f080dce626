"""The profile of a job: the layers of a model on one node, or collectives. Format `forestcoll.profile/1`.

    {"format": "forestcoll.profile/1", "name": "...", "source": "...",
     "layers": [{"name": "encoder 0 attention", "forward_us": 120.5, "backward_us": 241, "gradient_bytes": 9437184},
                {"name": "encoder 0 experts", "forward_us": 90, "backward_us": 180, "exchange_bytes": 6291456}, ...]}

Layers are listed in the order of the forward pass. `gradient_bytes` is the size of the gradients that data parallelism
reduces over all nodes. `exchange_bytes` is the data that a node sends in the all-to-all before the layer, and again in
the one after the layer, in both passes. With a layout (`sharded`), `parameter_bytes` is the size of the parameters that
are collected before the layer, and `tensor_bytes` that of the activations that tensor parallelism adds up after it, in
both passes. `expert_bytes` is the size of the parameters of all `experts` of the layer together, and that of their
gradients; these parameters are neither in `parameter_bytes` nor in `gradient_bytes`. These keys are optional, with the
default 0.

Instead of layers, a profile may list collectives, each with its size M and how often it runs:

    {"format": "forestcoll.profile/1", "name": "...",
     "collectives": [{"collective": "allreduce", "size": "25MB", "weight": 12},
                     {"collective": "groups:members='tp=4,dp=8',run=tp,collective=allreduce", "size": 4096}, ...]}

The weight is optional, with the default 1.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from itertools import starmap
from pathlib import Path
from typing import cast

from forestcoll.base.errors import InputError, nearest, shown
from forestcoll.base.exact import MAX_DIGITS, to_fraction
from forestcoll.base.file_kinds import PROFILE, check_kind
from forestcoll.base.files import read_document, write_text
from forestcoll.base.units import data_size

PROFILE_FORMAT = "forestcoll.profile/1"

_SHARDED = ("parameter_bytes", "tensor_bytes", "expert_bytes", "experts")
"""The keys of layers that only a layout needs."""

_COUNTS = dict.fromkeys(("gradient_bytes", "exchange_bytes", *_SHARDED), "bytes") | {"experts": "experts"}
"""The optional keys of layers, and what they count."""

_LAYER = ("name", "forward_us", "backward_us", *_COUNTS)
_COLLECTIVE = ("collective", "size", "weight")
_FILE = ("format", "name", "source", "layers", "collectives")
"""The keys of objects."""


@dataclass(frozen=True)
class Layer:
    """A layer of a model, on one node.

    Attributes:
        name: the label of the layer in pictures.
        forward_us: computing time in the forward pass, in microseconds.
        backward_us: computing time in the backward pass, in microseconds.
        gradient_bytes: size of the gradients that are summed over all nodes.
        exchange_bytes: data that a node sends in each all-to-all: one before and one after the layer, in each pass.
        parameter_bytes: size of the parameters, which FSDP collects before each pass through the layer.
        tensor_bytes: size of the activations that tensor parallelism adds up after the layer, in each pass.
        expert_bytes: size of the parameters of all experts together, which are also the sizes of their gradients.
        experts: the number of experts; 0 if it is not known.
    """

    name: str
    forward_us: Fraction
    backward_us: Fraction
    gradient_bytes: int = 0
    exchange_bytes: int = 0
    parameter_bytes: int = 0
    tensor_bytes: int = 0
    expert_bytes: int = 0
    experts: int = 0

    def repeated(self, times: int) -> "Layer":
        """Return the layer with that many times the batch."""
        grows = ("forward_us", "backward_us", "exchange_bytes", "tensor_bytes")
        return replace(self, **{key: times * getattr(self, key) for key in grows})


@dataclass(frozen=True)
class SizedCollective:
    """A collective of a job.

    Attributes:
        collective: the collective, or groups that run at the same time, as the text of a demand.
        size: M, in bytes.
        weight: how often it runs, or its probability.
    """

    collective: str
    size: int
    weight: Fraction = Fraction(1)


@dataclass(frozen=True)
class Profile:
    """A model on one node, or collectives with their sizes.

    Attributes:
        name: the name of the model.
        source: where the figures come from.
        layers: the layers in the order of the forward pass.
        collectives: what runs, if there are no layers.
    """

    name: str
    source: str
    layers: tuple[Layer, ...]
    collectives: tuple[SizedCollective, ...] = ()

    def trained_layers(self) -> tuple[Layer, ...]:
        """Return the layers.

        Raises:
            InputError: there are none.
        """
        if not self.layers:
            raise InputError(
                f"{self.name}: has collectives and no layers, which a training iteration needs; 'forestcoll design "
                "--profile' takes collectives"
            )
        return self.layers

    @property
    def has_exchanges(self) -> bool:
        """Whether a layer exchanges data in all-to-alls."""
        return any(layer.exchange_bytes for layer in self.layers)

    def on(self, nodes: int) -> "Profile":  # noqa: ARG002 (the method of `SwitchTransformer` uses it)
        """Return the profile itself: a file holds the times of the number of nodes that it was made for."""
        return self

    def repeated(self, times: int) -> "Profile":
        """Return the profile with that many times the batch: the parameters and their gradients stay as they are.

        Example:
            >>> layer = Layer("a", Fraction(10), Fraction(20), 400, exchange_bytes=30)
            >>> more = Profile("p", "", (layer,)).repeated(2).layers[0]
            >>> str(more.forward_us), more.gradient_bytes, more.exchange_bytes
            ('20', 400, 60)
        """
        return replace(self, layers=tuple(layer.repeated(times) for layer in self.layers))

    @property
    def computing_us(self) -> Fraction:
        """The computing time of both passes, in microseconds."""
        return sum((layer.forward_us + layer.backward_us for layer in self.layers), Fraction(0))


def read_profile(path: Path) -> Profile:
    """Read a profile from a file.

    Raises:
        InputError: the file cannot be read or is not a valid profile. The message names the layer and the value.
    """
    document = read_document(path)
    check_kind(document, PROFILE, str(path))
    if document.get("format") != PROFILE_FORMAT:
        raise InputError(f"{path}: format is {shown(document.get('format'))}; expected {PROFILE_FORMAT!r}")
    _check_keys(str(path), document, _FILE)
    name, source = _text(str(path), document, "name", path.stem), _text(str(path), document, "source", "")
    if "collectives" in document:
        if "layers" in document:
            raise InputError(f"{path}: has layers and collectives; leave one of them out")
        return Profile(name, source, (), tuple(starmap(_sized, _listed(path, document, "collectives", "collective"))))
    profile = Profile(name, source, tuple(starmap(_layer, _listed(path, document, "layers", "layer"))))
    if not profile.computing_us:
        raise InputError(f"{path}: no layer computes; give a layer a forward_us or a backward_us above 0")
    return profile


def _listed(path: Path, document: Mapping[str, object], key: str, noun: str) -> Iterator[tuple[str, object]]:
    """Yield where each item of a list is, and the item."""
    listed = document.get(key)
    if not isinstance(listed, list) or not listed:
        raise InputError(f"{path}: {key} is {shown(listed)}; expected a list of at least one {noun}")
    yield from ((f"{path}: {noun} {place}", each) for place, each in enumerate(listed))


def _sized(where: str, document: object) -> SizedCollective:
    if not isinstance(document, dict):
        raise InputError(f"{where} is {shown(document)}; expected an object with collective and size")
    known = cast("Mapping[str, object]", document)
    _check_keys(where, known, _COLLECTIVE)
    name = _text(where, known, "collective", "")
    weight = _amount(where, {"weight": 1, **known}, "weight", "times", "12")
    if not weight:
        raise InputError(f"{where}: weight is 0; expected more than 0")
    try:
        size = data_size(cast("str", known.get("size")))
    except InputError as error:
        raise InputError(f"{where}: size: {error}") from None
    return SizedCollective(name, size, weight)


def _layer(where: str, document: object) -> Layer:
    if not isinstance(document, dict):
        raise InputError(f"{where} is {shown(document)}; expected an object with forward_us and backward_us")
    known = cast("Mapping[str, object]", document)
    _check_keys(where, known, _LAYER)
    return Layer(
        name=_text(where, known, "name", where.rpartition(": ")[2]),
        forward_us=_time(where, known, "forward_us"),
        backward_us=_time(where, known, "backward_us"),
        **{key: _count(where, known, key, unit) for key, unit in _COUNTS.items()},
    )


def _check_keys(where: str, document: Mapping[str, object], known: Sequence[str]) -> None:
    """Check that no unknown key looks like a missing one; other keys are ignored."""
    for key in document:
        meant = None if key in known else nearest(key, known)
        if meant is not None and meant not in document:
            raise InputError(f"{where} has {shown(key)} and no {meant!r}; give {meant!r}, or rename {shown(key)}")


def _text(where: str, document: Mapping[str, object], key: str, default: str) -> str:
    value = document.get(key, default)
    if not isinstance(value, str):
        raise InputError(f"{where}: {key} is {shown(value)}; expected a text")
    return value


def _time(where: str, document: Mapping[str, object], key: str) -> Fraction:
    return _amount(where, document, key, "microseconds", "120.5")


def _amount(where: str, document: Mapping[str, object], key: str, unit: str, example: str) -> Fraction:
    value = document.get(key)
    try:
        amount = to_fraction(value)
    except ValueError as error:
        raise InputError(f"{where}: {key} {shown(value)} {error}; write {unit} such as {example}") from None
    if amount < 0:
        raise InputError(f"{where}: {key} is {shown(value)}; expected 0 {unit} or more")
    return amount


def _count(where: str, document: Mapping[str, object], key: str, unit: str) -> int:
    value = document.get(key, 0)
    if type(value) is not int or not 0 <= value < 10**MAX_DIGITS:
        raise InputError(
            f"{where}: {key} is {shown(value)}; expected a whole number of {unit}, 0 or more, of at most {MAX_DIGITS} "
            "digits"
        )
    return value


def write_profile(profile: Profile, path: Path) -> None:
    """Write a profile to a file. If writing fails, an existing file stays as it was.

    Raises:
        InputError: the file cannot be written.
    """
    write_text(path, profile_text(profile))


def profile_text(profile: Profile) -> list[str]:
    """Return the pieces of the JSON text of a profile, with one line per layer or collective."""
    key, documents = "layers", [_layer_document(layer) for layer in profile.layers]
    if profile.collectives:
        key = "collectives"
        documents = [{**asdict(each), "weight": str(each.weight)} for each in profile.collectives]
    lines = [json.dumps(each) for each in documents]
    head = {"format": PROFILE_FORMAT, "name": profile.name, "source": profile.source}
    return [json.dumps(head)[:-1], f',\n"{key}": [\n', ",\n".join(lines), "\n]}\n"]


def _layer_document(layer: Layer) -> dict[str, object]:
    document: dict[str, object] = {
        "name": layer.name,
        "forward_us": str(layer.forward_us),
        "backward_us": str(layer.backward_us),
        "gradient_bytes": layer.gradient_bytes,
        "exchange_bytes": layer.exchange_bytes,
    }
    return document | {key: size for key in _SHARDED if (size := getattr(layer, key))}
