# Everything a person does with this tree, one word each; `make` alone lists them.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help run libs install uninstall test lint docs msrv platforms audit fuzz soak bench micro counts compare reviews reviews-sql compare-service mariadb mariadb-try mariadb-test mariadb-suites
# Where rustup puts cargo, for shells that were started before it was installed.
export PATH := $(HOME)/.cargo/bin:$(PATH)

help: ## list what can be made
	@sed -n 's/^\([a-z-]*\): ## \(.*\)/make \1\t\2/p' Makefile | expand -t 24

run: ## build the tool in release mode and show the engine at work
	@scripts/setup.sh
	@tool=$$(scripts/tool.sh); "$$tool" demo

libs: ## build the C libraries, libesker and libkvs, and the tool
	@scripts/setup.sh
	cargo build --release --locked -p esker-capi -p esker-kvs -p esker-cli

# Under sudo the one who asked builds in his own tree: the toolchain is his, and so is what it makes.
install: ## put tool, manual, completions, C libraries and headers below PREFIX (/usr/local); also DESTDIR, …
	@as=(); if [ "$$(id -u)" = 0 ] && [ "$${SUDO_USER:-root}" != root ] && \
		[ "$$(stat -c %U Makefile)" = "$$SUDO_USER" ]; then \
		as=(sudo -H -u "$$SUDO_USER" --preserve-env=CARGO_TARGET_DIR); \
	fi; \
	"$${as[@]}" $(MAKE) --no-print-directory libs; \
	built=$$("$${as[@]}" scripts/setup.sh target)/release; \
	LIBRARY="$$built/libkvs.so" ARCHIVE="$$built/libesker_c.a" TOOL="$$built/esker" $(INSTALL_WORDS) scripts/install.sh install

uninstall: ## take away what install put there; the same PREFIX, LIBDIR, INCLUDEDIR, DESTDIR
	@$(INSTALL_WORDS) scripts/install.sh uninstall

INSTALL_WORDS = PREFIX="$(PREFIX)" LIBDIR="$(or $(LIBDIR),$(libdir))" \
	INCLUDEDIR="$(or $(INCLUDEDIR),$(includedir))" BINDIR="$(or $(BINDIR),$(bindir))" \
	DATADIR="$(or $(DATADIR),$(datadir))" DESTDIR="$(DESTDIR)"

test: ## prove that the tree is sound: lint, every test, and the models of what threads share
	@scripts/setup.sh cxx
	@$(MAKE) --no-print-directory lint
	@# With the one feature that is off by default: nothing is built twice for it. Tests of clusters
	@# wait more than they work, so there are more at a time than processors.
	RUST_TEST_THREADS=$${RUST_TEST_THREADS:-6} cargo test --workspace --locked --features esker/tracing
	scripts/browser.sh
	scripts/loom.sh

lint: ## check format, clippy, the rules of STYLE.md, and that a build without compressors, fuzz targets and rivals still build
	@scripts/setup.sh lint
	cargo fmt --all --check
	cargo fmt --manifest-path crates/esker-bench-rivals/Cargo.toml --check
	deny=$$(scripts/setup.sh deny); cargo clippy --workspace --all-targets --locked --features esker/tracing -- $$deny; \
		cargo clippy -p esker --no-default-features --lib --tests --locked -- $$deny
	cargo fmt --manifest-path fuzz/Cargo.toml --check
	cargo check --manifest-path crates/esker-bench-rivals/Cargo.toml --all-targets --target-dir target --locked
	@# Named, the fuzzer's own library is not built: nothing is linked here.
	CUSTOM_LIBFUZZER_PATH=/nowhere/libfuzzer.a cargo check --manifest-path fuzz/Cargo.toml --target-dir target --locked
	cargo xtask tidy

docs: ## build the guide as a site, and the documentation of the crates
	@scripts/setup.sh
	@scripts/docs.sh

msrv: ## check that everything builds with the oldest Rust that is promised; installs it by rustup
	@scripts/setup.sh
	scripts/msrv.sh

platforms: ## check that everything compiles for macOS and FreeBSD; fetches what rustup lacks for it
	@scripts/setup.sh lint
	scripts/platforms.sh

audit: ## check licences, duplicates, sources and known holes of what comes from outside; needs the network
	@scripts/setup.sh
	scripts/audit.sh

fuzz: ## run each fuzz target for FUZZ_SECONDS seconds (default 60), and list those that failed
	@scripts/setup.sh
	scripts/fuzz.sh

