# Everything a developer does, as one word each: `make help` lists them.
# A step that sets something up leaves a stamp in .venv/.stamps and runs again only when what it read has changed.
# No version stands here: pyproject.toml holds them all.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMPS := $(VENV)/.stamps
DEMO   := build/demo/dgx-a100-2.json

# The directories are listed beside the files so that a deleted file counts as a change.
NATIVE      := CMakeLists.txt $(shell find native -not -name '.*' 2>/dev/null)
CLANG_FILES := $(filter %.cpp %.h,$(NATIVE))

export PIP_DISABLE_PIP_VERSION_CHECK := 1
PIP := $(BIN)/python -m pip install --quiet

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL: # two pips must not write into one environment
.PHONY: help setup demo test test-all bench bench-scale soak figures lint format hooks clean distclean

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' Makefile

setup: $(STAMPS)/package $(STAMPS)/test $(STAMPS)/lint ## make .venv with the package, the tests' tools and the linters

demo: $(STAMPS)/package ## build the package, generate an optimal schedule for two DGX A100 boxes and verify it
	@mkdir -p $(dir $(DEMO))
	@echo "== Generating the allgather schedule of the highest throughput on two DGX A100 boxes into $(DEMO)"
	$(BIN)/forestcoll generate dgx-a100:boxes=2 -o $(DEMO)
	@echo "== Verifying the file anew: every shard is delivered, no link is overloaded, the certificate proves the optimum"
	$(BIN)/forestcoll verify $(DEMO)

test: $(STAMPS)/package $(STAMPS)/test ## run the fast tests
	$(BIN)/python -m pytest -q -n auto

test-all: $(STAMPS)/package $(STAMPS)/test ## run all tests, the slow ones too
	$(BIN)/python -m pytest -q -n auto -m ""

bench: $(STAMPS)/package ## measure how long schedules of growing networks take
	$(BIN)/python benchmarks/sizes.py

bench-scale: $(STAMPS)/package ## measure how time and memory grow, up to 16,384 nodes, family by family
	$(BIN)/python benchmarks/scale.py

soak: $(STAMPS)/package ## hold the ways against each other on random networks for ten minutes
	$(BIN)/python benchmarks/soak.py

figures: $(STAMPS)/package $(STAMPS)/test ## draw the figures of the direct-connect paper anew, into build/figures
	$(BIN)/python benchmarks/figures.py

# The same checks stand in .pre-commit-config.yaml, for `git commit`.
lint: $(STAMPS)/package $(STAMPS)/test $(STAMPS)/lint ## check style, types, layers and native formatting, as CI does
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
ifneq ($(CLANG_FILES),)
	$(BIN)/clang-format --dry-run -Werror $(CLANG_FILES)
endif

format: $(STAMPS)/lint ## mend what the formatters and linters can mend by themselves
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format
ifneq ($(CLANG_FILES),)
	$(BIN)/clang-format -i $(CLANG_FILES)
endif

hooks: $(STAMPS)/lint ## run the checks of `make lint` at every git commit
	$(BIN)/pre-commit install

clean: ## remove what was built and cached, keep .venv
	rm -rf build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache $(STAMPS)/package
	find src tests benchmarks examples -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

distclean: clean ## remove .venv too
	rm -rf $(VENV)

# requires-python is read by sed, as a Python that is too old cannot read TOML.
$(STAMPS)/venv:
	@least=$$(sed -n 's/^requires-python = ">=\([0-9.]*\)"/\1/p' pyproject.toml); \
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < tuple(map(int, '$$least'.split('.'))))" 2>/dev/null || { \
	  found=$$($(PYTHON) --version 2>/dev/null) || found="not there"; \
	  echo "forestcoll needs Python $$least or newer, and '$(PYTHON)' is $$found;" \
	    "name another one: make PYTHON=/path/to/python$$least" >&2; exit 1; }
	@echo "== Making the virtual environment $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@mkdir -p $(STAMPS) && touch $@

# What a list in pyproject.toml asks for: $(call requirements,project["..."]...). pip reads groups itself only since 25.1.
requirements = $(BIN)/python -c 'import tomllib; \
  project = tomllib.load(open("pyproject.toml", "rb")); groups = project["dependency-groups"]; print(*($1), sep="\n")'

# The build requirements are installed once, not anew in an isolated environment at each build: their paths stay the
# same, so a rebuild compiles only what changed.
$(STAMPS)/build: pyproject.toml $(STAMPS)/venv
	@echo "== Installing the build tools"
	@$(call requirements,project["build-system"]["requires"] + groups["build"]) >$@.txt
	@$(PIP) -r $@.txt
	@touch $@

# Editable: Python files are read from src/, the compiled module from the environment.
$(STAMPS)/package: $(NATIVE) $(STAMPS)/build
	@echo "== Building the native core and installing forestcoll"
	@$(PIP) --no-build-isolation --editable .
	@touch $@

$(STAMPS)/test $(STAMPS)/lint: pyproject.toml $(STAMPS)/venv
	@echo "== Installing the tools of the dependency group '$(@F)'"
	@$(call requirements,groups["$(@F)"]) >$@.txt
	@$(PIP) -r $@.txt
	@touch $@
