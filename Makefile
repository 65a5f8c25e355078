# Everything happens in .venv at the root; `make demo` and `make test` set it up themselves.
PYTHON ?= python3
BIN := .venv/bin
CORES ?= 2
# Tests wait for servers and processes now and then; one more fills the time.
TESTERS ?= $(shell expr $(CORES) + 1)
export MPLBACKEND := Agg

.DEFAULT_GOAL := help
.PHONY: help setup demo twin test test-models lint bench clean

help:  ## Show what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /	/' | expand -t 10

setup: .venv/ready  ## Make .venv and install gensight with its development tools

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable ".[dev]"
	@touch $@

demo: setup  ## Run the whole pipeline on the built-in benchmarks (no GPU, key or download)
	$(BIN)/snakemake --cores $(CORES) --logger gensight

twin: setup  ## Build every table of ProbeGen from synthetic twins of its eleven data sets
	$(BIN)/gensight data twin twin --overwrite
	$(BIN)/snakemake --cores $(CORES) --logger gensight --configfile config/runs/twin.yaml

# One thread, as Snakemake gives to a job: hundreds of processes start here.
test: export OPENBLAS_NUM_THREADS := 1
test: setup  ## Run the core tests
	$(BIN)/pytest --numprocesses $(TESTERS) --dist worksteal tests/workflow tests/unit

.venv/models: pyproject.toml .venv/ready
	$(BIN)/pip install --quiet --editable ".[models,open_clip]"
	@touch $@

test-models: .venv/models  ## Run local models' adapters on tiny random copies (brings torch)
	$(BIN)/pytest --numprocesses $(CORES) --dist worksteal tests/models

lint: setup  ## Check style: ruff, snakefmt, snakemake --lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint

bench: setup  ## Measure speed and size as ratios; writes bench.json
	$(BIN)/python bench/bench.py

clean:  ## Remove generated results and logs; the ledger (replies) stays
	rm -rf results logs .snakemake twin
