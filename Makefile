# make: the environment and the whole bundled reproduction.  make help: everything else.
SHELL := /bin/bash
VENV := .venv
RUN := . $(VENV)/bin/activate &&
CONFIG := config.yaml
REPORT = --junitxml=build/suites/$@.xml  # python -m catalog.suites keeps its numbers
OUTPUTS = $(shell sed -n 's/^outputs: *//p' $(CONFIG) | grep . || echo results)

.DEFAULT_GOAL := reproduce
unexport PYTHONDONTWRITEBYTECODE  # where it is set, each process would compile what it imports again

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 14

reproduce: $(VENV)/ready ## the run of CONFIG (config.yaml) and its report
	$(RUN) snakemake --configfile $(CONFIG)
	$(RUN) snakemake --configfile $(CONFIG) --report $(OUTPUTS)/report.html > /dev/null
	@$(RUN) despur explore --output $(OUTPUTS)/explorer.html || \
		echo "There is no new $(OUTPUTS)/explorer.html, for the reason above. It shows all runs that are here, not only those of $(CONFIG): the run goes on."
	@$(RUN) despur summary --configfile $(CONFIG)

verdicts: $(VENV)/ready ## no training: tables and scorecard from what the ledger and this machine have measured
	$(RUN) despur judge

smoke: $(VENV)/ready ## does it work here? one method, one seed (config/smoke.yaml)
	$(RUN) snakemake --configfile config/smoke.yaml
	@$(RUN) despur show results/runs/colored_digits/jtt/s0
	@echo "Made: tables, figures and results/smoke/scorecard.html, below results/smoke."
	@echo "It means: every step works here, from data to pages. One seed says nothing about a paper."
	@echo "Next: type make (all five papers, in tens of minutes), or . .venv/bin/activate for single commands."

environment: $(VENV)/ready ## .venv with exactly the locked packages
	@echo "The environment is ready: . $(VENV)/bin/activate"

$(VENV)/ready: envs/requirements.lock pyproject.toml
	python3 -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14) and "despur needs Python 3.11 to 3.13")'
	@echo "Building $(VENV) from envs/requirements.lock; downloads take some minutes."
	test -x $(VENV)/bin/python || python3 -m venv $(VENV)
	$(RUN) sed -n '/^uv==/,/[^\\]$$/p' envs/requirements.lock | python -m pip install -q --require-hashes -r /dev/stdin
	$(RUN) uv pip sync -q --compile-bytecode --require-hashes envs/requirements.lock
	$(RUN) uv pip install -q --no-deps --no-build-isolation --editable .
	$(RUN) python -c 'from importlib import import_module; from despur.warm.preparation import LIBRARIES; [*map(import_module, LIBRARIES.split()), import_module("torchvision")]'
	touch $@

lock: ## resolve envs/*.lock anew from pyproject.toml
	$(RUN) uv pip compile -q pyproject.toml --extra all --group dev --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --custom-compile-command "make lock" --upgrade --output-file envs/requirements.lock
	$(RUN) uv pip compile -q --group pyproject.toml:docs --constraint envs/requirements.lock --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --custom-compile-command "make lock" --upgrade --output-file envs/docs.lock
	$(RUN) uv pip compile -q --group pyproject.toml:oracles --constraint envs/requirements.lock --universal --python-version 3.11 \
		$$(sed -n 's/^\([^ #=]*\)==.*/--no-emit-package \1/p' envs/requirements.lock) \
		--generate-hashes --no-emit-index-url --custom-compile-command "make lock" --upgrade --output-file envs/oracles.lock

docs: $(VENV)/docs ## the documentation as a site: build/docs/index.html
	$(RUN) PYTHONPATH=docs python -m catalog build/docs-source
	$(RUN) sphinx-build -q -W --keep-going -j auto -c docs build/docs-source build/docs
	@echo "The site: build/docs/index.html"

$(VENV)/docs: $(VENV)/ready envs/docs.lock
	$(RUN) uv pip install -q --require-hashes -r envs/docs.lock
	touch $@

tutorial: $(VENV)/docs ## run the commands of docs/tutorial.md, docs/your_own_data.md and the notebook, and keep their outputs in them
	$(RUN) PYTHONPATH=docs python -m catalog.tutorial
	$(RUN) jupyter execute --inplace docs/finished_runs.ipynb

