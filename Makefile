# Everything a person or CI calls. `make` alone lists it.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PY := .venv/bin/python
ENV := source tools/env.sh
READY := .venv/.ready
# Two processes, each with files of its own: one waits for Spark's driver most of the time.
TWO := -n 2 --dist loadfile --no-loadscope-reorder

.PHONY: help
help: ## Show the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  \033[36m%-12s\033[0m %s\n", $$1, $$2}'

$(READY): requirements.txt pyproject.toml tools/setup.sh lakekit/spark/session/jars.py
	bash tools/setup.sh
	touch $@

.PHONY: setup
setup: $(READY) ## Virtual environment, packages, Java and Node if absent, Iceberg jars

.PHONY: test
test: $(READY) lint ## Lint, types, import contracts, then all tests of the default suite
	$(ENV) && $(PY) -m pytest $(TWO)

.PHONY: test-all
test-all: $(READY) ## All tests, with the variants that `test` leaves out
	$(ENV) && $(PY) -m pytest $(TWO) --long

.PHONY: test-long
test-long: $(READY) ## The merge against its model, on ten thousand random histories (SEED=n for others)
	$(ENV) && $(PY) -m pytest --long -n 2 --dist worksteal tests/model tests/spark/stories/test_histories*.py --histories 10000 --seed $(or $(SEED),0)

.PHONY: test-flow
test-flow: $(READY) ## The flow of runs, on ten thousand simulated schedules (SEED=n for others)
	$(ENV) && $(PY) -m tests.flow --seeds 10000 --first $(or $(SEED),0)

.PHONY: unit
unit: $(READY) ## The fast tier: no Spark, AWS only as moto
	$(ENV) && $(PY) -m pytest tests/unit

.PHONY: lint
lint: $(READY) ## Ruff, mypy and the import contracts
	$(ENV) && .venv/bin/ruff check . && .venv/bin/ruff format --check . && $(PY) -m mypy && .venv/bin/lint-imports

.PHONY: demo
demo: $(READY) ## Three real releases through the whole suite, on this machine
	$(ENV) && $(PY) -m lakekit.cli.demo

.PHONY: demo-changes
demo-changes: $(READY) ## Change files that arrive late, again and corrected, in a local warehouse
	$(ENV) && $(PY) -m lakekit.cli.demo_changes

.PHONY: docs
docs: $(READY) ## The documentation as a site that needs no network, into build/docs/site
	$(ENV) && $(PY) -m tools.site.build

.PHONY: demo-all
demo-all: demo demo-changes ## Both, and two more sources: an API of changes with deletions, dropped files of DMS
	$(ENV) && $(PY) -m lakekit.cli.demos.sources

.PHONY: wheel
wheel: $(READY) ## The package with all that it needs, into dist
	$(ENV) && $(PY) -m pip --disable-pip-version-check wheel -q --no-deps --no-build-isolation -w dist .

.PHONY: synth
synth: $(READY) ## The templates and packages of the example's environments, into cdk.out
	$(ENV) && $(PY) -m lakekit.cli.main synth --project examples/airports --out cdk.out

.PHONY: bench
bench: $(READY) ## Measure the merge against its peers: the long sweeps
	$(ENV) && $(PY) -m benchmarks

.PHONY: bench-quick
bench-quick: $(READY) ## Measure the merge against the textbook MERGE and INSERT and the floor
	$(ENV) && $(PY) -m benchmarks --quick

.PHONY: bench-extract
bench-extract: $(READY) ## Measure extraction against a loop of requests and dlt, and its memory
	$(ENV) && $(PY) -m benchmarks.extraction

.PHONY: type
type: $(READY) ## mypy alone
	$(PY) -m mypy

.PHONY: format
format: $(READY) ## Format the code
	.venv/bin/ruff format . && .venv/bin/ruff check --fix .

.PHONY: lock
lock: $(READY) ## Pin the packages again, with hashes
	.venv/bin/uv pip compile -q --all-extras --generate-hashes --no-header --python-version 3.11 --no-emit-index-url pyproject.toml -o requirements.txt

.PHONY: clean
clean: ## Remove what was built; keep the virtual environment
	rm -rf build dist cdk.out .pytest_cache .mypy_cache .ruff_cache .hypothesis *.egg-info
