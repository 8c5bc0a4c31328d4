# make mini   every item on the embedded default, and the report    make test   the whole test suite
# make bench  ratio benchmarks                                      make lint   format, lint and types
# make test-browser   the atlas in Chromium, which has to be installed with its driver
# make docs   the generated tables and the rule graph
# VENV=<folder> puts the environment elsewhere, so that several clones can share one.

VENV   ?= .venv
PYTHON ?= python3.11
CORES  ?= 2

SNAKEMAKE = $(VENV)/bin/snakemake
MINI      = --configfile config/mini.yaml
REPORT    = results/mini/report.html
ATLAS     = results/mini/atlas/index.html

.PHONY: setup mini test test-browser bench lint docs clean

setup:
	@$(PYTHON) tools/environment.py $(VENV)

mini: setup
	$(SNAKEMAKE) --cores $(CORES) $(MINI)
	@if [ ! -e $(REPORT) ] || [ -n "$$(find results/mini -type f -newer $(REPORT) -print -quit)" ]; then \
	    $(SNAKEMAKE) --cores 1 $(MINI) --report $(REPORT); fi
	@echo "Atlas:  $(ATLAS)"
	@echo "Report: $(REPORT)"

test: setup
	$(VENV)/bin/python -m pytest -n 2 --dist loadfile

test-browser: setup
	$(VENV)/bin/python -m pytest -rs tests/browser

bench: setup
	@for file in benchmarks/bench_*.py; do PYTHONPATH=workflow/scripts:tests $(VENV)/bin/python $$file || exit 1; done

lint: setup
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/snakefmt --check Snakefile workflow/rules
	$(VENV)/bin/mypy
	$(SNAKEMAKE) --lint

docs: setup
	PYTHONPATH=workflow/scripts $(VENV)/bin/python tools/document.py

clean:
	rm -rf results/mini resources/mini logs/mini
