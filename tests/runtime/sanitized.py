"""A plugin of pytest that runs the tests with another build of the engine, which FORESTCOLL_ENGINE names.

`make sanitize` uses it. The build is loaded by hand, as the environment has the usual build under the same name.
"""

import importlib.machinery
import importlib.util
import os
import sys

import forestcoll

NAME = "forestcoll._runtime"


def load(path: str) -> None:
    loader = importlib.machinery.ExtensionFileLoader(NAME, path)
    spec = importlib.util.spec_from_file_location(NAME, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    sys.modules[NAME] = module
    setattr(forestcoll, NAME.rpartition(".")[2], module)


load(os.environ["FORESTCOLL_ENGINE"])
