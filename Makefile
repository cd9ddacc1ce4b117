.DEFAULT_GOAL := help
.PHONY: help run test fuzz mutants coverage check types format bench versions release clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed
PEERS := .venv-peers
STUDY := build/study
SITE := build/docs
FOLDER ?= src/hyperlvq
N ?= 20
SEED ?= 0

help: ## show what can be made
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/'

run: $(INSTALLED) ## the paper's study on scikit-learn's data sets, ending with the path of the page
	rm -rf $(STUDY)
	$(BIN)/hyperlvq study run --seeds 1 -o $(STUDY)
	$(BIN)/hyperlvq study report $(STUDY) -o $(STUDY)/report.html

test: $(INSTALLED) ## run all tests, then measure coverage with compilation switched off
	$(BIN)/pytest
	$(MAKE) coverage

fuzz: $(INSTALLED) ## the fuzzers of tables, files, archives and downloads, at length
	HYPERLVQ_FUZZ=100 $(BIN)/pytest -m fuzz

coverage: $(INSTALLED) ## branch coverage of kernels, hidden and readouts, interpreted
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest -q --cov --cov-report=term-missing:skip-covered \
		--cov-fail-under=95 tests/kernels tests/readouts tests/test_hidden.py

mutants: $(INSTALLED) ## draw N mutants of a FOLDER by a SEED and list those that no test notices
	$(BIN)/python tools/mutants.py $(FOLDER) --number $(N) --seed $(SEED)

check: $(INSTALLED) ## formatting, lint, types, import directions
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

types: $(INSTALLED) ## the share of public symbols with known types, by pyright (pip install pyright)
	PATH="$(abspath $(BIN)):$$PATH" pyright --verifytypes hyperlvq --ignoreexternal | sed -n '/^Symbols exported/,$$p'

format: $(INSTALLED) ## format and mend what can be mended
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

.PHONY: docs links
docs: $(INSTALLED) ## the documentation site, ending with the path of its first page
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going docs $(SITE)
	@echo $(SITE)/index.html

links: $(INSTALLED) ## whether all links of the documentation into the network still lead somewhere
	$(BIN)/sphinx-build --quiet --define plot_gallery=0 -b linkcheck docs build/links

bench: $(INSTALLED) $(PEERS)/installed ## time kernels, peers, a large fit, scaling, a cluster, a GPU if there is one
	$(BIN)/python bench/run.py --peers-python $(PEERS)/bin/python

versions: ## the tests with the oldest and the newest dependencies, by PYTHON
	$(PYTHON) tools/versions.py --python $(PYTHON)

release: $(INSTALLED) ## build sdist and wheel, and try both in empty environments
	$(BIN)/python -m pip install --quiet --editable '.[release]'
	$(BIN)/python tools/release.py

clean: ## remove the environments and all caches
	rm -rf $(VENV) $(PEERS) .*_cache .hypothesis .coverage build dist docs/gallery docs/reference/generated
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(INSTALLED): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

$(PEERS)/installed: bench/requirements-peers.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --upgrade pip
	$(PEERS)/bin/python -m pip install --quiet --requirement $<
	touch $@
