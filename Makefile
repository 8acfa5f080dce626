# All commands for developers; `make help` lists them.
# Each set-up step writes a stamp file to .venv/.stamps. It runs again only if its inputs have changed.
# All version numbers are in pyproject.toml.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMPS := $(VENV)/.stamps
DEMO   := build/demo/dgx-a100-2.json

# The list contains directories as well as files, so that a deleted file counts as a change.
NATIVE      := CMakeLists.txt $(shell find native -not -name '.*' 2>/dev/null)
CLANG_FILES := $(filter %.cpp %.h,$(NATIVE))

export PIP_DISABLE_PIP_VERSION_CHECK := 1
PIP := $(BIN)/python -m pip install --quiet

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL: # two pip processes must not write to the same environment
.PHONY: help setup demo test test-all torch browser sanitize bench bench-scale scale-table fabric fabric-all soak soak-long soak-runtime pictures docs lint format hooks clean distclean evidence mutants fuzz-native coverage coverage-native

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

setup: $(STAMPS)/package $(STAMPS)/test $(STAMPS)/lint ## create .venv with the package, the test tools and the linters

demo: $(STAMPS)/package ## build the package, generate an optimal schedule for two DGX A100 boxes and verify it
	@mkdir -p $(dir $(DEMO))
	@echo "== Generating an optimal allgather schedule for two DGX A100 boxes: $(DEMO)"
	$(BIN)/forestcoll generate dgx-a100:boxes=2 -o $(DEMO)
	@echo "== Verifying the file: every shard is delivered, no link is overloaded, the certificate proves the optimum"
	$(BIN)/forestcoll verify $(DEMO)

test: $(STAMPS)/package $(STAMPS)/test ## run the fast tests; those of the torch backend after `make torch`
	$(BIN)/python -m pytest -q -rs -n auto --dist worksteal

test-all: $(STAMPS)/package $(STAMPS)/test ## run all tests, including the slow ones
	FORESTCOLL_ALL_EXAMPLES=1 $(BIN)/python -m pytest -q -rs -n auto -m "" --timeout 1800

torch: $(STAMPS)/package $(STAMPS)/torch ## install the CPU build of PyTorch, so that the tests of the torch backend run

browser: $(STAMPS)/package $(STAMPS)/browser ## install playwright, so that the tests of the report run where chromium is installed

# Set up another build of the compiled modules in a folder of build/.
configure = $(BIN)/cmake -S . -B build/$(1) -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja \
  -DPython_EXECUTABLE=$(abspath $(BIN))/python -Dnanobind_DIR=$$($(BIN)/python -m nanobind --cmake_dir)

SANITIZERS := address thread
sanitize: $(addprefix sanitize-,$(SANITIZERS)) ## run the runtime's tests with an engine built for the address and the thread sanitizer

# AddressSanitizer comes with UndefinedBehaviorSanitizer. Python is not instrumented, so their libraries are preloaded, and
# leaks of Python itself are not reported. --capture=sys lets reports through.
sanitize-address sanitize-core sanitize-schedules: FLAGS := address,undefined
sanitize-thread: FLAGS := thread
sanitize-address sanitize-thread: MODULE := _runtime
sanitize-address sanitize-thread: VARIABLE := FORESTCOLL_ENGINE
sanitize-address sanitize-thread: SUITE := tests/runtime --ignore tests/runtime/emulation
sanitize-core: MODULE := _native
sanitize-core: VARIABLE := FORESTCOLL_CORE
CORE_SUITE := tests/kernels tests/solver/forests tests/solver/generation tests/solver/allreduce tests/contracts tests/simulation
sanitize-core: SUITE := $(CORE_SUITE)
sanitize-schedules: MODULE := _schedules
sanitize-schedules: VARIABLE := FORESTCOLL_SCHEDULES
sanitize-schedules: SUITE := tests/schedule tests/verification/trees tests/programs/interpreter
LIBRARY_address := libasan.so
LIBRARY_core := libasan.so
LIBRARY_schedules := libasan.so
LIBRARY_thread := libtsan.so
sanitize-core: ## run the tests of the native core with a core built for the address and undefined behaviour sanitizers
sanitize-schedules: ## run the tests of reading, writing and verifying schedules and programs with the same sanitizers
sanitize-%: $(STAMPS)/package $(STAMPS)/test
	@echo "== Building $(MODULE) with -fsanitize=$(FLAGS)"
	@$(call configure,sanitize-$*) -DCMAKE_BUILD_TYPE=Release -DFORESTCOLL_SANITIZE=$(FLAGS) >/dev/null
	@$(BIN)/cmake --build build/sanitize-$* --target $(MODULE) >/dev/null
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=exitcode=66 \
	  $(VARIABLE)=$$(ls $(abspath build/sanitize-$*)/$(MODULE)*.so) PYTHONPATH=src:tests/common \
	  env LD_PRELOAD="$$($(CXX) -print-file-name=$(LIBRARY_$*)) $$($(CXX) -print-file-name=libstdc++.so)" \
	  $(BIN)/python -m pytest -q --capture=sys -p sanitized $(SUITE)