lint: $(VENV)/ready ## formats, types and imports
	$(RUN) ruff check . && ruff format --check -q . && snakefmt --check Snakefile workflow && snakemake --lint && mypy && lint-imports

lint-workflows: $(VENV)/ready ## the workflow files: their form, and what zizmor finds unsafe
	$(RUN) uvx -q check-jsonschema==0.39.0 --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(RUN) uvx -q zizmor==1.32.0 --offline --no-progress .github/workflows

test: lint ## lint, and the tests that take seconds each
	$(RUN) pytest -n 2 --dist worksteal $(REPORT)

test-long: $(VENV)/ready ## the slow tests: error rates of verdicts, kills, compilation, documented commands, variants of methods
	$(RUN) pytest -m "long and not storm" -n 2 --dist worksteal $(REPORT)
	$(MAKE) test-storms

test-storms: $(VENV)/ready ## a short form of the slow storms, one test at a time: they count what runs while they stop it
	$(RUN) pytest -m "long and storm" $(REPORT)

test-oracles: $(VENV)/oracles/ready ## the tests that compare with other libraries, which are installed beside the environment
	$(RUN) PYTHONPATH=$(VENV)/oracles pytest -rs tests/oracles $(REPORT)

$(VENV)/oracles/ready: $(VENV)/ready envs/oracles.lock
	rm -rf $(VENV)/oracles
	$(RUN) uv pip install -q --require-hashes --no-deps --target $(VENV)/oracles -r envs/oracles.lock
	touch $@

wheel: $(VENV)/ready ## the package as a file to install: build/wheel/despur-*.whl
	rm -rf build/wheel build/lib build/bdist.*
	$(RUN) uv build -q --wheel --no-build-isolation --out-dir build/wheel

test-wheel: wheel ## the wheel in an empty environment, without extras: its command, and the examples of docstrings
	$(RUN) uv venv -q build/wheel/environment && \
		uv pip install -q --python build/wheel/environment --constraint envs/requirements.lock build/wheel/*.whl
	cd build/wheel && environment/bin/despur --help > /dev/null && environment/bin/despur list methods > /dev/null
	cd build/wheel && environment/bin/python -P $(CURDIR)/tests/examples.py

test-extras: wheel ## the wheel in an empty environment, with all extras: each of their libraries is imported
	$(RUN) uv venv -q build/wheel/all && uv pip install -q --python build/wheel/all \
		--constraint envs/requirements.lock "$$(echo build/wheel/*.whl)[all]"
	cd build/wheel && all/bin/despur --help > /dev/null && all/bin/python -P $(CURDIR)/tests/extras.py

STORM := 1000
storm: $(VENV)/ready ## input changed, and what runs stopped, STORM times at random; docs/storms.md keeps the numbers
	$(RUN) DESPUR_STORM=$(STORM) pytest -m storm tests/storms

test-slurm: $(VENV)/ready ## on a SLURM that it starts and stops: needs apt-get install slurm-wlm munge, and root
	$(RUN) pytest -rs tests/slurm/resume.py $(REPORT)

rehearsal: $(VENV)/ready ## config/published.yaml in miniature, from made-up raw files to the report: build/rehearsal
	$(RUN) PYTHONPATH=tests python -m rehearsal build/rehearsal

bench: $(VENV)/ready ## measure speed: results/benchmarks.csv (on a GPU, too, where there is one)
	$(RUN) PYTHONPATH=tests python -m benchmarks results/benchmarks.csv

reference: CONFIG := config/reference.yaml
reference: $(VENV)/ready ## ten seeds, in hours (goes on where it was stopped): each paper, once made, is kept in results/reference, and told in README and docs
	$(RUN) for part in $$(python -m despur.reporting.reference --configfile $(CONFIG)); do \
		nice snakemake $$part --configfile $(CONFIG) && \
		python -m despur.reporting.reference $$part --configfile $(CONFIG) || exit; done

benchmark: $(VENV)/ready ## each method of config/benchmark.yaml: equally many trials, then ten seeds of the best; one matrix
	$(RUN) nice despur search --configfile config/benchmark.yaml
	$(MAKE) reference CONFIG=config/benchmark_tuned.yaml

.PHONY: benchmark help reproduce verdicts smoke environment lock test test-long test-storms test-oracles test-wheel test-extras wheel storm test-slurm rehearsal bench reference docs tutorial lint lint-workflows
