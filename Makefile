# whycast: from a bare Debian to proved theories and tested Python.
#
#   make help     this text
#   make          install the toolchain, compare the Python and the C with a new extraction, run every recorded
#                 proof (or take the answer of an earlier run), judge what the proofs rest on, write the facts to
#                 build/evidence/evidence.json
#   make test     check the Python code, run the tests
#   make evidence pack sources, tools and facts, to replay without a network (ARCHIVE=whycast.tar)
#   make install  install the C as a library, also for CMake and pkg-config (PREFIX=/usr/local
#                 INCLUDEDIR=include LIBDIR=lib DESTDIR= CC=cc CFLAGS=-O3 LDFLAGS=)
#   make clean    remove build/ and every cache
#
# While you work (CONTRIBUTING.md):
#   make core     check the core's theories: types, goals, tests
#   make check    the same for one theory (FILE=core/shape)
#   make update   find and record proofs of changed goals (THEORY="core/shape numpy/rule": only there)
#   make seal     write proofs/claims.lock, print changed statements and sentences to compare
#   make extract  write python/whycast/_kernel.py, c/whycast.c, and codes and prototypes in c/whycast.h
#   make pin      write proofs/gate/binaries.toml, after a change of OCaml
#   make doc      write the site of documentation and evidence, build/doc/index.html, after make
#   make sonnx    write the kit for SONNX's working group, build/sonnx/README.md
#
# These take minutes to hours, and all except bench fail on a finding. All except prove and bench record
# output for build/doc/evidence/lanes.html, and run in `make nightly`, which ends with make:
#   make prove    do the same as make, without answers of earlier runs
#   make validate prove with Z3 that the extracted Python keeps its contracts, along every path; compare
#                 random programs, extracted to Python and C, with WhyML
#   make mutants  change definitions at random: a goal has to notice each change
#   make mutants-c change the C in one place at a time: a program that makes all small calls has to fail
#   make verify-c search the C for undefined behaviour and wrong answers, by ESBMC and Frama-C's Eva
#   make cross    run the C on an emulated machine of 32 bits and on a big-endian one
#   make object   measure which decisions of the C and jumps of its object code the tests take both ways,
#                 and the stack and the instructions of a call
#   make certify  ask cvc5 for a certificate of each proved part, and check it (KEEP=folder keeps them)
#   make fuzz     make wild calls of the public functions, by the hundred thousand (FUZZ="-k expand")
#   make coverage measure which branches of the package the tests take: build/coverage
#   make models   count the broadcasts in released and random models, make them explicit, compare
#                 outputs; run the packs of `whycast cases` by other runtimes
#   make bench    time the package and its C beside NumPy and plain loops: python/BENCHMARKS.md
#                 (BENCH="--seconds 3 --cells numpy_rule": longer, these cells only)
#
# Only `make install`, ARCHIVE and KEEP write outside of this directory, except temporary files. As root,
# make also installs missing Debian packages; as another user, it prints the command.

# Reject options and variables that could skip recipes, hide failures or run other recipes, and
# environment variables that begin with a dot.
override GIVEN := $(foreach name,$(.VARIABLES),$(if $(filter line override,$(origin $(name)))$(and \
    $(filter .%,$(name)),$(filter environment,$(origin $(name)))),$(name)))
override OPTIONS := $(filter-out -j% -O% --output-sync% --jobserver% --no-print% -s -w -ws -sw,$(MFLAGS))
override STEERING := MAKEFILES GNUMAKEFLAGS PYTEST_ADDOPTS PYTEST_PLUGINS -*-eval-flags-*-
override KNOWN := THEORY KEEP FILE FUZZ BENCH ARCHIVE PREFIX DESTDIR INCLUDEDIR LIBDIR
# `make install` judges nothing, so it accepts a compiler and flags.
ifeq (default install,$(origin MAKECMDGOALS) $(MAKECMDGOALS))
override KNOWN += CC CFLAGS LDFLAGS
endif
override REFUSED := $(OPTIONS) $(foreach name,$(STEERING),$(if $($(name)),$(name)))
override REFUSED := $(strip $(REFUSED) $(filter-out $(KNOWN),$(GIVEN)))
ifneq (,$(REFUSED))
$(error $(REFUSED): such settings can hide failures; run make without them)
endif

override SHELL := /bin/sh
override .SHELLFLAGS := -c

# Without these variables, tools use only their pinned libraries, modules and settings.
unexport $(filter WHY3% OCAML% PYTHON% LD_% COVERAGE% MYPY% RUFF_%,$(.VARIABLES))

BIN := .venv/bin
PYTHON := -I -S -B -X pycache_prefix=/dev/null
TOOLS := python3 $(PYTHON) proofs/run.py
INSTALL := $(TOOLS) install
# Only a complete run is recorded.
RECORD = $(if $(FUZZ)$(THEORY),,$(TOOLS) record $@)
TESTS_TOOL := $(BIN)/python -E -s -B -X pycache_prefix=/dev/null