# Each file of benchmarks/ has one subject: `make bench SUBJECT=tuning ARGS=dgx-a100:boxes=2`.
SUBJECT ?= sizes
bench: $(STAMPS)/package ## measure the time of schedules for growing networks, or another SUBJECT=FILE of benchmarks/
	$(BIN)/python benchmarks/$(SUBJECT).py $(ARGS)

bench-scale: $(STAMPS)/package ## measure time and memory by family of networks, up to 16,384 nodes
	$(BIN)/python benchmarks/scale.py

# The last commit of the first stage, which all later figures are compared with.
FIRST_STAGE := afe6059
scale-table: $(STAMPS)/package ## measure all families next to the first stage, and renew the table and the history in docs/benchmarks.md
	$(BIN)/python benchmarks/scale.py --limit 300 --against $(FIRST_STAGE) --document docs/benchmarks.md \
	  --history benchmarks/scale_history.csv

# gloo is a row of the comparison where torch is installed.
fabric: $(STAMPS)/package $(STAMPS)/fabric ## compare schedules and libraries on an emulated network, needs root (3 minutes)
	$(BIN)/python benchmarks/fabric.py

fabric-all: $(STAMPS)/package $(STAMPS)/fabric ## the same on all networks, with iterations of training
	$(BIN)/python benchmarks/fabric.py --all

soak: $(STAMPS)/package ## look for faults for 12 minutes: random networks, schedules, command lines and files
	$(BIN)/python soak/reliability.py

soak-long: $(STAMPS)/package ## look for faults for about an hour on 2 cores, and write the figures into docs/reliability.md
	$(BIN)/python soak/reliability.py --hour --document docs/reliability.md

# Parts of `verification/`, each with its own tests; one process for all would need more and more time.
MUTANTS := trees/ flows/ steps/ series/ bundle/ routes/ proof_checks/
MUTANTS += "claims.py first_wrong.py network.py permutations.py reading.py report.py rule.py verifiers.py wording.py"
mutants: $(STAMPS)/package $(STAMPS)/test ## change each line of the verifier, and look for changes that no test notices
	@failed=0; for part in $(MUTANTS); do \
	  echo "== Changing $$part"; \
	  FORESTCOLL_ALL_EXAMPLES=1 $(BIN)/python soak/mutants.py $$part || failed=1; \
	done; exit $$failed

coverage: $(STAMPS)/package $(STAMPS)/test ## show what the fast tests execute of the Python code, by package; at least 97 %
	rm -rf build/coverage
	FORESTCOLL_ALL_EXAMPLES=1 $(BIN)/python -m coverage run -m pytest -q -n auto
	$(BIN)/python -m coverage combine -q
	$(BIN)/python -m coverage json -q -o build/coverage/report.json
	$(BIN)/python tools/covered.py python build/coverage/report.json

# gcov counts how often each line runs. Old counts are removed, and the modules are compiled without much optimisation.
coverage-native: SUITE := $(CORE_SUITE) tests/schedule tests/verification/trees tests/programs/interpreter tests/solver/bounds tests/solver/flows tests/runtime
coverage-native: $(STAMPS)/package $(STAMPS)/test ## show the lines of the native code that no test executes
	@echo "== Building the compiled modules with --coverage"
	@$(call configure,coverage-native) -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-g -O1" \
	  -DCMAKE_CXX_FLAGS="--coverage -fprofile-update=atomic" >/dev/null
	@$(BIN)/cmake --build build/coverage-native >/dev/null
	@find build/coverage-native -name '*.gcda' -delete
	FORESTCOLL_ALL_EXAMPLES=1 FORESTCOLL_CORE=$$(ls $(abspath build/coverage-native)/_native*.so) \
	  FORESTCOLL_SCHEDULES=$$(ls $(abspath build/coverage-native)/_schedules*.so) \
	  FORESTCOLL_ENGINE=$$(ls $(abspath build/coverage-native)/_runtime*.so) PYTHONPATH=src:tests/common \
	  $(BIN)/python -m pytest -q -n auto -p sanitized $(SUITE)
	$(BIN)/python tools/covered.py native build/coverage-native

soak-runtime: $(STAMPS)/package ## break ranks of the runtime 300 times, then run mixed operations for two minutes
	$(BIN)/python soak/faults.py
	$(BIN)/python soak/runtime_soak.py

