# VENV=<folder> puts the environment elsewhere, so that several clones can share one. Paths may hold spaces.

VENV   ?= .venv
PYTHON ?= python3.11
CORES  ?= 2

RUN       = "$(VENV)/bin/python"
SNAKEMAKE = $(RUN) tools/launcher.py

# Every item at one scale, then the report where anything is newer. CONFIG='<key>=<value> ...' goes to --config; a value
# with spaces needs quotes of its own.
define whole
	$(SNAKEMAKE) --cores $(CORES) --configfile config/$(1).yaml $(if $(CONFIG),--config $(CONFIG))
	@if [ ! -e results/$(1)/report.html ] || [ -n "$$(find results/$(1) -type f -newer results/$(1)/report.html -print -quit)" ]; then \
	    $(SNAKEMAKE) --cores 1 --configfile config/$(1).yaml $(if $(CONFIG),--config $(CONFIG)) --report results/$(1)/report.html; fi
	@echo "Atlas:  results/$(1)/atlas/index.html"
	@echo "Report: results/$(1)/report.html"
endef

.PHONY: help setup mini laptop targets check-gpu test test-whole test-browser test-slurm test-faults bench lint evidence docs clean clean-checkpoints

help: ## what can be made (this list)
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' Makefile | while IFS='|' read -r name text; do \
	    printf 'make %-18s %s\n' "$$name" "$$text"; done
	@echo "With VENV=<folder> the environment goes elsewhere; with CORES=<n> mini and laptop run on n cores (2); give evidence the same."

setup: ## the environment, from requirements.lock; the other commands do this first
	@"$(PYTHON)" -c "" 2> /dev/null || { echo "clusterlens: no $(PYTHON) here: install Python 3.11, or name one with" \
	    "make PYTHON=<path of python3.11>" >&2; exit 1; }
	@"$(PYTHON)" tools/environment.py "$(VENV)"

mini: setup ## every item on embedded data, the atlas and the report
	$(call whole,mini)

laptop: setup ## every item on real data, small enough for an evening on two cores; resumes when run again
	@PYTHONPATH=workflow/scripts $(RUN) tools/pace.py config/laptop.yaml --cores=$(CORES)
	$(call whole,laptop)

targets: setup ## a list of every item: target, whether it is made, time, GPU
	@PYTHONPATH=workflow/scripts $(RUN) tools/targets.py

check-gpu: setup ## whether every model trains on this GPU as on the CPU, its speed and memory: two minutes
	@PYTHONPATH=workflow/scripts $(RUN) tools/check_gpu.py

test: setup ## the test suite; the tests below take longer or need more
	$(RUN) -m pytest -n 2 --dist loadfile

test-whole: setup ## the whole workflow once, with the smallest models
	$(RUN) -m pytest tests/whole

test-browser: setup ## the atlas in Chromium, which is installed where that is allowed
	@sh tools/debian.sh chromedriver chromium chromium-driver
	$(RUN) -m pytest -rs tests/browser

test-slurm: setup ## the workflow on a private SLURM, which is installed where that is allowed
	@sh tools/debian.sh sbatch slurm-wlm munge
	$(RUN) -m pytest -rs tests/slurm

test-faults: setup ## killed jobs, full disks, cut files, many jobs; as root, which may mount small disks
	$(RUN) -m pytest -rs tests/faults

bench: setup ## benchmarks, as ratios against reference implementations
	@for file in benchmarks/bench_*.py; do PYTHONPATH=workflow/scripts:tests $(RUN) "$$file" || exit 1; done

lint: setup ## format, style and types
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m snakefmt --check Snakefile workflow/rules
	$(RUN) -m mypy
	$(SNAKEMAKE) --lint

evidence: setup ## docs/evidence and the README's verdicts, from a finished laptop run
	@PYTHONPATH=workflow/scripts $(RUN) tools/evidence.py --cores $(CORES) $(OPTIONS)

docs: setup ## the generated tables and the rule graph
	PYTHONPATH=workflow/scripts $(RUN) tools/document.py

clean: ## remove what mini has made
	rm -rf results/mini resources/mini logs/mini

clean-checkpoints: ## remove what interrupted training runs have left; they start afresh then
	rm -rf results/checkpoints results/*/checkpoints
