# Two commands do all the set-up: make grade, make test.
# With TORCH=cpu they take PyTorch's build without CUDA, which is much smaller.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
READY_TO_TEST := $(VENV)/.ready-to-test
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint .ci/constraints.txt

.PHONY: grade test prove matrix bench pictures clean

grade: $(READY)  ## grade exercises/ and leave report.html
	@$(BIN)/grade --in exercises || [ $$? -eq 1 ]
	@{ [ -e exercises/.gradlings.json ] || echo '{}' >exercises/.gradlings.json; } 2>/dev/null || true  # progress is kept there
	@echo "Next: . $(BIN)/activate && cd exercises && grade next"

test: export PYTHONDONTWRITEBYTECODE =  # else each of many processes compiles everything anew
test: $(READY_TO_TEST)  ## every test, the linters, the types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m pytest --numprocesses 3 --dist worksteal

# Verdicts are kept in .proof: a run that was cut goes on where it stopped, while course, engine and torch stay the same.
prove: $(READY_TO_TEST)  ## what takes longer: all attacks, all mutants, twenty seeds
	$(BIN)/python -m pytest -m "proof or not proof" -o faulthandler_timeout=7200
	$(BIN)/grade verify --seeds 20 --lang ko --table --keep .proof/verify.sqlite

matrix:  ## verify the course with the oldest, pinned and newest torch, on two Pythons; needs uv
	$(PYTHON) tests/matrix.py

pictures: $(READY_TO_TEST)  ## the documentation's pictures and its page of commands; needs Chromium
	$(BIN)/python tests/documentation.py --pictures
	$(BIN)/python tests/grader/lesson_pictures.py
	$(BIN)/python tests/grader/structure_pictures.py

bench: $(READY_TO_TEST)  ## the ratios of tests/README.md
	$(BIN)/python tests/benchmarks/bench.py

$(READY): pyproject.toml .ci/constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed; name one: make PYTHON=python3.12")'
	@mkdir -p $(VENV) || { echo "Name a folder that can be written for the environment: make grade VENV=$${TMPDIR:-/tmp}/gradlings"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@echo "Installing torch and the grader into $(VENV): this takes a minute or more."
ifeq ($(TORCH),cpu)
	$(PIP) --index-url https://download.pytorch.org/whl/cpu torch
endif
	$(PIP) --editable .
	@touch $@

$(READY_TO_TEST): $(READY)
	$(PIP) --editable ".[dev]"
	@touch $@

clean:
	rm -rf $(VENV) report.html
