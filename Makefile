# The front door; CMake does the work.
#
#   make              build/tempera, build/libtempera.so, build/libtempera.a
#   make demo         install missing packages, build, run the first example
#   make test         the same set-up, then every test
#   make sanitize     the sanitizers' part of it, with what waits or samples for long
#   make install      to PREFIX (and DESTDIR)
#   make deb          Debian packages, into build-deb/packages
#   make try-packages these installed on a bare Debian (a chroot), and the examples there
#   make dist         a source archive, build/tempera-VERSION.tar.gz
#   make try-dist     that archive built by itself, its unit tests and the first example
#   make bench        what things cost, as ratios
#   make coverage     are the error bars honest? (200 seeds, minutes)
#   make answers      how often point nulls and calibration are wrong
#   make family       every method and estimator beside the exact answers
#   make everyday     posteriors of the kind people have, ten seeds each
#   make gauntlet     301 problems of known evidence, as users would run them
#   make regression   conjugate regressions in 20 to 200 dimensions
#   make posteriordb CHECKOUT=DIR    posteriordb's programs likewise
#   make peers        beside rstan, JAGS, MCMCpack and emcee, where they are
#   make experiments  these and truth, dimension, budget, ablation (an hour)
#   make docs         the numbers in README, guide and gallery, by running them
#   make page         the charts of reports, from page/ (needs Node)
#   make screenshots  the pictures in docs/screenshots (needs Chromium too)
#   make format clean
PREFIX ?= /usr/local
BUILD := build
JOBS := $(shell nproc)
TIMINGS := overhead models language
EXPERIMENTS := coverage verdict truth dimension regression budget ablation family
GENERATOR := $(if $(shell command -v ninja),-G Ninja,)

.PHONY: all docs functions-table setup demo test sanitize install deb try-packages dist try-dist bench $(EXPERIMENTS) gauntlet survive long efficiency memory valgrind posteriordb peers \
  everyday answers \
  experiments page screenshots format clean

all: $(BUILD)/CMakeCache.txt
	cmake --build $(BUILD) -j $(JOBS)

$(BUILD)/CMakeCache.txt:
	cmake -S . -B $(BUILD) $(GENERATOR)

setup:
	./scripts/setup.sh

# What it runs and no more: the command and one model.
demo: setup
	$(MAKE) $(BUILD)/CMakeCache.txt
	cmake --build $(BUILD) -j $(JOBS) --target tempera model-bimodal
	rm -rf demo-run
	$(BUILD)/tempera sample $(BUILD)/models/bimodal.so \
	  -d models/paper/bimodal.json -o demo-run

test:
	./scripts/setup.sh --test
	./scripts/setup-browser.sh
	./scripts/test.sh

# All unit tests and those of the command under the sanitizers.
sanitize:
	./scripts/setup.sh --test
	./scripts/test.sh --sanitizers

install: all
	cmake -S . -B $(BUILD) -DCMAKE_INSTALL_PREFIX=$(PREFIX) > /dev/null
	cmake --build $(BUILD) -j $(JOBS)
	cmake --install $(BUILD)

deb: setup
	./scripts/deb.sh

try-packages: deb
	./scripts/try_packages.sh

dist:
	./scripts/dist.sh

try-dist:
	./scripts/dist.sh --try

bench: all
	cmake --build $(BUILD) -j $(JOBS) --target benchmarks
	@for bench in $(TIMINGS); do \
	  echo "== $$bench"; $(BUILD)/bench-$$bench || exit 1; \
	done
	@echo "== python"; benchmarks/python.sh $(BUILD)

# Tables on the terminal, figures in build/NAME.json. The plot and the family's
# tables are kept in docs/.
$(EXPERIMENTS): all
	cmake --build $(BUILD) -j $(JOBS) --target bench-$@
	$(BUILD)/bench-$@ -o $(BUILD)/$@.json $(PLOT) $(EXPERIMENT_FLAGS)

dimension: PLOT := --svg docs/dimension.svg
family: PLOT := --document docs/methods.md

