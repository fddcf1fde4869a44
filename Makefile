# Each target sets up what it needs in .venv: Python 3.11+ and make are enough.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: run test check bench fuzz soak docs clean
.DEFAULT_GOAL := run

run: .venv/ready
	@$(BIN)/deadheat demo

test: .venv/ready-dev
	@echo "test: the whole suite"
	@$(BIN)/pytest -n auto --dist loadfile

check: .venv/ready-dev
	@echo "check: ruff, mypy --strict, the house test"
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/pytest tests/test_house.py

bench: .venv/ready-dev
	@$(BIN)/python -m benchmarks

# Mutated scenario files and options through the commands: make fuzz COUNT=200 SEED=7
COUNT ?= 2000
SEED ?= 1
fuzz: .venv/ready-dev
	@$(BIN)/python tests/fuzz/fuzz.py --count $(COUNT) --seed $(SEED)

# Workers that are killed, stopped and continued at random, and workers that compute wrongly: make soak SECONDS=60
SECONDS ?= 180
soak: .venv/ready-dev
	@$(BIN)/python tests/soak/random_signals.py --seconds $(SECONDS) --seed $(SEED)
	@$(BIN)/python tests/soak/wrong_results.py

docs: .venv/ready-docs
	@echo "docs: drawing the gallery"
	@$(BIN)/python docs/draw_gallery.py
	@$(BIN)/sphinx-build -W --keep-going -q -b html docs build/docs
	@echo "docs: open build/docs/index.html"

clean:
	rm -rf .venv build

# One stamp per set of extras; a changed pyproject.toml installs again.
.venv/bin/python:
	@echo "setting up: a virtual environment in .venv"
	@$(PYTHON) -c 'import sys; sys.exit("deadheat needs Python 3.11 or newer; set PYTHON=...") if sys.version_info < (3, 11) else None'
	@$(PYTHON) -m venv .venv

.venv/ready: pyproject.toml | .venv/bin/python
	@echo "setting up: deadheat and what it needs"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

.venv/ready-%: pyproject.toml | .venv/bin/python
	@echo "setting up: deadheat with its '$*' extra"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$*]'
	@touch $@
