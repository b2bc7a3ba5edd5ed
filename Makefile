# Every target sets up .venv first, when it is missing or older than what it was made from;
# test-toolkits and test-ray set up environments of their own.
# It needs python3 (3.11 or newer) with venv and pip, and nothing else.
#
#   make train   train a self-play agent for three players and show how it plays (about three minutes)
#   make test    run the tests, before every commit (about three minutes on two cores, five the first time)
#   make test-all          run the tests and all of the next seven, as continuous integration does
#   make test-faults       processes that are killed, signals, damaged files, full disks
#   make test-checked      the engine once more without compilation, and mutated input with every index checked
#   make test-slow         the notebooks, the examples of the pages, and what compiles, plays or trains much
#   make test-web          the browser table in Chromium (apt-get install chromium nginx-light); screenshots in .web-artefacts
#   make test-toolkits     other toolkits, each in an environment of its own in .toolkits
#   make test-versions     a short path through every extra, with the lowest and the newest versions, in .versions
#   make test-ray          what runs on Ray, in an environment of its own, .venv-ray
#   make lint    style, types, import contracts        make format    apply the style
#   make docs    build the documentation site into site/
#   make bench   measure catbox beside other libraries
#   make coverage          run the tests, twice as long, for a coverage report
#   make notebooks         run the notebooks anew, with their outputs (about two minutes)
#   make zoo     train and measure the agents of the zoo that are missing (about 12 hours for all)
#   make leaderboard       train and play the rows of the benchmark that are missing (hours)
#   make clean   remove what is built, .venv too

