# Everything a clone needs, each target from nothing: Python 3.11 or newer and a C compiler are enough.
#
#   make demo        compile and run an operator on the emulated AI Core
#   make test        style, types, imports, lit tests, fast unit tests
#   make test-all    the slow ones too
#   make bench       speed, as ratios to NumPy; the cycle model beside measured times
#   make clean       remove what was built (the virtual environment stays)
#
# PYTHON=python3.12 chooses the interpreter, JOBS=4 how many tests run at once.

PYTHON ?= python3
JOBS ?= 2
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test test-all check lit unit bench clean

demo: $(READY)
	$(BIN)/ascir demo

# pytest comes last, so that its closing line closes the run.
test: check lit unit

test-all: MARKERS := slow or not slow
test-all: test

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-logo
	$(BIN)/basedpyright

lit: $(READY)
	$(BIN)/lit -q -v -j $(JOBS) tests/lit

MARKERS ?= not slow
unit: $(READY)
	$(BIN)/pytest -q -n $(JOBS) -m "$(MARKERS)"

bench: $(READY)
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/model.py

# The stamp is written last: an installation that broke off is done again, a finished one only when pyproject.toml changes.
$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "ascir needs Python 3.11 or newer; name one: make PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

clean:
	rm -rf build dist *.egg-info .pytest_cache .ruff_cache .import_linter_cache .hypothesis ascir-dump ascir-demo
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
