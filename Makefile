# Every target sets up what it needs in a virtual environment of its own; nothing has to be
# installed by hand, and nothing needs root.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Enough to play, evaluate and make datasets; and everything that development needs.
PLAYABLE := $(VENV)/.playable
READY := $(VENV)/.ready
SANDBOX_READY := $(VENV)/.sandbox-ready
SANDBOX_TESTS := tests/unit/sandboxes tests/unit/verifiers/test_program.py \
	tests/integration/test_languages.py tests/integration/test_sandbox_hostile.py \
	tests/adversarial/test_program_exploits.py tests/unit/verifiers/hdl

# Types are checked part by part, since a machine may limit the CPU time of a process; what was
# checked is not checked again.
TYPED := rlvr_envs/core rlvr_envs/agents $(dir $(wildcard rlvr_envs/envs/*/__init__.py))

# Where a process may use little CPU time the build is killed, and goes on from its cache.
CACHED := $(BIN)/zensical build --strict -f mkdocs.yml

.PHONY: help demo test test-sandboxes test-all mutants check docs bench clean

help:  ## show the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11 ..."; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' \
		|| { echo "this Python has no venv module; on Debian: apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)

# The constraints name every package, so first each is installed as it stands, a few at a time, and
# one by one where that is killed: a machine may limit the CPU time of a process. What a package of
# another platform needs besides is found afterwards, and everything is compiled in batches.
PINNED = grep -v '^\#' constraints.txt
PIP = $(BIN)/python -m pip install --quiet --no-deps --no-compile
AGAIN = $(PIP) --ignore-installed "$$one"
INSTALL = xargs -n 3 sh -c '$(PIP) "$$@" || for one; do $(AGAIN) || $(AGAIN) || exit 255; done' pip
COMPILE = find $(VENV)/lib rlvr_envs -name '*.py' -print0 \
	| xargs -0 -n 250 -P 2 $(BIN)/python -W ignore -m compileall -qq || true  # some are no modules

# The large packages among what playing needs are installed like that, the others all at once.
LARGE := numpy ortools pandas plotly pyarrow pyosys sympy z3-solver

$(PLAYABLE): pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PINNED) | grep $(LARGE:%=-e '^%=') | $(INSTALL)
	$(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt \
		--editable ".[report,solvers,verilog]"
	$(COMPILE)
	touch $@

$(READY): pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PINNED) | $(INSTALL)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt \
		--editable ".[dev,docker,docs,lora,report,search,solvers,train,verilog]"
	$(COMPILE)
	touch $@ $(PLAYABLE) $(SANDBOX_READY)

$(SANDBOX_READY): pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PINNED) | grep -v -e '^torch=' -e '^transformers=' -e '^trl=' -e '^peft=' -e '^datasets=' | $(INSTALL)
	$(PIP) --editable .
	$(COMPILE)
	touch $@

demo: $(PLAYABLE)  ## play every domain with the oracle and the baselines, and write a report
	$(BIN)/python scripts/demo.py --out demo

test: $(READY)  ## everything but the slow tests
	$(BIN)/python scripts/run_tests.py -n 2 -m "not slow"

# One file at a time: Linux limits the processes of a user, those of another test included.
test-sandboxes: $(SANDBOX_READY)  ## only what runs programs: sandboxes, languages, exploits
	$(BIN)/python scripts/run_tests.py -n 1 -m "not slow" $(SANDBOX_TESTS)

test-all: $(READY)  ## every test
	$(BIN)/python scripts/run_tests.py -n 2

mutants: $(READY)  ## measure which small faults in core and verifiers the tests notice (ARGS="--seed 1")
	$(BIN)/python scripts/mutants.py $(ARGS)

check: $(READY)  ## what CI checks before the tests: format, lint, types, imports, docs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	for part in $(TYPED); do $(BIN)/mypy $$part || exit 1; done
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(MAKE) docs

docs: $(READY)  ## build the site into site/, warnings are errors
	$(BIN)/python scripts/gen_env_pages.py
	$(BIN)/zensical build --strict --clean -f mkdocs.yml || { test $$? -eq 137 && $(CACHED); }

bench: $(READY)  ## run the benchmarks (installs the projects they compare with into benchmarks/.peers)
	$(BIN)/python benchmarks/throughput.py --install-peers
	$(BIN)/python benchmarks/math_verifier.py
	$(BIN)/python benchmarks/sandbox.py
	$(BIN)/python benchmarks/throughput.py --domain np_hard
	$(BIN)/python benchmarks/throughput.py --domain puzzles
	$(BIN)/python benchmarks/np_bench.py
	$(BIN)/python benchmarks/ladder.py
	$(BIN)/python benchmarks/search.py
	$(BIN)/python benchmarks/search_corpus.py
	$(BIN)/python benchmarks/search_baselines.py
	$(BIN)/python benchmarks/verilog.py
	$(BIN)/python benchmarks/verilog_soundness.py

clean:  ## remove what the targets made
	rm -rf $(VENV) site demo build dist docs/environments .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