soak: ## run the long tests, deeper models, the sanitizers and Miri
	@scripts/setup.sh lint
	cargo test --workspace --release --locked -- --ignored soak
	@# The rivals that are built in no time: an adapter that nobody builds breaks unheard.
	cargo check --manifest-path crates/esker-bench-rivals/Cargo.toml --all-targets --target-dir target --locked \
		--features fjall,leveldb,redb
	deny=$$(scripts/setup.sh deny); for kept in "" lz4 snappy zstd; do \
		cargo clippy -p esker --no-default-features --features "$$kept" --lib --tests --locked -- $$deny; \
		cargo test -p esker --no-default-features --features "$$kept" --lib --tests --locked; \
	done
	ESKER_SEEDS=20000 ESKER_STRESS=20 cargo test -p esker --release --locked --test it -- model threads
	@# An hour of cut links, killed and frozen nodes (ESKER_SOAK_SECONDS), in network namespaces, which
	@# only root may make.
	@if [ "$$(id -u)" = 0 ] && command -v ip >/dev/null; then \
		cargo test -p esker-cli --release --locked --test it -- --ignored --nocapture nemesis::cut_links; \
	else echo "not run: links cut between network namespaces need root and ip (iproute2)" >&2; fi
	scripts/loom.sh deep
	scripts/sanitize.sh
	scripts/miri.sh

bench: ## run the scenarios small, a few minutes: figures of this machine beside published ones
	@scripts/setup.sh
	@tool=$$(scripts/tool.sh); \
	"$$tool" bench scenario all --size $(or $(SIZE),small) \
		--dir target/bench --json target/bench.json $(BENCH); \
	printf '\nall of it as a page for the browser: '; \
	"$$tool" bench report target/bench.json -o target/bench.html

micro: ## time the engine's operations and parts in process, one by one
	@scripts/setup.sh
	cargo bench --locked -p esker --bench db

counts: ## count the instructions of each operation, and fail where one grew by more than 10 %
	@scripts/setup.sh
	scripts/counts.sh

# Record and page land in COMPARE_DIR; COMPARE may name other files.
COMPARE_DIR ?= target/compare
compare: ## measure Esker and its rivals in turns, and make a report; COMPARE holds further arguments
	@mkdir -p $(COMPARE_DIR)
	scripts/rivals.sh $(or $(RIVALS),all) --json $(COMPARE_DIR)/run.json \
		--html $(COMPARE_DIR)/report.html --history docs/history.tsv $(COMPARE)

# Only the rival of the published document is built.
reviews: ## load and read reviews on Esker and RocksDB in turns at four memory limits; REVIEWS adds flags
	@mkdir -p target/reviews
	scripts/rivals.sh $(or $(RIVALS),rocksdb) reviews --dir=target/reviews/stores \
		--json=target/reviews/run.json --html=target/reviews/report.html $(REVIEWS)

# The server's headers are fetched, and the plugin is built of this very tree.
reviews-sql: ## load and read reviews in MariaDB on Esker, InnoDB and MyRocks at four memory limits; REVIEWS_SQL adds flags
	@for part in packages headers plugin; do scripts/mariadb.sh $$part || exit 1; done
	@scripts/mariadb.sh myrocks || echo "no MyRocks: it takes no part" >&2
	@mkdir -p target/reviews-sql; made=$$(scripts/setup.sh target)/mariadb; \
	scripts/rivals.sh mariadb reviews-sql --plugins="$$made/plugins" --myrocks="$$made/myrocks" \
		--json=target/reviews-sql/run.json --html=target/reviews-sql/report.html $(REVIEWS_SQL)

# Where there is no etcd, ours is measured alone, and that is said.
compare-service: ## measure a cluster of three nodes in turns with one of etcd; SERVICE adds flags, such as --rounds 3
	@scripts/setup.sh
	@beside="--beside etcd"; scripts/setup.sh etcd || beside=; \
	[ -n "$$beside" ] || echo "no etcd: ours is measured alone" >&2; \
	mkdir -p target/service; tool=$$(scripts/tool.sh); \
	"$$tool" bench scenario service --only writes --only reads $$beside \
		--dir target/service/nodes --json target/service/run.json $(SERVICE); \
	printf '\nall of it as a page for the browser: '; \
	"$$tool" bench report target/service/run.json -o target/service/report.html

mariadb: ## install MariaDB 10.11.18 of Debian 12, fetch its headers, build the storage engine, test its bytes
	@scripts/mariadb.sh

mariadb-try: ## start a throw-away MariaDB with the storage engine in it; scripts/mariadb-server.sh stop ends it
	@scripts/mariadb-server.sh start --default-storage-engine=ESKER

mariadb-test: ## hold the storage engine against InnoDB, by one and several connections, over crashes, without memory, damaged
	@for part in packages headers plugin; do scripts/mariadb.sh $$part || exit 1; done
	@scripts/mariadb-sql.sh
	@scripts/mariadb-sessions.sh
	@scripts/mariadb-crash.sh
	@scripts/mariadb-memory.sh
	@scripts/mariadb-check.sh

# The suites come with a package of the server's that is fetched into target/.
mariadb-suites: ## run the server's own tests of engines over the storage engine and InnoDB, and explain each difference
	@scripts/mariadb-suites.sh
