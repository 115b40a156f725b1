# Two commands on a fresh machine: `make demo` and `make test` do all the set-up.
PYTHON ?= python3
PIP_ARGS ?=
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo check test test-slow bench bench-plan bench-search bench-defaults bench-opacus docs clean help
.DEFAULT_GOAL := help

help:
	@echo "make demo            what an honest search costs, on the README's example"
	@echo "make test            the tests (at most five minutes on two cores)"
	@echo "make check           format, lint, types, import directions"
	@echo "make test-slow       statistics, seeded bugs, audits (about an hour)"
	@echo "make bench           training beside Opacus, plain torch and the floor (20 minutes, quiet machine)"
	@echo "make bench-plan      calibration beside dp-accounting's own, in one run"
	@echo "make bench-search    whole searches on Adult, every procedure at one epsilon (20 minutes; HONESTDP_DATA)"
	@echo "make bench-opacus    one job both ways: Optuna around Opacus, and honestdp (20 minutes)"
	@echo "make docs            the documentation site, in build/site"
	@echo "make bench-defaults  where the default lot size, steps and kappa come from (15 minutes; HONESTDP_DATA)"

# Made anew when what it is made from changes; otherwise a second run starts at once.
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "honestdp needs Python 3.11 or later; try: make PYTHON=python3.11 demo" >&2; exit 2; }
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV) (the first time only) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt $(PIP_ARGS) -e ".[dev]"
	@touch $@

demo: $(READY)
	$(BIN)/honestdp plan --n 36177 --lot-size 250 --steps 2500 --candidates 40 --epsilon 1

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Two processes, each with one thread: more would only wait for each other.
test: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2

test-slow: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -m slow

bench: $(READY)
	$(BIN)/python benchmarks/engine.py

bench-plan: $(READY)
	$(BIN)/python benchmarks/plan.py

# They save as they go: the same command goes on with what was interrupted.
bench-search: $(READY)
	$(BIN)/python benchmarks/search.py

bench-defaults: $(READY)
	$(BIN)/python benchmarks/defaults.py

bench-opacus: $(READY)
	$(BIN)/python benchmarks/opacus_optuna.py

docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict --site-dir build/site

clean:
	rm -rf $(VENV) build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
