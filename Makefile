# `make demo` grades the example class; `make test` tests every promise. Both set up .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WITH_CHECK := $(MAKE) --no-print-directory --jobs 2 check selected
# What failed in the last run comes first; ARGS="-k words" runs less.
PYTEST := $(BIN)/pytest -q -n auto --dist loadfile --no-loadscope-reorder --failed-first $(ARGS)
STAMP := $(VENV)/.ready

# Hundreds of processes import the kit: they are to read it compiled.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo quick test proof rest most selected check generate catalogues golden docs bench clean

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
		--roster tests/example_class/roster.csv --seed 1 --isolation $$isolation --table

# Format, lint, types, and who imports whom.
check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

# Three tiers of tests; the markers `slow` and `proof` say what belongs to which.
# quick: what takes no time; under a minute.
quick: setup
	@$(WITH_CHECK) SELECTED="not slow and not proof"

# test: every promise at least once; a few minutes.
test: setup
	@$(WITH_CHECK) SELECTED="not proof"

# proof: everything. Every attack as another user, many kills, real installs, both databases, the
# cluster, every variant and seed. `rest` is what it adds to `test`.
proof: test rest

rest: setup
	$(PYTEST) -m "proof"

# most: what CI has time for of the rest, in fifteen minutes on two cores.
most: setup
	$(PYTEST) -m "proof and not long"

# What was selected, beside format, lint and types.
selected:
	$(PYTEST) -m "$(SELECTED)"

# Write stubs and notebooks anew from the solutions.
generate: setup
	$(BIN)/grader generate

# Bring the catalogues of translations up to date, and compile them.
catalogues: setup
	$(BIN)/grader catalogues

# Write the golden results of the example class and of the hand-ins, and the README's pictures, anew;
# read the difference before committing it.
golden: setup
	$(BIN)/pytest -q tests/example_class tests/hand_ins tests/course/test_readme.py --update-golden

# The site of docs/, in build/docs; a page outside mkdocs.yml or a link to nowhere ends it (not with
# --quiet, which hides warnings from --strict, too).
docs: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# How fast, against what: ratios taken in one run; and how true the names of mistakes are.
bench: setup
	$(BIN)/python tests/benchmarks/names.py
	$(BIN)/python tests/benchmarks/leave_one_out.py
	$(BIN)/python tests/benchmarks/busy.py
	$(BIN)/python tests/benchmarks/isolation.py
	$(BIN)/python tests/benchmarks/watch.py
	$(BIN)/python tests/benchmarks/throughput.py
	$(BIN)/python tests/benchmarks/scale.py
	$(BIN)/python tests/benchmarks/term.py

clean:
	rm -rf build $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
