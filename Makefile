# whycast: from a bare Debian to proved theories and tested Python.
#
#   make help     this text
#   make          install the toolchain, extract the Python and the C again and compare them with the
#                 committed files, run every recorded proof, judge what the proofs rest on, write the facts,
#                 build/evidence/evidence.json; prover answers of earlier runs are taken
#   make test     check the Python code, run the tests
#   make evidence pack sources, tools and what make has written, with a script that replays all of it
#                 without a network (ARCHIVE=whycast.tar)
#   make install  install the C as a library, for CMake and pkg-config too (PREFIX=/usr/local
#                 INCLUDEDIR=include LIBDIR=lib, and DESTDIR, below which all is put)
#   make clean    remove build/ and every cache
#
# While you work (CONTRIBUTING.md):
#   make core     the theories that README tells you to read first: their types, their goals, their tests
#   make check    the same for one theory (FILE=core/shape)
#   make update   find proofs of what changed and record them (THEORY="core/shape numpy/rule": these)
#   make seal     write proofs/claims.lock, when statements and sentences were compared
#   make extract  write python/whycast/_kernel.py, c/whycast.h and c/whycast.c anew
#   make pin      write proofs/gate/binaries.toml, when sources of OCaml changed
#   make doc      write build/doc/index.html, after make: the package, its command line, a page to play,
#                 and the evidence that an assessor reads
#
# What takes minutes to hours. `make nightly` makes all but the benchmark, then make; each fails where it
# finds something, and leaves what it said for the evidence (build/doc/evidence/lanes.html):
#   make prove    as make, but no answer of an earlier run is taken
#   make validate run the extracted Python on unknown integers, along every path; Z3 proves that it keeps its
#                 contracts; drawn programs are extracted to Python and C, and compared with what WhyML
#                 makes of them
#   make mutants  change definitions and programs one by one: a goal has to notice each change
#   make mutants-c change the C in one place at a time: a program that makes all small calls has to notice
#   make verify-c ESBMC and Frama-C's Eva look in the C for what is undefined, and for wrong answers
#   make cross    run the C on an emulated machine of 32 bits and on a big-endian one
#   make object   which decisions of the C, and which jumps of its object code, the tests take both ways;
#                 the stack and the instructions of a call
#   make certify  cvc5 writes a certificate of each proved part, and a checker of our own reads it
#   make fuzz     wild calls of the public functions, by the hundred thousand (FUZZ="--calls 20000")
#   make coverage which branches of the package the tests take: build/coverage
#   make models   count the broadcasts in the models of released packages and in drawn ones, make them
#                 explicit, compare
#   make bench    time the package and its C beside NumPy and plain loops: python/BENCHMARKS.md
#                 (BENCH="--seconds 3 --cells numpy_rule": longer, these cells only)
#
# Nothing is written outside of this directory, except Debian packages that are missing; who is not
# root is told which.

# Rejects what could skip recipes, hide their failures or run others, as an option or from the
# environment, where make takes its own settings too: they begin with a dot. Nothing that is given
# takes the place of these lines.
override GIVEN := $(foreach name,$(.VARIABLES),$(if $(filter line override,$(origin $(name)))$(and \
    $(filter .%,$(name)),$(filter environment,$(origin $(name)))),$(name)))
override OPTIONS := $(filter-out -j% -O% --output-sync% --jobserver% --no-print% -s -w -ws -sw,$(MFLAGS))
override STEERING := MAKEFILES GNUMAKEFLAGS PYTEST_ADDOPTS PYTEST_PLUGINS -*-eval-flags-*-
override KNOWN := THEORY FILE FUZZ BENCH ARCHIVE PREFIX DESTDIR INCLUDEDIR LIBDIR
override REFUSED := $(OPTIONS) $(foreach name,$(STEERING),$(if $($(name)),$(name)))
override REFUSED := $(strip $(REFUSED) $(filter-out $(KNOWN),$(GIVEN)))
ifneq (,$(REFUSED))
$(error $(REFUSED): with this, nothing that is said is a verdict)
endif

override SHELL := /bin/sh
override .SHELLFLAGS := -c

# A tool finds its libraries, modules and settings where they are pinned, not where a variable says.
unexport $(filter WHY3% OCAML% PYTHON% LD_% COVERAGE% MYPY% RUFF_%,$(.VARIABLES))

BIN := .venv/bin
PYTHON := -I -S -B -X pycache_prefix=/dev/null
TOOLS := python3 $(PYTHON) proofs/run.py
INSTALL := $(TOOLS) install
# A run of a part of a lane is none of the lane.
RECORD = $(if $(FUZZ)$(THEORY),,$(TOOLS) record $@)
TESTS_TOOL := $(BIN)/python -E -s -B -X pycache_prefix=/dev/null

