# whycast: from a bare Debian 12 to proved theories and tested Python.
#
#   make          install the toolchain, extract the Python again and compare it with the committed
#                 file, replay a proof of every theorem: of the recorded ones the quickest; write
#                 what an assessor reads, build/evidence/index.html (make evidence is the same)
#   make test     check the Python code, run the tests, replay a sixth of the other proofs on record
#   make extract  write python/whycast/_kernel.py anew
#   make prove    replay all recorded proofs (five minutes and more)
#   make update   prove what changed, refresh the sessions (THEORY="shape layout": only these) and the
#                 links of proofs/FINDINGS.md
#   make mutants  change definitions and programs one by one: a goal has to notice each change
#   make doc      the theories as linked web pages in build/doc
#   make clean    remove build/ and every cache
#
# Debian packages that are missing apart, nothing is written outside of this directory.

BIN := .venv/bin
EXTRACT := $(BIN)/python -I -B proofs/tools extract
GATE := $(BIN)/python proofs/gate/gate.py

# The one cache that pyproject.toml cannot move into build/.
export HYPOTHESIS_STORAGE_DIRECTORY := $(CURDIR)/build/cache/hypothesis

.PHONY: all evidence tools extract prove update test mutants doc clean
.DELETE_ON_ERROR:
# Steps wait for each other whatever -j says; the proofs use the cores that there are.
.NOTPARALLEL:

# Evidence of an earlier run must not stand where this one fails.
all evidence: tools
	@rm -rf build/evidence
	@$(EXTRACT) --check
	@$(GATE) --quickest
	@$(BIN)/python proofs/evidence/evidence.py

tools:
	@python3 proofs/provers/install.py

extract: tools
	@$(EXTRACT)

prove: tools
	@$(GATE)

update: tools
	@$(GATE) --update $(THEORY)
	@$(BIN)/python proofs/gate/findings.py

# The tests run on all cores. Those of a file stay in one process, which prepares once what they
# share, until another process has nothing left to do.
test: tools
	@python3 proofs/provers/install.py --tests
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/pytest -n auto --dist worksteal
	@$(GATE) --sample

mutants: tools
	@$(BIN)/python proofs/mutants/mutants.py

doc: tools
	@mkdir -p build/doc
	cd why3 && why3 -C ../build/why3.conf doc -L . --title whycast -o ../build/doc *.mlw trusted/*.mlw

clean:
	rm -rf build python/whycast.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find python proofs why3 tests -name __pycache__ -prune -exec rm -rf {} +
