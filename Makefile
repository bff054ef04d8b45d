# Two commands do everything on a fresh machine: `make demo` and `make test`.
# They work in the active virtual environment, or make one in .venv.

VENV ?= $(if $(VIRTUAL_ENV),$(VIRTUAL_ENV),.venv)
BIN := $(VENV)/bin
export NO_MKDOCS_2_WARNING := 1
# the tests start hundreds of processes, which read the bytecode that the first of them wrote
export PYTHONDONTWRITEBYTECODE :=
# one more than the cores of a small machine: many tests wait for a process or a server
JOBS ?= 3

.PHONY: demo core stub sanitize fuzz wheel test test-all properties lint bench docs clean system
.DEFAULT_GOAL := demo

$(BIN)/python:
	python3 -m venv $(VENV)

$(VENV)/.roughly: pyproject.toml CMakeLists.txt $(wildcard core/*) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/.roughly-dev: pyproject.toml $(VENV)/.roughly
	@# only what the extra names: the package itself is installed, and would be compiled a second time
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile 'roughly[dev]'
	@touch $@

demo: $(VENV)/.roughly  ## run the main job on bundled data
	$(BIN)/roughly dedupe examples/policies.jsonl.gz -o demo-out --threshold 0.8 --recall 0.99 --overwrite
	@echo; echo "Open demo-out/report.html in a browser."

core:  ## build the compiled core anew into src/roughly, after an edit in core/
	PATH="$(abspath $(BIN)):$$PATH" cmake -S . -B build/core -G Ninja -DPython_EXECUTABLE=$(abspath $(BIN))/python \
		-DROUGHLY_MODULE_DIR=$(CURDIR)/src/roughly
	PATH="$(abspath $(BIN)):$$PATH" cmake --build build/core

stub: core  ## write the types of the core, after a change of its functions
	PYTHONPATH=src $(BIN)/python core/tools/make_stub.py
	$(BIN)/ruff format --quiet src/roughly/_core.pyi
	$(BIN)/ruff check --quiet --fix src/roughly/_core.pyi

sanitize: $(VENV)/.roughly-dev  ## the core's tests under the compiler's sanitizers
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python core/tools/sanitize.py

BYTES ?= 100000000
WORKERS ?= 2
fuzz: $(VENV)/.roughly-dev  ## fuzzers, e.g. TARGET=tokens BYTES=1000000000, or TARGET=python WORKERS=16 for all in Python
	$(BIN)/python fuzz/fuzz_targets.py $(TARGET) --bytes $(BYTES) --workers $(WORKERS)

wheel: $(VENV)/.roughly-dev  ## a wheel for this machine's kind, in dist/
	rm -rf build/wheel
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps -w build/wheel .
	@# on Linux the wheel is marked with the oldest system that it runs on, and carries what is not part of that
	mkdir -p dist
	if [ "$$(uname)" = Linux ]; then PATH="$(abspath $(BIN)):$$PATH" auditwheel repair -w dist build/wheel/*.whl; \
		else cp build/wheel/*.whl dist; fi

lint: $(VENV)/.roughly-dev  ## formatting, lint and types
	$(BIN)/ruff format --check src tests benchmarks examples core fuzz docs/*.py
	$(BIN)/ruff check src tests benchmarks examples core fuzz docs/*.py
	$(BIN)/mypy

system:  ## what the tests need from the system's packages
	@sh tests/system-packages.sh

test: $(VENV)/.roughly-dev system lint  ## the tests of every change
	@mkdir -p build
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal --durations 15 -m "not slow"
	$(BIN)/mkdocs build --strict --quiet --site-dir build/site

test-all: test  ## and those that take long: Spark, kills, corpora, benchmarks, one process per page of the docs
	@# the tests of Spark mostly wait for its processes, so they run beside the others, as one of the jobs
	@$(BIN)/python -m pytest --durations 10 -m slow tests/engines/spark >build/spark-tests.log 2>&1 & spark=$$!; \
	$(BIN)/python -m pytest -n $$(($(JOBS) - 1)) --dist worksteal --durations 25 -m slow --ignore tests/engines/spark; others=$$?; \
	wait $$spark; spark=$$?; cat build/spark-tests.log; exit $$((others + spark))

properties: $(VENV)/.roughly-dev  ## the properties with new draws, which every change's tests do not have
	ROUGHLY_NEW_DRAWS=1 $(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "not slow" $$(grep -rl hypothesis tests --include='test_*.py')

bench: $(VENV)/.roughly-dev  ## speed and recall beside the peers
	$(BIN)/python -m benchmarks

docs: $(VENV)/.roughly-dev  ## build the documentation, strictly
	$(BIN)/mkdocs build --strict

clean:
	rm -rf demo-out demo-out.partial build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis
