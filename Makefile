# Every target sets up what it needs in a virtual environment of its own; nothing has to be
# installed by hand, and nothing needs root.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALL = $(BIN)/python -m pip install --quiet --constraint constraints.txt
# What playing needs, what tests of sandboxes need, and everything that development needs.
PLAYABLE := $(VENV)/.playable
SANDBOXES := $(VENV)/.sandboxes
READY := $(VENV)/.ready

.PHONY: help demo test test-sandboxes test-all mutants check docs bench clean

help:  ## show the targets
	@grep -E '^[a-z%-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11 ..."; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' \
		|| { echo "this Python has no venv module; on Debian: apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(PLAYABLE): pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) --editable ".[report,solvers,verilog]"
	touch $@

$(SANDBOXES): pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) --editable ".[docker,verilog]" hypothesis pytest pytest-timeout
	touch $@

$(READY): pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) --editable ".[all,dev,docs]"
	touch $@ $(PLAYABLE) $(SANDBOXES)

demo: $(PLAYABLE)  ## play every domain with the oracle and the baselines, and write a report
	$(BIN)/python scripts/demo.py --out demo

test: $(READY)  ## everything but the slow tests; says first what is missing here and skipped
	$(BIN)/rlvr doctor --missing
	$(BIN)/pytest -n auto -m "not slow"

# In one process: Linux limits the processes of a user, those of another test included.
test-sandboxes: $(SANDBOXES)  ## only what depends on who runs it: sandboxes, languages
	$(BIN)/pytest -m "not slow" tests/unit/sandboxes tests/integration/test_sandbox_hostile.py \
		tests/integration/test_languages.py tests/unit/verifiers/hdl/test_prove.py

test-all: $(READY)  ## every test, on many more problems
	$(BIN)/pytest -n auto --thorough

integration-%: $(READY)  ## test with a real client in an environment of its own, such as integration-trl
	$(BIN)/python scripts/client_env.py $*
	RLVR_REQUIRE_CLIENTS=$* $(BIN)/pytest tests/clients/test_$*.py

mutants: $(READY)  ## measure which small faults in core and verifiers the tests notice (ARGS="--seed 1")
	$(INSTALL) --editable ".[mutation]"
	$(BIN)/python benchmarks/mutation_score.py $(ARGS)

check: $(READY) docs  ## what CI checks before the tests: format, lint, types, imports, docs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(READY)  ## build the site into site/, warnings are errors
	$(BIN)/python scripts/gen_env_pages.py
	$(BIN)/python scripts/gen_benchmark_pages.py
	$(BIN)/python scripts/gen_papers_page.py
	$(BIN)/zensical build --strict --clean -f mkdocs.yml

bench: $(READY)  ## run the benchmarks (installs the projects they compare with into benchmarks/.peers)
	$(BIN)/python benchmarks/throughput.py --install-peers
	for domain in np_hard puzzles; do $(BIN)/python benchmarks/throughput.py --domain $$domain || exit 1; done
	for name in math_verifier sandbox np_bench levels search search_corpus search_baselines verilog \
		verilog_soundness; do $(BIN)/python benchmarks/$$name.py || exit 1; done

clean:  ## remove what the targets made
	rm -rf $(VENV) site demo build dist docs/environments docs/results .*_cache .hypothesis
