# Each target makes what it needs: the virtual environment, the extension, the tools.
#   make demo    build (minutes the first time), then reproduce the LAN study; says how long that takes and what it wrote
#   make check   the tests of the packages that differ from the last commit, or of those named: make check PACKAGE="queue study"
#   make test    all Rust and Python tests, with one build: the dev profile's. `make build` puts the release build of the extension back
#   make test-long  these and the exhaustive ones (marked `long` in Python, ignored in Rust), with the release build of the extension and 35 times the random cases
#   make test-stacks  the tests of the real transport stacks, with an extension that has them: minutes of building, so not a part of `test`
#   make bench   the benchmark set P1-P10, instructions per packet-hop where valgrind is installed, memory of 100,000 flows, packet capture, overhead of a study, start of a command
#   make profile  counts what the engine does mostly, for the compiler at hand (rustup component add llvm-tools): later builds are laid out for that
#   make lint    formatting and lints of both languages, types of Python; generated files and the layer graph are as the sources say
#   make lint-web  the JavaScript of web/ by ESLint, its bundles and its tests, where Node is installed (npm ci fetches the tools once)
#   make docs    generated reference pages and the API documentation of the crates
#   make site    the documentation as a web site that needs no network: build/site/index.html
#   make clean   removes .venv, build products and results
# FAIRLANE_CASES=10 multiplies the number of cases of every random test, of Rust and Python alike: 1 for `make test`, 35 for `make test-long`.
# VENV=folder and PYTHON=interpreter choose others than .venv and the first Python >= 3.11 found.

VENV ?= .venv
BIN := $(VENV)/bin
PY := $(abspath $(BIN))/python
PAPER ?= sarma2013

export PATH := $(PATH):$(HOME)/.cargo/bin
# Every build looks at the same interpreter, so nothing is compiled twice.
export PYO3_PYTHON := $(PY)
# And for what the engine does mostly, where that was counted for this compiler (make profile).
ifndef CARGO_ENCODED_RUSTFLAGS
PROFILE := $(shell benches/profile/flags)
# An empty variable would put RUSTFLAGS out of force.
ifneq ($(PROFILE),)
export CARGO_ENCODED_RUSTFLAGS := $(PROFILE)
endif
endif
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_ROOT_USER_ACTION := ignore
export PIP_QUIET := 1
export MPLBACKEND := Agg

SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml 2>/dev/null) Cargo.toml $(wildcard Cargo.lock) .cargo/config.toml $(wildcard benches/profile/*.profdata)

.PHONY: all build demo check test test-long test-stacks bench profile lint lint-web docs site clean missing
.DELETE_ON_ERROR:

all: build

build: $(VENV)/.built

demo: build
	@echo "fairlane is ready: $(BIN)/fairlane"
	@$(PY) -c "from fairlane.papers import load; p = load('$(PAPER)'); print(f\"reproducing {p.key}, {p.words['title']}: about {max(1, round(p.minutes))} min on two cores; stopped, it goes on with the same command\")"
	$(BIN)/fairlane reproduce $(PAPER)
	@echo "written: results/$(PAPER)/index.html shows all tables and figures; next: $(BIN)/fairlane new home"

check: $(VENV)/.tested $(VENV)/.dev
	@$(PY) tests/check.py $(PACKAGE)

test: $(VENV)/.tested $(VENV)/.dev
	cargo test --workspace
	$(PY) -m pytest -n auto --dist loadfile -m "not long" --durations=10

test-long: export FAIRLANE_CASES := $(or $(FAIRLANE_CASES),35)
test-long: build $(VENV)/.dev
	cargo test --workspace -- --include-ignored
	$(PY) -m pytest -n auto --dist loadfile --durations=10

test-stacks: $(VENV)/.dev
	cargo test --package fairlane-stacks --features quinn,noq,str0m
	VIRTUAL_ENV=$(abspath $(VENV)) $(PY) -m maturin develop --quiet --extras all --features stacks
	@rm -f $(VENV)/.built $(VENV)/.tested
	$(PY) -m pytest tests/test_stacks.py tests/test_stacks_live.py tests/test_stacks_media.py tests/test_own_stack_c.py

bench: build
	$(BIN)/fairlane bench
	$(PY) benches/instructions.py
	$(PY) benches/memory.py
	$(PY) benches/pcap.py
	$(PY) benches/study.py
	$(PY) benches/startup.py

profile: build
	$(PY) benches/profile.py

lint: $(VENV)/.dev
	@cargo fmt --version >/dev/null 2>&1 || { echo "make: cargo fmt is missing: rustup component add rustfmt" >&2; exit 1; }
	@cargo clippy --version >/dev/null 2>&1 || { echo "make: cargo clippy is missing: rustup component add clippy" >&2; exit 1; }
	cargo fmt --all --check
	@# Modules that a macro declares (impairments, topologies) are not seen by cargo fmt.
	rustfmt --edition 2024 --check crates/net/src/impair/*.rs crates/scenario/src/topology/*.rs
	cargo clippy --workspace --all-targets -- -D warnings
	$(PY) -m ruff format --check python tests examples papers docs/site
	$(PY) -m ruff check python tests examples papers docs/site
	$(PY) -m mypy
	$(PY) -m pyright --pythonpath $(PY)
	@# Neither `cargo dev`, which optimises across crates, nor `cargo run`, which selects other features: the tests need this build anyway.
	cargo build --quiet --workspace --bin fairlane-dev
	for what in check arrows cycles files words; do $${CARGO_TARGET_DIR:-target}/debug/fairlane-dev $$what || exit 1; done

# Not a part of `lint`: nobody who does not change web/ needs Node, and nothing else asks npm's registry for anything.
lint-web:
	@command -v npm >/dev/null 2>&1 || { echo "make: npm is missing: install Node 20 or newer" >&2; exit 1; }
	cd web && { [ -e node_modules/.bin/eslint ] || npm ci --no-audit --no-fund; } && npm run --silent lint && npm run --silent check && npm test --silent

docs: build
	cargo dev gen
	$(PY) -m fairlane.base.glossary > GLOSSARY.md
	$(PY) -m fairlane.cli.manual > docs/reference/cli.md
	$(PY) -m fairlane.base.documents_manual > docs/reference/json.md
	$(PY) -m fairlane.study.manual > docs/reference/studies.md
	$(PY) -m fairlane.tuning.manual > docs/reference/tuning.md
	$(PY) docs/package_index.py > docs/package-index.md
	cargo doc --workspace --no-deps

site: build $(VENV)/.dev
	$(PY) docs/site/build.py

clean:
	rm -rf $(VENV) target results build
	rm -f python/fairlane/_core*.so

# The environment with maturin in it. A missing prerequisite is named in one line.
$(VENV)/.made:
	@for tool in cargo cc; do command -v $$tool >/dev/null 2>&1 || { \
	  echo "make: $$tool is missing: install $$([ $$tool = cargo ] && echo 'Rust 1.88 or newer' || echo 'a C compiler (Debian: apt-get install gcc)')" >&2; exit 1; }; done
	@found=; for p in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11; do \
	  if command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then found=$$p; break; fi; done; \
	if [ -z "$$found" ]; then echo "make: Python 3.11 or newer is missing (set PYTHON=path if it has another name)" >&2; exit 1; fi; \
	$$found -c 'import venv, ensurepip' >/dev/null 2>&1 || { echo "make: $$found has no venv module (Debian: apt-get install python3-venv)" >&2; exit 1; }; \
	echo "making $(VENV) with $$($$found --version)"; $$found -m venv $(VENV)
	$(PY) -m pip install --quiet 'maturin>=1.8,<2'
	@touch $@

# The extension in release mode, the package in editable form, its dependencies, .venv/bin/fairlane.
$(VENV)/.built: $(VENV)/.made pyproject.toml $(SOURCES) $(if $(wildcard python/fairlane/_core*.so),,missing)
	@echo "building the engine and fetching libraries: some minutes the first time, seconds later"
	VIRTUAL_ENV=$(abspath $(VENV)) $(PY) -m maturin develop --release --quiet --extras all
	@rm -f $(VENV)/.tested; touch $@

# The same with the dev profile, which the Rust tests have, too: `make test` compiles everything once.
$(VENV)/.tested: $(VENV)/.made pyproject.toml $(SOURCES) $(if $(wildcard python/fairlane/_core*.so),,missing)
	VIRTUAL_ENV=$(abspath $(VENV)) $(PY) -m maturin develop --quiet --extras all
	@rm -f $(VENV)/.built; touch $@

# What tests and lints need, as listed in pyproject.toml under `dev`; the checker of types reads the libraries of the package, too.
$(VENV)/.dev: $(VENV)/.made pyproject.toml
	$(PY) -m pip install --quiet $$($(PY) -c "import tomllib; p = tomllib.load(open('pyproject.toml', 'rb'))['project']; e = p['optional-dependencies']; print(*p['dependencies'], *e['all'], *e['dev'])")
	@touch $@
