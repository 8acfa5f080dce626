"""A plugin of pytest that runs the tests with other builds of the compiled modules.

FORESTCOLL_ENGINE names a build of the engine, FORESTCOLL_CORE one of the native core, FORESTCOLL_SCHEDULES one of the
module that reads, writes and verifies schedules. `tools/sanitize.py` and
`tools/covered.py native` use it. The builds are loaded by hand, as the environment has the usual ones under the same
names.
"""

import importlib.machinery
import importlib.util
import os
import sys

import forestcoll

MODULES = {
    "FORESTCOLL_CORE": "forestcoll.kernels._native",
    "FORESTCOLL_ENGINE": "forestcoll.runtime._runtime",
    "FORESTCOLL_SCHEDULES": "forestcoll.schedule._schedules",
}
"""The module that the build in each environment variable replaces."""


def load(name: str, path: str) -> None:
    loader = importlib.machinery.ExtensionFileLoader(name, path)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    sys.modules[name] = module
    setattr(forestcoll, name.rpartition(".")[2], module)


builds = {name: os.environ[variable] for variable, name in MODULES.items() if variable in os.environ}
if not builds:
    raise RuntimeError(f"{' or '.join(MODULES)} must name a build, as tools/sanitize.py does")
for module_name, build in builds.items():
    load(module_name, build)
