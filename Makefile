# The commands of the project. Each sets up what it needs (Debian packages,
# .venv) by tools/setup; the build itself is meson.build.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules

venv := .venv
python := $(venv)/bin/python
user_path := $(PATH)
export PATH := $(CURDIR)/$(venv)/bin:$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# What the installed package is made of. Directories are among them, so that a
# removed file is noticed too; docs/. is the directory, docs a command below.
inputs := pyproject.toml README.md meson.build meson.options VERSION LICENSE \
    $(shell find $(addsuffix /.,bench cli completions docs libroast python tests/unit web) \
        \( -name __pycache__ -o -name node_modules \) -prune -o -print 2>/dev/null)
installed := build/installed

TIME ?= 60
SOAK_TIME ?= 600
PREFIX ?= /usr/local
DESTDIR ?=

.PHONY: all
all: $(installed) ## set up, build, install into .venv (the default)

.PHONY: demo
demo: $(installed) ## measure a real coffea analysis on a local Dask cluster
	@PATH='$(user_path)' $(python) examples/demo.py # it tells how to call roast from the user's shell

.PHONY: test
test: groups := build lint test
test: $(installed) build-asan build-tsan ## run every test, or PARTS="unit cli", and list the results
	@$(python) tools/run_tests.py $(PARTS)

.PHONY: check
check: groups := build lint test
check: $(installed) ## lint and the fast tests, in 3 minutes on two cores
	@$(python) tools/run_tests.py --fast

.PHONY: lint
lint: setup-lint $(venv)/setup-stamp ## run clang-format, ruff, mypy, shellcheck, eslint, tsc
	@tools/lint

.PHONY: format
format: $(venv)/setup-stamp ## format C and Python as make lint wants it
	@git ls-files -z '*.c' '*.h' | xargs -0 $(venv)/bin/clang-format -i
	@$(venv)/bin/ruff check --quiet --fix-only
	@$(venv)/bin/ruff format --quiet

.PHONY: bench
bench: $(installed) ## run every benchmark, or ONLY="chunks run"; CHECK=1 fails if a bound is missed
	@$(python) tools/bench.py $(if $(CHECK),--check) $(ONLY)

.PHONY: fuzz
fuzz: setup-fuzz $(venv)/setup-stamp ## fuzz every target for TIME seconds (make fuzz TIME=60)
	@tools/fuzz $(TIME)

.PHONY: tsan
tsan: setup-test $(installed) build-tsan ## run what uses threads under ThreadSanitizer
	@$(python) tools/run_tests.py tsan
	@tools/tsan

.PHONY: tidy
tidy: setup-lint $(installed) ## look for bugs with clang-tidy
	@tools/tidy

.PHONY: analyze
analyze: setup-lint $(installed) ## look for bugs with clang's analyzer, which takes minutes
	@tools/tidy 225000

.PHONY: coverage
coverage: setup-test $(installed) ## say which lines and branches of libroast the tests reach
	@$(python) tools/reached_lines.py

.PHONY: valgrind
valgrind: setup-test $(installed) ## use the Python extensions under valgrind's memcheck
	@tools/valgrind

.PHONY: faults
faults: $(installed) ## let every call fail in turn in the tests of faults, none left out
	@ROAST_FAULTS_PART=1000000 meson test -C build --print-errorlogs --timeout-multiplier 100 \
	    probe-faults run-faults read-faults import-faults rootfile-faults serve-faults

.PHONY: predictions
predictions: $(installed) ## hold predictions against runs of the demo with 1 and 2 workers
	@$(python) -m pytest -q -m long tests/python/test_predict_demo.py

.PHONY: kill
kill: $(installed) ## kill a writing process 200 times and look at what it left
	@ROAST_KILLS=200 $(python) -m pytest -q tests/python/test_killed_writer.py

.PHONY: soak
soak: $(installed) ## run a cluster whose workers die for SOAK_TIME seconds (make soak SOAK_TIME=600)
	@$(python) tools/soak.py $(SOAK_TIME)

.PHONY: docs
docs: $(installed) ## write the generated pages of docs/ anew, and the site to build/docs
	@$(python) tools/metrics_reference.py
	@$(python) tools/page_tables.py
	@$(python) -m sphinx --fail-on-warning --keep-going --quiet -d build/doctrees docs build/docs
	@echo 'the site is in build/docs/index.html'

.PHONY: pictures
pictures: setup-test $(installed) ## make every picture of the documentation anew
	@$(python) tools/pictures.py

# DESTDIR, which Meson would take from its build directory if it is relative
stage = $(if $(DESTDIR),$(if $(filter /%,$(firstword $(DESTDIR))),,$(CURDIR)/)$(DESTDIR))