PYTHON ?= python3
VENV   := .venv
PY     := $(VENV)/bin/python
TRAIN  := $(VENV)/catbox-train-installed
STAMP  := $(VENV)/catbox-installed
BENCH  := $(VENV)/catbox-bench-installed
RAY    := .venv-ray
# The toolkits whose requirements do not go together with constraints.txt, or with one another.
TOOLKITS := $(basename $(notdir $(wildcard tests/toolkits/*.txt)))
# Python compiles what it imports: compiling all that is installed would take longer than to install it.
PIP_INSTALL := python -m pip install --quiet --disable-pip-version-check --no-input --no-compile
PIP    := $(VENV)/bin/$(PIP_INSTALL) --constraint constraints.txt

# Otherwise every process compiles anew all that it imports, PyTorch too: a fifth of the time of `make test`.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help train test test-all test-faults test-checked test-slow test-toolkits test-versions test-web test-ray coverage lint format bench docs notebooks zoo leaderboard clean
.DELETE_ON_ERROR:

help:
	@sed -n 's/^# \{0,1\}//p' Makefile | head -21

# An environment that another folder made (the checkout was moved or copied) points at that folder: make it anew.
ifneq ($(shell cat $(TRAIN) 2>/dev/null),$(CURDIR))
.PHONY: $(TRAIN)
endif

# What trains, and what plays in a browser.
$(TRAIN): pyproject.toml constraints.txt
	@$(PYTHON) -c "import sys; sys.version_info >= (3, 11) or sys.exit('catbox needs Python 3.11 or newer, but $(PYTHON) is Python ' + sys.version.split()[0] + '. Name a newer one: make PYTHON=/path/to/python3.11')"
	@$(PY) -c "" 2>/dev/null || rm -rf $(VENV)
	@echo "Setting up $(VENV) (the first time, this downloads PyTorch)"
	@test -x $(PY) || $(PYTHON) -m venv $(VENV)
	@$(PIP) --upgrade pip
	@$(PIP) --editable '.[train,web]'
	@printf '%s' '$(CURDIR)' > $@

# And what developers need.
$(STAMP): $(TRAIN)
	@echo "Adding what tests, linters and documentation need"
	@$(PIP) --editable '.[render,sb3,spiel,train,web]' --group dev
	@touch $@

# Ray pins Gymnasium: all other versions are those of constraints.txt. Remade as .venv is, when the checkout has moved.
ifneq ($(shell cat $(RAY)/catbox-installed 2>/dev/null),$(CURDIR))
.PHONY: $(RAY)/catbox-installed
endif

$(RAY)/catbox-installed: pyproject.toml constraints.txt
	@$(RAY)/bin/python -c "" 2>/dev/null || rm -rf $(RAY)
	@echo "Setting up $(RAY)"
	@test -x $(RAY)/bin/python || $(PYTHON) -m venv $(RAY)
	@grep -vi '^gymnasium==' constraints.txt > $(RAY)/constraints.txt
	@$(RAY)/bin/$(PIP_INSTALL) --constraint $(RAY)/constraints.txt --upgrade pip
	@$(RAY)/bin/$(PIP_INSTALL) --constraint $(RAY)/constraints.txt --editable '.[ray]' --group test
	@printf '%s' '$(CURDIR)' > $@

# The Gymnasium view too: this environment has the oldest release of Gymnasium that is tested. Left out is what needs
# Stable-Baselines3, and what compares with Gymnasium's own vector environment and wrappers, which do other things there.
test-ray: export OMP_NUM_THREADS = 1
# Otherwise its workers would wait for all that runs beside them.
test-ray: export RAY_worker_niceness = 0
test-ray: $(RAY)/catbox-installed
	$(RAY)/bin/python -m pytest -q tests/ray tests/agents/test_gymnasium*.py \
	  -k 'not stable_baselines and not own_vector_environment and not normalised'

VERSIONS := lowest newest
EXTRAS := arena,cli,data,llm,render,sb3,spiel,tokens,train,web
VERSIONS_ELSEWHERE := $(foreach name,$(VERSIONS),$(if $(filter $(CURDIR),$(shell cat .versions/$(name)/installed 2>/dev/null)),,$(name)))
.PHONY: $(VERSIONS_ELSEWHERE:%=.versions/%/installed)
$(VERSIONS:%=.versions/%/installed): .versions/%/installed: pyproject.toml constraints.txt
	@echo "Setting up .versions/$*"
	@rm -rf .versions/$*
	@$(PYTHON) -m venv .versions/$*
	@.versions/$*/bin/$(PIP_INSTALL) --upgrade pip
	@$(PYTHON) tests/versions/constraints.py $* > .versions/$*/constraints.txt
	@.versions/$*/bin/$(PIP_INSTALL) --constraint .versions/$*/constraints.txt --editable '.[$(EXTRAS)]' --group test
	@printf '%s' '$(CURDIR)' > $@

# Code that another version of Numba compiled is no use to the other environments.
$(VERSIONS:%=test-%): test-%: .versions/%/installed
	NUMBA_CACHE_DIR=$(CURDIR)/.versions/$*/numba .versions/$*/bin/python -m pytest -q tests/versions

test-versions: export OMP_NUM_THREADS = 1
test-versions: $(VERSIONS:%=test-%)

$(BENCH): $(STAMP)
	@$(PIP) --group bench
	@touch $@

TOOLKITS_ELSEWHERE := $(foreach name,$(TOOLKITS),$(if $(filter $(CURDIR),$(shell cat .toolkits/$(name)/installed 2>/dev/null)),,$(name)))
.PHONY: $(TOOLKITS_ELSEWHERE:%=.toolkits/%/installed)
$(TOOLKITS:%=.toolkits/%/installed): .toolkits/%/installed: tests/toolkits/%.txt pyproject.toml constraints.txt
	@echo "Setting up .toolkits/$*"
	@rm -rf .toolkits/$*
	@$(PYTHON) -m venv .toolkits/$*
	@.toolkits/$*/bin/$(PIP_INSTALL) --requirement tests/toolkits/$*.txt --editable .
	@printf '%s' '$(CURDIR)' > $@

$(TOOLKITS:%=test-%): test-%: .toolkits/%/installed
	.toolkits/$*/bin/python -m pytest tests/toolkits/test_$*.py --confcutdir tests/toolkits -W ignore

# Three at a time: much of the time of each goes into downloads, and into starting and stopping processes.
THREE_AT_A_TIME = $(MAKE) -j 3 $(if $(filter output-sync,$(.FEATURES)),--output-sync)

test-toolkits: export OMP_NUM_THREADS = 1
test-toolkits:
	$(THREE_AT_A_TIME) $(TOOLKITS:%=test-%)

test-web: export OMP_NUM_THREADS = 1
test-web: $(STAMP)
	$(PY) -m pytest -n 2 --dist loadfile tests/web

train: $(TRAIN)
	$(PY) -m catbox_app train

# First all games are compiled side by side: the tests share the cached code.
test: export OMP_NUM_THREADS = 1
test: $(STAMP)
	$(PY) -c "import catbox_env; print(*catbox_env.GAMES)" | xargs -n 1 -P 3 $(PY) -m catbox_app compile --game
	$(PY) -m pytest -n 2 --dist worksteal -m "not slow and not faults" --ignore tests/web --ignore tests/core/test_fuzz.py $(COV)

test-all: test test-faults test-checked test-slow test-web
	OMP_NUM_THREADS=1 $(THREE_AT_A_TIME) test-ray $(VERSIONS:%=test-%) $(TOOLKITS:%=test-%)

# Without compilation an index past the end of an array is an error; the tests of mutated input compile such checks in.
test-checked: export OMP_NUM_THREADS = 1
test-checked: $(STAMP)
	NUMBA_DISABLE_JIT=1 $(PY) -m pytest -m nojit -n 2 --dist worksteal --ignore tests/web $(COV)
	$(PY) -m pytest -n 2 tests/core/test_fuzz.py

test-faults: export OMP_NUM_THREADS = 1
test-faults: $(STAMP)
	$(PY) -m pytest -n 2 --dist worksteal -m "faults and not slow" --ignore tests/web $(COV)

test-slow: export OMP_NUM_THREADS = 1
test-slow: $(STAMP)
	$(PY) -m pytest -n 2 --dist worksteal -m slow --ignore tests/web

# Coverage cannot be measured in compiled code.
coverage:
	$(MAKE) test COV='--cov --cov-report='
	$(MAKE) test-faults COV='--cov --cov-append --cov-report='
	$(MAKE) test-checked COV='--cov --cov-append'

lint: $(STAMP)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(VENV)/bin/lint-imports

format: $(STAMP)
	$(PY) -m ruff check --fix-only .
	$(PY) -m ruff format .

bench: $(BENCH)
	$(PY) -m benchmarks

notebooks: export OMP_NUM_THREADS = 1
notebooks: $(STAMP)
	$(PY) notebooks/run.py

docs: $(STAMP)
	$(PY) docs/build_site.py

zoo: $(STAMP)
	$(PY) -m experiments zoo
	$(PY) -m docs.generators
	$(PY) docs/generate.py

leaderboard: $(STAMP)
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" bash benchmark/baselines.sh
	$(PY) -m docs.generators
	$(PY) docs/generate.py

clean:
	rm -rf $(VENV) $(RAY) .toolkits .pyodide .web-artefacts build dist site .cache .coverage .coverage.* .ruff_cache .mypy_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
