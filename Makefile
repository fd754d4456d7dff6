# The two commands of the README are `make demo` and `make test`; both do their own set-up.
# `make` alone lists every target.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

BINARY := target/release/dripline
# What `cargo test` has built, with its checks of overflow; no test measures speed. DRIPLINE_BIN is another.
TESTED := target/debug/dripline
PYTHON := .venv/bin/python
PEERS := tests/peers
BROWSER := tests/browser
FLEET := tests/fleet
# How many random streams the property tests send through a real proxy.
STREAMS := 10000
QUICK_STREAMS := 500
# Most tests wait for scripted times and hardly compute, so more of them than cores run side by side.
TEST_THREADS := 6
# How long each fuzz target gets new inputs: in `make fuzz`, and in `make test`.
FUZZ_SECONDS := 600
QUICK_FUZZ_SECONDS := 5
CALIBRATE_STREAMS := 3400

step = @printf '\n==> %s\n' "$(1)"

.PHONY: help demo test test-quick setup build bench fuzz calibrate screenshot clean-parts lint rust fuzz-quick peers browser fleet calibrate-quick

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## (.*)/  make \1\t\2/' | expand -t 22

demo: ## simulated server, proxy, a few dozen requests, plots, a live page (under 20 s once built; KEEP=1 stays up)
	@scripts/setup.sh demo
	@$(MAKE) --no-print-directory build
	@$(BINARY) demo $(if $(KEEP),--keep)

test: ## everything: lint, docs, unit, property and socket tests, real servers and SDKs, a browser, ClickHouse, a part of the calibration
	@scripts/setup.sh test
	@$(MAKE) --no-print-directory lint rust fuzz-quick peers browser fleet calibrate-quick STREAMS=$(STREAMS) FULL=1
	@printf '\nmake test: all passed\n'

test-quick: ## the Rust part of `make test`, with fewer random streams
	@scripts/setup.sh rust
	@$(MAKE) --no-print-directory lint rust STREAMS=$(QUICK_STREAMS)

setup: ## install what `make test` needs (nothing is done twice)
	@scripts/setup.sh test

build: ## the release binary, target/release/dripline
	$(call step,release build)
	@cargo build --release --locked --bin dripline

bench: ## the benches (criterion)
	@scripts/setup.sh demo
	@cargo bench --locked

fuzz: ## every fuzz target, FUZZ_SECONDS each (600)
	@scripts/setup.sh fuzz
	@fuzz/run.sh $(FUZZ_SECONDS) fuzz/found

calibrate: ## real hops, known streams: how often the verdict is right, into docs/calibration.md (about 10 min)
	@scripts/setup.sh calibrate
	@$(MAKE) --no-print-directory build
	$(call step,$(CALIBRATE_STREAMS) streams through real hops)
	@$(PYTHON) -m calibrate run --streams $(CALIBRATE_STREAMS)
	$(call step,what the hints name set, and the same streams again)
	@$(PYTHON) -m calibrate cures
	@$(PYTHON) -m calibrate score

screenshot: ## the README's picture of the page, from `dripline demo --keep`
	@scripts/setup.sh screenshot
	@$(MAKE) --no-print-directory build
	@node $(BROWSER)/screenshot.mjs $(BINARY) docs/page.png

clean-parts: ## remove the Python and npm parts that set-up installed in this checkout
	rm -rf .venv $(PEERS)/node_modules $(BROWSER)/node_modules $(BROWSER)/shots calibrate/node_modules

# The parts of `make test`, each good alone once `make setup` has run.

lint:
	$(call step,cargo fmt)
	@cargo fmt --all --check
	@cargo fmt --manifest-path fuzz/Cargo.toml --check
	$(call step,cargo clippy)
	@cargo clippy --locked --all-targets -- -D warnings
	$(call step,cargo doc)
	@RUSTDOCFLAGS='-D warnings' cargo doc --locked --no-deps

rust:
	$(call step,cargo test ($(STREAMS) random streams))
	@TEST_RANDOM_STREAMS=$(STREAMS) $(if $(FULL),TEST_FULL=1) RUST_TEST_THREADS=$(TEST_THREADS) cargo test --locked

fuzz-quick:
	$(call step,fuzz targets ($(QUICK_FUZZ_SECONDS) s each))
	@cd fuzz && cargo clippy --release --locked --all-targets -- -D warnings
	@fuzz/run.sh $(QUICK_FUZZ_SECONDS)

peers:
	$(call step,real peers: llmock + nginx + the official SDKs for Python)
	@cargo build --locked --bin dripline --example frames
	@DRIPLINE_BIN=$${DRIPLINE_BIN:-$(TESTED)} $(PYTHON) -m pytest $(PEERS)
	$(call step,real peers: llmock + the official SDKs for Node; another framing of event streams)
	@DRIPLINE_BIN=$${DRIPLINE_BIN:-$(TESTED)} node --test --test-reporter=spec $(PEERS)/*.test.mjs

browser:
	$(call step,the pages of the report and of a running proxy in Chromium (pictures of them in $(BROWSER)/shots))
	@cargo build --locked --bin dripline --example frames # as in peers
	@DRIPLINE_BIN=$${DRIPLINE_BIN:-$(TESTED)} node --test --test-reporter=spec $(BROWSER)/*.test.mjs

fleet:
	$(call step,ClickHouse says of 100000 records what dripline report says; the other files of deploy/)
	@cargo build --locked --bin dripline --example frames # as in peers
	@DRIPLINE_BIN=$${DRIPLINE_BIN:-$(TESTED)} $(PYTHON) -m pytest $(FLEET)

calibrate-quick:
	$(call step,a small part of the calibration)
	@cargo build --locked --bin dripline --example frames # as in peers: other targets would mean other features, and all built anew
	@DRIPLINE_BIN=$${DRIPLINE_BIN:-$(TESTED)} $(PYTHON) -m pytest calibrate
