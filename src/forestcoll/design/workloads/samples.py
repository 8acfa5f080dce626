"""The sample models, by their names."""

from forestcoll.base.errors import InputError, did_you_mean, shown
from forestcoll.base.files import as_path, is_standard_stream
from forestcoll.design.workloads.data_parallel import DATA_PARALLEL, data_parallel_profile
from forestcoll.design.workloads.language_models import LANGUAGE_MODELS
from forestcoll.design.workloads.profile import Profile, read_profile
from forestcoll.design.workloads.switch_transformer import SWITCH_TRANSFORMERS, SwitchTransformer

SAMPLES = (
    *(model.name for model in SWITCH_TRANSFORMERS),
    *DATA_PARALLEL,
    *(model.name for model in LANGUAGE_MODELS),
)
"""The names of all samples."""


def sample_named(name: str) -> SwitchTransformer | Profile | None:
    """Return the model called `name`, or None if there is none. Its method `on` returns the profile for a network.

    Example:
        >>> sample_named("switch-c-2048").experts
        2048
        >>> sample_named("gpt2-small").on(12).name
        'gpt2-small'
    """
    switch = next((model for model in SWITCH_TRANSFORMERS if model.name == name), None)
    language = next((model.profile for model in LANGUAGE_MODELS if model.name == name), None)
    return switch or language or data_parallel_profile(name)


def profile_of(name: str) -> SwitchTransformer | Profile:
    """Return the sample called `name`, or else the profile in the file of that name.

    Example:
        >>> profile_of("gpt2-smal")
        Traceback (most recent call last):
        forestcoll.base.errors.InputError: 'gpt2-smal': no such sample or file; did you mean 'gpt2-small'? the samples \
are switch-base-256, switch-large-128, switch-c-2048, gpt2-small, gpt2-medium, gpt2-large, vgg-16, resnet-50, gemma-2-\
2b, gemma-2-27b, llama-2-7b, llama-2-70b, llama-3-8b, llama-3-70b, llama-3-119b, mixtral-8x7b, qwen3-30b-a3b

    Raises:
        InputError: there is neither, or the file is not a valid profile.
    """
    sample = sample_named(name)
    if sample is not None:
        return sample
    path = as_path(name)
    if not is_standard_stream(path) and not path.exists():
        hint = did_you_mean(name, SAMPLES)
        raise InputError(f"{shown(name)}: no such sample or file; {hint}the samples are {', '.join(SAMPLES)}")
    return read_profile(path)