.PHONY: install
install: $(venv)/setup-stamp ## install roast, libroast, headers, manual, completions into DESTDIR/PREFIX
	@mkdir -p build-install
	@meson setup build-install $(if $(wildcard build-install/build.ninja),--reconfigure) \
	    --prefix='$(PREFIX)' -Dbuildtype=release -Dpython=false -Dwerror=false \
	    > build-install/setup.log 2>&1 || { cat build-install/setup.log >&2; exit 1; }
	@ninja -C build-install --quiet
	@meson install -C build-install --no-rebuild --quiet --destdir '$(stage)'

.PHONY: wheel
wheel: setup-wheel $(venv)/setup-stamp ## make dist/roastcoffea-*.whl, which needs nothing but glibc 2.34 and Python 3.11
	@tools/wheel

.PHONY: sdist
sdist: $(venv)/setup-stamp ## make dist/roastcoffea-*.tar.gz of what is committed
	@mkdir -p dist build-sdist
	@rm -f dist/*.tar.gz
	@$(python) -c 'import mesonpy; mesonpy.build_sdist("dist")' > build-sdist/log 2>&1 || \
	    { cat build-sdist/log >&2; exit 1; }
	@ls dist/*.tar.gz

.PHONY: test-wheel
test-wheel: wheel sdist setup-test $(installed) ## install wheel and sdist into environments of their own and use them
	@$(python) -m pytest -q tests/wheel

.PHONY: test-oldest
test-oldest: $(installed) ## run the demo and the end-to-end tests with the oldest versions that are supported
	@tools/test-oldest

.PHONY: pins
pins: ## write requirements-dev.txt anew from requirements-dev.in (needs the network)
	@rm -rf build-pins
	@$(or $(PYTHON),python3) -m venv build-pins
	@build-pins/bin/python -m pip install -q -U pip
	@build-pins/bin/pip install -q -r requirements-dev.in
	@{ echo '# Written by `make pins` from requirements-dev.in: do not edit.'; \
	    build-pins/bin/pip freeze --all --exclude setuptools; } > build-pins/requirements
	@mv build-pins/requirements requirements-dev.txt
	@rm -rf build-pins

.PHONY: clean
clean: ## remove what was built
	@rm -rf build build-* dist .mypy_cache .pytest_cache .ruff_cache

.PHONY: distclean
distclean: clean ## remove .venv and the generated example data too
	@rm -rf $(venv) examples/data

.PHONY: help
help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

# The stamp changes only if tools/setup installed something; looking takes a
# tenth of a second.
groups := build
$(venv)/setup-stamp: FORCE
	@tools/setup $(groups)

.PHONY: setup-lint setup-test setup-fuzz setup-wheel
setup-lint setup-test setup-fuzz setup-wheel: setup-%: $(venv)/setup-stamp
	@tools/setup $*

# Installed by pip as a user would, from the build directory that the C unit
# tests run in. Nothing here needs the network. ninja goes first because it
# shows a compiler's message plainly.
$(installed): $(inputs) $(venv)/setup-stamp
	@echo 'building and installing roastcoffea into $(venv)'
	@mkdir -p build
	@test ! -e build/build.ninja || ninja -C build --quiet > build/install.log 2>&1 || \
	    { cat build/install.log >&2; exit 1; }
	@$(python) -m pip install --quiet --no-index --no-build-isolation --no-deps --force-reinstall \
	    -Cbuild-dir=build -Csetup-args=-Dtests=true -Csetup-args=-Dwerror=true \
	    . > build/install.log 2>&1 || { cat build/install.log >&2; exit 1; }
	@touch $@

# The same code under AddressSanitizer and UBSan, and under ThreadSanitizer. With -O1 building takes
# a third less than with -O2, and the tests hardly longer; gcc's warnings are false then. ninja knows
# what to rebuild; what is to be run under ThreadSanitizer is built when it runs.
build-asan: options := -Db_sanitize=address,undefined -Dc_args='-fsanitize=float-cast-overflow -w'
build-tsan: options := -Db_sanitize=thread -Dc_args=-w
.PHONY: build-asan build-tsan
build-asan build-tsan: $(venv)/setup-stamp
	@mkdir -p $@
	@test -e $@/build.ninja || meson setup $@ -Dtests=true -Dpython=false -Doptimization=1 \
	    -Db_lundef=false $(options) > $@/setup.log 2>&1 || { cat $@/setup.log >&2; exit 1; }
	@$(if $(filter build-asan,$@),ninja -C $@ --quiet)

.PHONY: FORCE
FORCE:
