"""The sample models, by their names."""

from forestcoll.training.data_parallel import DATA_PARALLEL, data_parallel_profile
from forestcoll.training.profile import Profile
from forestcoll.training.switch_transformer import SWITCH_TRANSFORMERS, SwitchTransformer

SAMPLES = (*(model.name for model in SWITCH_TRANSFORMERS), *DATA_PARALLEL)
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
    return switch or data_parallel_profile(name)
