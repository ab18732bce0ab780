# Every command of the project. `make` alone lists them.

PYTHON ?= python3
UV_VERSION := 0.13.7
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
UV_INSTALL := $(BIN)/uv pip install --python $(BIN)/python --quiet

.DEFAULT_GOAL := help
.PHONY: help setup demo up down test test-faults check bench lock clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(INSTALLED) ## .venv with the pinned packages and the airmirror command, and Kafka's jars; run again, it does nothing
	@$(BIN)/python -m world.archive

# Never emptied: services of `make demo` may be running from it. For another Python: make clean.
$(INSTALLED): requirements.txt requirements-dev.txt pyproject.toml
	@echo "installing the pinned packages into $(VENV) (a minute or two)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@$(UV_INSTALL) --require-hashes --compile-bytecode -r requirements.txt -r requirements-dev.txt
	@$(UV_INSTALL) --no-deps -e .
	@touch $@

demo: setup ## two clusters and Airflow on this machine, with data, replicating both ways; they stay up until `make down`
	@$(BIN)/python -m world.demo

up: setup ## Airflow on your own clusters: make up CONFIG=path/to/mm2.properties
	@test -n "$(CONFIG)" || { echo "which clusters? make up CONFIG=path/to/mm2.properties" >&2; exit 2; }
	@$(BIN)/python -m world.up "$(CONFIG)"

down: ## stop what `make demo` or `make up` started
	@if test -x $(BIN)/python; then $(BIN)/python -m world.down; fi

# Most of a test's time is waiting for a broker, Spark or Airflow to start: four at a time fill two cores.
WORKERS ?= 4
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) --dist loadscope --no-loadscope-reorder

test: setup ## the tests, each fault once; what CI runs (what takes long: make test-faults)
	@$(PYTEST) $(ARGS)

test-faults: setup ## kills at every named point, each five times, and what else takes long (an hour)
	@AIRMIRROR_FAULT_REPEATS=5 $(PYTEST) -m "faults or long" $(ARGS)

check: setup ## style, types, import rules
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: setup ## MM2 and airmirror on the same topics, one after the other: make bench ARGS="--records 200000"
	@$(BIN)/python -m bench $(ARGS)

lock: setup ## pin requirements*.in anew, with hashes
	@$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header \
	  requirements.in --output-file requirements.txt
	@$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header \
	  requirements-dev.in --output-file requirements-dev.txt
	@$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header \
	  requirements-docker.in --output-file requirements-docker.txt

clean: down ## remove everything that is not in the repository, .venv and jars too
	@rm -rf $(VENV) .kafka .demo .airflow .bench .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
