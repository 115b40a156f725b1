# Two commands on a fresh machine: `make demo` and `make test` do all the set-up.
PYTHON ?= python3
PIP_ARGS ?=
VENV := .venv
BIN := $(VENV)/bin
# A failed install is a failure, although its words go through a filter.
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
INSTALLED := $(VENV)/.installed
READY := $(VENV)/.ready
INSTALL := $(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt $(PIP_ARGS)
DOTS := awk '/^(Collecting|Requirement|Installing)/ { printf "."; fflush() } END { print "" }'
RESULTS := reproduction/src/honestdp_reproduction/results
DEMO := build/demo

.PHONY: demo check test browser test-slow test-nightly bench bench-plan bench-search bench-defaults bench-representation bench-opacus paper docs clean help
.DEFAULT_GOAL := help

help:
	@echo "make demo            a private model of a census table, its card and its report (a minute, once installed)"
	@echo "make test            the quick tests (at most four minutes on two cores)"
	@echo "make check           format, lint, types, import directions"
	@echo "make test-slow       statistics, every seeded bug, audits, the browser (about 20 minutes)"
	@echo "make test-nightly    the largest statistics and audits, and what each found (an hour)"
	@echo "make browser         installs Chromium for the tests in a browser (as root, Debian's package)"
	@echo "make bench           training beside Opacus, plain torch and the floor (20 minutes, quiet machine)"
	@echo "make bench-plan      calibration beside dp-accounting's own, in one run"
	@echo "make bench-search    whole searches, every procedure at one epsilon (20 minutes on Adult, hours on the rest; HONESTDP_DATA)"
	@echo "make bench-opacus    one job both ways: Optuna around Opacus, and honestdp (20 minutes)"
	@echo "make paper           the paper's experiments: what has no results yet (hours; HONESTDP_DATA), docs/paper.md"
	@echo "make docs            the documentation site, in build/site"
	@echo "make bench-defaults  where the default lot size, steps and kappa come from (15 minutes; HONESTDP_DATA)"
	@echo "make bench-representation  what the default encoding gains, table by table (an hour; HONESTDP_DATA)"

# Made anew when what it is made from changes; otherwise a second run starts at once. The demo needs
# the library alone; everything else the tools of its developers and the reproduction of the paper.
$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "honestdp needs Python 3.11 or later; try: make PYTHON=python3.11 demo" >&2; exit 2; }
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV): the first time only, a dot a package, a few minutes"
	@$(INSTALL) -e . | $(DOTS)
	@touch $@

$(READY): $(INSTALLED) reproduction/pyproject.toml
	@echo "installing what tests and tools need: the first time only, a dot a package"
	@$(INSTALL) -e ".[dev]" -e reproduction | $(DOTS)
	@touch $@

demo: $(INSTALLED)
	@rm -rf $(DEMO) && mkdir -p $(DEMO)  # its table is public: each demo may start with a new ledger
	$(BIN)/honestdp tune --yes --test-share auto --groups sex --ledger $(DEMO)/adult.ledger --out $(DEMO)/run

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Tests write thousands of small files, each synced to its disk: into memory where there is room.
MEMORY := $(shell test -w /dev/shm && test $$(df -Pk /dev/shm | awk 'NR == 2 { print $$4 }') -gt 4000000 && echo TMPDIR=/dev/shm)
PYTEST := $(MEMORY) OMP_NUM_THREADS=1 $(BIN)/python -m pytest

# Processes with one thread each, one a core; slow tests often wait for others, so one more.
test: $(READY)
	$(PYTEST) -n 2 --dist worksteal

test-slow: $(READY)
	$(PYTEST) -n 3 --dist worksteal -m "slow and not nightly"

# What it found: every test by name with its outcome, and the slowest with their times.
test-nightly: $(READY)
	$(PYTEST) -n 2 --dist worksteal -m nightly -v -rA --durations=0

browser:
	@command -v chromium chromium-browser google-chrome || { export DEBIAN_FRONTEND=noninteractive; \
	  apt-get -qq update && apt-get -qq install -y --no-install-recommends chromium fonts-dejavu-core; }

bench: $(READY)
	$(BIN)/python benchmarks/engine.py

bench-plan: $(READY)
	$(BIN)/python benchmarks/plan.py

# They save as they go: the same command goes on with what was interrupted.
bench-search: $(READY)
	$(BIN)/python benchmarks/search.py
	$(BIN)/python benchmarks/searches.py

bench-defaults: $(READY)
	$(BIN)/python benchmarks/defaults.py

bench-representation: $(READY)
	$(BIN)/python benchmarks/representation.py

bench-opacus: $(READY)
	$(BIN)/python benchmarks/opacus_optuna.py

# Each goes on with what it has saved; the page and its pictures are made from the results alone.
paper: $(READY)
	@for name in heatmap-synthetic heatmap-enron defaults advantage pruning adaptive threshold step-size honest-frontier balanced; do \
	  $(BIN)/honestdp paper $$name --results $(RESULTS) > /dev/null || exit 1; done
	$(BIN)/python tools/paper_page.py --pictures

docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict --site-dir build/site

clean:
	rm -rf $(VENV) build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
