# The front door; CMake does the work.
#
#   make              build/tempera, build/libtempera.so, build/libtempera.a
#   make demo         install missing packages, build, run the first example
#   make test         the same set-up, then every test
#   make install      to PREFIX (and DESTDIR)
#   make bench format clean
PREFIX ?= /usr/local
BUILD := build
JOBS := $(shell nproc)
GENERATOR := $(if $(shell command -v ninja),-G Ninja,)

.PHONY: all setup demo test install bench format clean

all: $(BUILD)/CMakeCache.txt
	cmake --build $(BUILD) -j $(JOBS)

$(BUILD)/CMakeCache.txt:
	cmake -S . -B $(BUILD) $(GENERATOR)

setup:
	./scripts/setup.sh

demo: setup
	$(MAKE) all
	rm -rf demo-run
	$(BUILD)/tempera sample $(BUILD)/models/bimodal.so \
	  -d models/paper/bimodal.json -o demo-run

test: setup
	./scripts/test.sh

install: all
	cmake -S . -B $(BUILD) -DCMAKE_INSTALL_PREFIX=$(PREFIX) > /dev/null
	cmake --build $(BUILD) -j $(JOBS)
	cmake --install $(BUILD)

bench: all
	cmake --build $(BUILD) -j $(JOBS) --target benchmarks
	@for bench in $(BUILD)/bench-*; do \
	  [ -x "$$bench" ] || continue; echo "== $$bench"; "$$bench" || exit 1; \
	done

format:
	git ls-files '*.c' '*.h' | xargs clang-format -i

clean:
	rm -rf $(BUILD) build-asan demo-run
