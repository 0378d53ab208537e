# The two commands of the README are `make run` and `make test`; both set themselves up first.
SHELL := /bin/sh
VENV  := .venv
BIN   := $(VENV)/bin
REPO  ?= .
PYTEST_FLAGS ?= -n auto --dist worksteal
# The published mothership that `contract` tests against; one that is there already can be named.
PUBLISHED ?= $(VENV)/published
# How often `soak` runs each storm.
SOAK ?= 10000

# Compiled once, the program starts in half the time, whatever the shell says about bytecode.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run test contract soak check format screenshots bench clean

help:
	@echo "make run          set up, then open the cockpit (REPO=PATH for another repository)"
	@echo "make test         set up, then run the test suite"
	@echo "make contract     test against the published mothership, which is installed first: that takes long"
	@echo "make soak         run the fault storms 10000 times each (SOAK=N for another number), and properties with many examples"
	@echo "make check        types, lint and import contracts"
	@echo "make format       format the code"
	@echo "make screenshots  draw the pictures of the README anew"
	@echo "make bench        measure speed and size (BENCH=\"start lists\" for some of it)"
	@echo "make clean        remove what was set up"

# Some shells leave the ~ of REPO=~/project to us.
run: FOLDER = $(patsubst ~/%,$(HOME)/%,$(REPO))
run:
	@cd -- "$(FOLDER)" 2>/dev/null || { echo 'colonizer: no folder to open: REPO=$(REPO)' >&2; exit 2; }
	@tools/setup "$(VENV)"
	@cd -- "$(FOLDER)" && exec "$(CURDIR)/$(BIN)/colonizer" tui

test:
	@tools/setup "$(VENV)" test
	"$(BIN)/python" -m pytest $(PYTEST_FLAGS)

contract:
	@tools/setup "$(VENV)" test
	@tools/contract/install "$(PUBLISHED)"
	COLONIZER_PUBLISHED="$(abspath $(PUBLISHED))" "$(BIN)/python" -m pytest tests/contract $(PYTEST_FLAGS)

soak:
	@tools/setup "$(VENV)" test
	@PYTHONPATH=tests "$(BIN)/python" tools/soak.py "$(SOAK)"
	"$(BIN)/python" -m pytest $(PYTEST_FLAGS) -m hypothesis --hypothesis-profile soak

check:
	@tools/setup "$(VENV)" check
	"$(BIN)/ruff" format --check .
	"$(BIN)/ruff" check .
	"$(BIN)/lint-imports"
	"$(BIN)/mypy"
	"$(BIN)/pyright"

format:
	@tools/setup "$(VENV)" check
	"$(BIN)/ruff" format .
	"$(BIN)/ruff" check --fix .

screenshots:
	@tools/setup "$(VENV)" test
	"$(BIN)/python" tools/screenshots.py

bench:
	@tools/setup "$(VENV)" test
	@cd tools && exec "$(CURDIR)/$(BIN)/python" -m bench $(BENCH)

clean:
	rm -rf "$(VENV)"
