# `make demo` grades the example class; `make test` runs every test. Both set up .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready

.PHONY: setup demo test quick check generate catalogues golden bench clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'Python 3.11 or newer is needed; say which with make PYTHON=...')"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $(STAMP)

demo: setup
	@if $(BIN)/grader doctor > /dev/null; then isolation=sealed; else \
		echo "This machine cannot seal student code; see \`grader doctor\`."; isolation=process; fi; \
	$(BIN)/grader grade tests/example_class/submissions --out build/demo \
		--roster tests/example_class/roster.csv --seed 1 --isolation $$isolation

# Format, lint and types.
check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

# The same and the fast part of the tests.
quick: check
	$(BIN)/pytest -q -n auto --dist loadfile --no-loadscope-reorder -m "not slow"

# The same and every test.
test: check
	$(BIN)/pytest -q -n auto --dist loadfile --no-loadscope-reorder

# Write stubs and notebooks anew from the solutions.
generate: setup
	$(BIN)/grader generate

# Bring the catalogues of translations up to date, and compile them.
catalogues: setup
	$(BIN)/grader catalogues

# Write the golden results of the example class anew; read the difference before committing it.
golden: setup
	$(BIN)/pytest -q tests/example_class --update-golden

# How fast, against what: ratios taken in one run.
bench: setup
	$(BIN)/python tests/benchmarks/isolation.py
	$(BIN)/python tests/benchmarks/watch.py
	$(BIN)/python tests/benchmarks/throughput.py

clean:
	rm -rf build $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