export HYPOTHESIS_STORAGE_DIRECTORY := $(CURDIR)/build/cache/hypothesis

.PHONY: all help tools all-tools install core check extract prove update seal pin test evidence nightly
.PHONY: validate fuzz certify coverage mutants-c verify-c cross object models bench mutants doc sonnx clean
.DELETE_ON_ERROR:
# Steps run one after the other, also with -j; proofs use all cores.
.NOTPARALLEL:

all: tools
	@$(TOOLS) extract --check
	@$(TOOLS) gate
	@$(TOOLS) pack

help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' Makefile

tools:
	@$(INSTALL)

all-tools:
	@$(INSTALL) --tests

# Check the core's last theory with all that it uses, and sonnx/clauses, which no program uses.
core: all-tools
	@$(TOOLS) check --used kernel/views sonnx/clauses

check: all-tools
	@$(TOOLS) check $(FILE)

extract: tools
	@$(TOOLS) extract

prove: tools
	@$(TOOLS) gate --fresh
	@$(TOOLS) pack

update: tools
	@$(TOOLS) update $(THEORY)

seal: tools
	@$(TOOLS) seal

pin: tools
	@$(TOOLS) pin

# The tests of a file share a process and fixtures, unless an idle process takes some tests. `tested`
# checks that each test of a clause ran. Tests run with the accelerator; then WITHOUT runs without it.
WITHOUT := tests/package tests/dialects --ignore=tests/package/test_wheel.py
test: all-tools
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	rm -f build/tests.xml
	WHYCAST_NATIVE=1 $(BIN)/pytest -n auto --dist worksteal --junitxml=build/tests.xml
	@$(TOOLS) tested
	WHYCAST_NATIVE=0 $(BIN)/pytest -n auto --dist worksteal -q $(WITHOUT)

evidence:
	@$(INSTALL) --tests
	$(if $(ARCHIVE),,$(error evidence: expected ARCHIVE=, the name of a new file))
	@$(TOOLS) extract --check
	@$(TOOLS) gate --fresh
	@$(TOOLS) pack
	@$(TOOLS) doc
	@$(TOOLS) archive "$(ARCHIVE)"

nightly: validate mutants mutants-c certify verify-c object cross models fuzz coverage all

# CMake reads CC, CFLAGS and LDFLAGS from the environment only once, so each build starts anew.
install:
	rm -rf build/c
	cmake -S c -B build/c -D CMAKE_INSTALL_PREFIX="$(or $(PREFIX),/usr/local)" \
	    -D CMAKE_INSTALL_INCLUDEDIR="$(or $(INCLUDEDIR),include)" \
	    -D CMAKE_INSTALL_LIBDIR="$(or $(LIBDIR),lib)" $(if $(CFLAGS),-D CMAKE_BUILD_TYPE=None)
	cmake --build build/c
	DESTDIR="$(DESTDIR)" cmake --install build/c

validate: all-tools
	@$(RECORD) $(SHELL) -ec '$(TESTS_TOOL) tests/extraction/drawn.py 2000; $(TOOLS) validate'

fuzz: all-tools
	@$(RECORD) prlimit --as=8589934592 \
	    $(BIN)/pytest -n auto --hypothesis-profile=many tests/fuzz $(FUZZ)

coverage: all-tools
	@$(RECORD) $(TESTS_TOOL) tests/branches/measure.py

mutants-c: all-tools
	@$(RECORD) $(TESTS_TOOL) tests/c/mutate_c.py

verify-c:
	@$(INSTALL) --tests --also verify-c
	@$(RECORD) $(TESTS_TOOL) tests/c/verify.py

cross:
	@$(INSTALL) --tests --also cross
	@$(RECORD) $(TESTS_TOOL) tests/c/cross.py

# `--also cross`: object.py also measures the stack for ARM.
object:
	@$(INSTALL) --tests --also cross
	@$(RECORD) $(TESTS_TOOL) tests/c/object.py

certify:
	@$(INSTALL) --tests --also certify
	@$(RECORD) $(TOOLS) certify $(if $(KEEP),--keep "$(KEEP)") $(THEORY)

models:
	@$(INSTALL) --tests --also models
	@$(RECORD) $(SHELL) -ec '$(TESTS_TOOL) tests/peers/run_pack.py; \
	    $(TESTS_TOOL) tests/models/drawn_models.py 10000; $(TESTS_TOOL) tests/models/released.py'

bench: all-tools
	@$(TESTS_TOOL) tests/bench/bench.py $(BENCH)

mutants: tools
	@$(RECORD) $(TOOLS) mutants

doc: all-tools
	@$(TOOLS) doc

sonnx: all-tools
	@$(TOOLS) sonnx

clean:
	rm -rf build python/whycast.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache
	rm -f python/whycast/_native*.so
	find python proofs why3 tests -name __pycache__ -prune -exec rm -rf {} +