everyday: all
	python3 benchmarks/everyday/everyday.py $(BUILD)/tempera $(EXPERIMENT_FLAGS)

# Figures of docs/methods.md, "Hypotheses" and "Calibration".
answers: all
	/usr/bin/python3 benchmarks/savage_dickey.py $(BUILD)/tempera $(EXPERIMENT_FLAGS)
	python3 benchmarks/calibration.py $(BUILD)/tempera $(EXPERIMENT_FLAGS)

survive: all
	python3 benchmarks/survive.py $(BUILD) $(EXPERIMENT_FLAGS)

long: all
	python3 benchmarks/long.py $(BUILD)

# How the time of SIR falls on two threads and two ranks; needs two idle cores.
efficiency: all
	benchmarks/ranks.sh $(BUILD) sir program

# Every allocation of a run fails in turn (minutes); the suite takes some.
memory: all
	TEMPERA_EVERY=1 $(BUILD)/tests/test_memory

valgrind:
	./scripts/setup.sh --test
	./scripts/valgrind.sh

gauntlet: all
	python3 benchmarks/gauntlet/gauntlet.py $(BUILD)/tempera \
	  -o $(BUILD)/gauntlet.json --document docs/methods.md $(EXPERIMENT_FLAGS)

# Needs a checkout of github.com/stan-dev/posteriordb.
posteriordb: all
	python3 benchmarks/posteriordb.py $(BUILD)/tempera "$(CHECKOUT)" \
	  -o $(BUILD)/posteriordb.json --document docs/benchmarks.md $(EXPERIMENT_FLAGS)

# Rows are kept in build/peers.json: --only and --again make it in pieces.
peers: all
	cmake --build $(BUILD) -j $(JOBS) --target bench-gradient
	/usr/bin/python3 benchmarks/peers/peers.py $(BUILD) -o $(BUILD)/peers.json \
	  --document docs/benchmarks.md --plot docs/peers.svg $(EXPERIMENT_FLAGS)

experiments: $(EXPERIMENTS) gauntlet

page/node_modules: page/package-lock.json
	cd page && npm ci --no-audit --no-fund
	touch $@

# The result is committed: users need no Node.
page: page/node_modules
	cd page && node build.js

SHOTS := $(BUILD)/screenshots
screenshots: all page/node_modules
	rm -rf $(SHOTS)
	mkdir -p $(SHOTS) docs/screenshots
	for data in galaxy-3 galaxy-3-equal galaxy-4; do \
	  $(BUILD)/tempera sample $(BUILD)/models/galaxy.so --seed 1 --quiet \
	    -d models/paper/$$data.json -o $(SHOTS)/$$data || exit 1; \
	done
	cd $(SHOTS) && ../tempera compare galaxy-3 galaxy-3-equal galaxy-4 \
	  --html compare.html > /dev/null
	$(BUILD)/tempera sample $(BUILD)/models/sir.so --seed 1 --quiet \
	  -d models/paper/eyam.json -o $(SHOTS)/sir
	node page/screenshots.js $(abspath $(SHOTS))/sir/report.html \
	  $(abspath $(SHOTS))/compare.html docs/screenshots

# Numbers depend on the version, the seed and the kind of processor (README,
# Reproducible). Pictures need Chromium.
DOCUMENTS := README.md docs/guide.md $(wildcard docs/gallery/*.md)
docs: all
	DOCS_KEEP=$(BUILD)/docs scripts/docs.py $(BUILD) --write $(DOCUMENTS)
	scripts/claims.py --write
	[ ! -d page/node_modules ] || node page/pictures.js $(abspath $(BUILD))/docs docs/gallery

functions-table: all
	TEMPERA_WRITE_TABLE=1 $(BUILD)/tests/test_function_table

format:
	git ls-files '*.c' '*.h' | xargs clang-format -i

clean:
	rm -rf $(BUILD) build-asan build-tsan build-deb build-valgrind build-fuzz demo-run