# The one cache that pyproject.toml cannot move into build/.
export HYPOTHESIS_STORAGE_DIRECTORY := $(CURDIR)/build/cache/hypothesis

.PHONY: all help tools install core check extract prove update seal pin test evidence nightly validate fuzz
.PHONY: certify coverage mutants-c verify-c cross object models bench mutants doc clean
.DELETE_ON_ERROR:
# Steps wait for each other whatever -j says; the proofs use the cores that there are.
.NOTPARALLEL:

all: tools
	@$(TOOLS) extract --check
	@$(TOOLS) gate
	@$(TOOLS) pack

# The first comment of this file.
help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' Makefile

tools:
	@$(INSTALL)

# The last one of the way, and all that it uses. The clauses are used by no program.
core:
	@$(INSTALL) --tests
	@$(TOOLS) check --used kernel/views sonnx/clauses

check:
	@$(INSTALL) --tests
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

# The tests run on all cores. Those of a file stay in one process, which prepares once what they
# share, until another process has nothing left to do. Each test of a clause has to be among those that
# ran. Those of the package run with the accelerator, and again without.
WITHOUT := tests/package tests/dialects --ignore=tests/package/test_wheel.py
test:
	@$(INSTALL) --tests
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	rm -f build/tests.xml
	WHYCAST_NATIVE=1 $(BIN)/pytest -n auto --dist worksteal --junitxml=build/tests.xml
	@$(TOOLS) tested
	WHYCAST_NATIVE=0 $(BIN)/pytest -n auto --dist worksteal -q $(WITHOUT)

# What is taken along is of proofs that were run now, all of them.
evidence:
	@$(INSTALL) --tests
	$(if $(ARCHIVE),,$(error evidence: expected ARCHIVE=, the name of a new file))
	@$(TOOLS) extract --check
	@$(TOOLS) gate --fresh
	@$(TOOLS) pack
	@$(TOOLS) doc
	@$(TOOLS) archive "$(ARCHIVE)"

nightly: validate mutants mutants-c certify verify-c object cross models fuzz coverage all

# A C compiler and CMake are enough.
install:
	cmake -S c -B build/c -D CMAKE_INSTALL_PREFIX="$(or $(PREFIX),/usr/local)" \
	    -D CMAKE_INSTALL_INCLUDEDIR="$(or $(INCLUDEDIR),include)" \
	    -D CMAKE_INSTALL_LIBDIR="$(or $(LIBDIR),lib)"
	cmake --build build/c
	DESTDIR="$(DESTDIR)" cmake --install build/c

# Z3 comes with what the tests need. The gate does not depend on it, the tests try a smaller bound.
validate:
	@$(INSTALL) --tests
	@$(TESTS_TOOL) tests/extraction/drawn.py 2000
	@$(RECORD) $(TOOLS) validate

fuzz:
	@$(INSTALL) --tests
	@$(RECORD) $(TESTS_TOOL) tests/fuzz/fuzz.py $(FUZZ)

coverage:
	@$(INSTALL) --tests
	@$(RECORD) $(TESTS_TOOL) tests/branches/measure.py

mutants-c:
	@$(INSTALL) --tests
	@$(RECORD) $(TESTS_TOOL) tests/c/mutate_c.py

verify-c:
	@$(INSTALL) --tests --also verify-c
	@$(RECORD) $(TESTS_TOOL) tests/c/verify.py

cross:
	@$(INSTALL) --tests --also cross
	@$(RECORD) $(TESTS_TOOL) tests/c/cross.py

# It asks the compiler for ARM about the stack.
object:
	@$(INSTALL) --tests --also cross
	@$(RECORD) $(TESTS_TOOL) tests/c/object.py

certify:
	@$(INSTALL) --tests --also certify
	@$(RECORD) $(TOOLS) certify $(THEORY)

models:
	@$(INSTALL) --tests --also models
	@$(TESTS_TOOL) tests/models/drawn_models.py 10000
	@$(RECORD) $(TESTS_TOOL) tests/models/released.py

# Nothing that it says is a condition of anything: no test looks at a time.
bench:
	@$(INSTALL) --tests
	@$(TESTS_TOOL) tests/bench/bench.py $(BENCH)

mutants: tools
	@$(RECORD) $(TOOLS) mutants

# The package itself computes what the pages show of it, and the tests have what it needs.
doc:
	@$(INSTALL) --tests
	@$(TOOLS) doc

clean:
	rm -rf build python/whycast.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache
	rm -f python/whycast/_native*.so
	find python proofs why3 tests -name __pycache__ -prune -exec rm -rf {} +
