# whycast: from a bare Debian 12 to proved theories and tested Python.
#
#   make          install the toolchain, extract the Python again and compare it with the committed
#                 file, replay every proof
#   make test     check the Python code and run the tests
#   make extract  write python/whycast/_kernel.py anew
#   make prove    replay every proof and compare what is proved with proofs/theorems.txt
#   make update   prove what changed and refresh the sessions (THEORY="shape layout": only these)
#   make doc      the theories as linked web pages in build/doc
#   make clean    remove build/ and every cache
#
# Debian packages that are missing apart, nothing is written outside of this directory.

BIN := .venv/bin
EXTRACT := $(BIN)/python why3/extraction/extract.py
GATE := $(BIN)/python proofs/gate/gate.py

# The one cache that pyproject.toml cannot move into build/.
export HYPOTHESIS_STORAGE_DIRECTORY := $(CURDIR)/build/cache/hypothesis

.PHONY: all tools extract prove update test doc clean
.DELETE_ON_ERROR:
# Steps wait for each other whatever -j says; the proofs use the cores that there are.
.NOTPARALLEL:

all: tools
	@$(EXTRACT) --check
	@$(GATE)

tools:
	@python3 proofs/provers/install.py

extract: tools
	@$(EXTRACT)

prove: tools
	@$(GATE)

update: tools
	@$(GATE) --update $(THEORY)

test: tools
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/pytest

doc: tools
	@mkdir -p build/doc
	cd why3 && why3 -C ../build/why3.conf doc -L . --title whycast -o ../build/doc *.mlw trusted/*.mlw

clean:
	rm -rf build python/whycast.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find python proofs why3 tests -name __pycache__ -prune -exec rm -rf {} +