# Inputs that reach new lines are kept in build/fuzz-native, so that the next run continues with them.
FUZZERS := rows trees flows
FUZZ_SECONDS ?= 60
FUZZ_FLAGS := -std=c++20 -O1 -g -Wall -Wextra -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -Inative
fuzz-native: ## fuzz the native code that reads schedules, verifies trees and finds cuts, with clang's libFuzzer, FUZZ_SECONDS each
	@echo 'int LLVMFuzzerTestOneInput(const char*, unsigned long);' \
	  'int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }' | \
	  clang -x c - -fsanitize=fuzzer,address -o /dev/null 2>/dev/null || { \
	  echo "make fuzz-native needs clang with libFuzzer; on Debian 12: apt install clang libclang-rt-14-dev" >&2; exit 1; }
	@mkdir -p $(addprefix build/fuzz-native/inputs/,$(FUZZERS))
	@printf '[0, 16, 1], [0,17]' >build/fuzz-native/inputs/rows/first
	@for each in $(FUZZERS); do \
	  echo "== Fuzzing native/fuzz/$$each.cpp for $(FUZZ_SECONDS) seconds"; \
	  clang++ $(FUZZ_FLAGS) native/fuzz/$$each.cpp -o build/fuzz-native/$$each || exit 1; \
	  build/fuzz-native/$$each -max_total_time=$(FUZZ_SECONDS) -timeout=10 -max_len=1024 -print_final_stats=1 \
	    -artifact_prefix=build/fuzz-native/$$each- build/fuzz-native/inputs/$$each \
	    >build/fuzz-native/$$each.log 2>&1 || { tail -n 40 build/fuzz-native/$$each.log; exit 1; }; \
	  tail -n 6 build/fuzz-native/$$each.log; \
	done

# ONLY=one-port/theorem-7 makes one exhibit, ONLY=one-port those of a page. LARGEST=256 limits the number of nodes.
evidence: $(STAMPS)/package $(STAMPS)/test ## make the tables and figures of the papers again and write docs/evidence
	$(BIN)/python evidence/papers.py $(ONLY) $(if $(LARGEST),--largest $(LARGEST))

pictures: $(STAMPS)/package ## draw the pictures of the documents into docs/pictures
	$(BIN)/python tools/document_pictures.py

docs: $(STAMPS)/package $(STAMPS)/docs ## build the site of the documents into build/site; a warning is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

# .pre-commit-config.yaml has the same checks for `git commit`.
lint: $(STAMPS)/package $(STAMPS)/test $(STAMPS)/lint ## check style, types, import layers and native formatting, as in CI
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
ifneq ($(CLANG_FILES),)
	$(BIN)/clang-format --dry-run -Werror $(CLANG_FILES)
endif

format: $(STAMPS)/lint ## apply all automatic fixes of the formatters and linters
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format
ifneq ($(CLANG_FILES),)
	$(BIN)/clang-format -i $(CLANG_FILES)
endif

hooks: $(STAMPS)/lint ## run the checks of `make lint` on every git commit
	$(BIN)/pre-commit install

clean: ## remove build results and caches, keep .venv
	rm -rf build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache $(STAMPS)/package
	find src tests benchmarks evidence soak tools examples -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

distclean: clean ## remove .venv too
	rm -rf $(VENV)

# sed reads requires-python, because an old Python cannot read TOML.
$(STAMPS)/venv:
	@least=$$(sed -n 's/^requires-python = ">=\([0-9.]*\)"/\1/p' pyproject.toml); \
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < tuple(map(int, '$$least'.split('.'))))" 2>/dev/null || { \
	  found=$$($(PYTHON) --version 2>/dev/null) || found="not installed"; \
	  echo "forestcoll needs Python $$least or newer, and '$(PYTHON)' is $$found;" \
	    "choose another one: make PYTHON=/path/to/python$$least" >&2; exit 1; }
	@echo "== Creating the virtual environment $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@mkdir -p $(STAMPS) && touch $@

# The requirements in a list of pyproject.toml: $(call requirements,project["..."]...). pip reads groups only since 25.1.
requirements = $(BIN)/python -c 'import tomllib; \
  project = tomllib.load(open("pyproject.toml", "rb")); groups = project["dependency-groups"]; print(*($1), sep="\n")'

# The build requirements are installed once, not in a new isolated environment for each build. Their paths stay the same,
# so a rebuild compiles only changed files.
$(STAMPS)/build: pyproject.toml $(STAMPS)/venv
	@echo "== Installing the build tools"
	@$(call requirements,project["build-system"]["requires"] + groups["build"]) >$@.txt
	@$(PIP) -r $@.txt
	@touch $@

# Editable installation: Python files are read from src/, and the compiled module from the environment.
$(STAMPS)/package: $(NATIVE) $(STAMPS)/build
	@echo "== Building the native core and installing forestcoll"
	@$(PIP) --no-build-isolation --editable .
	@touch $@

# pip looks where it is configured to look, then in PyTorch's index of CPU builds. The version exists only as a CPU build.
TORCH_INDEX := https://download.pytorch.org/whl/cpu

$(STAMPS)/torch: pyproject.toml $(STAMPS)/venv
	@echo "== Installing the CPU build of PyTorch"
	@$(call requirements,groups["$(@F)"]) >$@.txt
	@$(PIP) -r $@.txt 2>/dev/null || $(PIP) --extra-index-url $(TORCH_INDEX) -r $@.txt
	@touch $@

$(STAMPS)/test $(STAMPS)/lint $(STAMPS)/fabric $(STAMPS)/browser $(STAMPS)/docs: pyproject.toml $(STAMPS)/venv
	@echo "== Installing the tools of the dependency group '$(@F)'"
	@$(call requirements,groups["$(@F)"]) >$@.txt
	@$(PIP) -r $@.txt
	@touch $@
