# The two commands of the README are `make run` and `make test`; both set themselves up first.
SHELL := /bin/sh
VENV  := .venv
BIN   := $(VENV)/bin
REPO  ?= .
PYTEST_FLAGS ?= -n auto

.DEFAULT_GOAL := help
.PHONY: help run test check format clean

help:
	@echo "make run          set up, then open the cockpit (REPO=PATH for another repository)"
	@echo "make test         set up, then run the test suite"
	@echo "make check        types, lint and import contracts"
	@echo "make format       format the code"
	@echo "make screenshots  draw the pictures of the README anew"

# `make test` upgrades what `make run` made: the second stamp needs the first.
$(VENV)/.installed: pyproject.toml tools/setup
	@tools/setup $(VENV)

$(VENV)/.installed-dev: $(VENV)/.installed
	@tools/setup $(VENV) dev

run: $(VENV)/.installed
	@colonizer=$$(pwd)/$(BIN)/colonizer; cd "$(REPO)" && exec "$$colonizer" tui

test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest $(PYTEST_FLAGS)

check: $(VENV)/.installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/mypy
	$(BIN)/pyright

format: $(VENV)/.installed-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV)
