#!/usr/bin/env bash
# Makes sure that a Rust toolchain and a C compiler are there; silent if they are.
#
#   scripts/setup.sh          what a build needs: cargo and a C compiler (zstd is written in C)
#   scripts/setup.sh lint     the same, and rustfmt and clippy
#   scripts/setup.sh deny     says what turns warnings of clippy into errors, for the compiler that the
#                             tree was checked with; nothing for another one, whose lints are news
#   scripts/setup.sh target   says where cargo puts what it builds, whoever chose that place
#   scripts/setup.sh cxx      the first, and a C++ compiler, for the tests of the C headers
#   scripts/setup.sh browser  Chromium, which shows the pages of reports in a test; its absence is told
#                             and is no failure
#   scripts/setup.sh rivals   the same as the first, LevelDB's library, and what builds RocksDB: a
#                             C++ compiler and libclang
#   scripts/setup.sh etcd     the same as the first, and etcd's server, beside which the service is measured
#
# On Debian and its kin it installs what is missing through apt; elsewhere it says what is missing
# and the one command that installs it, and exits with 1.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$HOME/.cargo/bin:$PATH"

wanted=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
# The version whose clippy the tree is checked with, before it is named here.
checked=1.95
rustup_command="curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y"

has_cargo() {
    local have
    # "cargo 1.95.0 (…)"; nothing at all if there is no default toolchain.
    have=$(cargo --version 2>/dev/null | cut -d' ' -f2 | cut -d- -f1) || return 1
    [ -n "$have" ] && [ "$(printf '%s\n' "$wanted" "$have" | sort -V | head -n1)" = "$wanted" ]
}
has_compiler() { command -v cc >/dev/null || command -v gcc >/dev/null || command -v clang >/dev/null; }
has_rustup() { command -v rustup >/dev/null; }
has_leveldb() { echo 'int main(void) { return 0; }' | cc -x c - -lleveldb -o /dev/null 2>/dev/null; }
has_cxx() { command -v c++ >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null; }
# Not libclang-cpp, which comes with LLVM and is of no use here.
has_libclang() {
    [ -n "${LIBCLANG_PATH:-}" ] ||
        compgen -G '/usr/lib/llvm-*/lib/libclang[.-][s0-9]*' >/dev/null ||
        compgen -G '/usr/lib*/libclang[.-][s0-9]*' >/dev/null ||
        compgen -G '/usr/lib/*-linux-gnu/libclang[.-][s0-9]*' >/dev/null
}
has_lint() { cargo fmt --version >/dev/null 2>&1 && cargo clippy --version >/dev/null 2>&1; }

fail() {
    printf 'setup: %s\n' "$1" >&2
    printf 'setup: install it with: %s\n' "$2" >&2
    exit 1
}

# The way to become root, or nothing if there is none.
as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}
can_apt() {
    command -v apt-get >/dev/null && { [ "$(id -u)" = 0 ] || command -v sudo >/dev/null; }
}
apt_updated=no
apt_offers() {
    if [ "$apt_updated" = no ]; then
        as_root apt-get update -qq
        apt_updated=yes
    fi
    # `show` also knows packages that others only mention. Read to its end: who stops at the line that
    # is looked for ends apt-cache by a broken pipe, more often than not, and that is a failure here.
    local candidate
    candidate=$(LC_ALL=C apt-cache policy "$1" | sed -n 's/^ *Candidate: //p')
    [ -n "$candidate" ] && [ "$candidate" != "(none)" ]
}
apt_install() { as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$1"; }

# The package where there is one (Debian 13, Ubuntu 24.04 and later), else the project's own
# installer, which writes to ~/.cargo and ~/.rustup only.
install_rustup() {
    if can_apt && apt_offers rustup; then
        echo "setup: installing rustup" >&2
        apt_install rustup
        return
    fi
    if ! command -v curl >/dev/null; then
        can_apt || fail "no Rust toolchain of version $wanted or newer, and no curl to fetch it" "$rustup_command"
        echo "setup: installing curl" >&2
        apt_install curl
    fi
    echo "setup: installing rustup, from static.rust-lang.org, into ~/.cargo and ~/.rustup" >&2
    # What sh.rustup.rs leads to, from the host that the toolchain comes from.
    curl --proto '=https' --tlsv1.2 -sSf https://static.rust-lang.org/rustup/rustup-init.sh |
        sh -s -- -y --quiet --no-modify-path --default-toolchain none ||
        fail "rustup could not be installed" "$rustup_command"
}

if [ "${1:-}" = deny ]; then
    have=$(cargo --version | cut -d' ' -f2)
    if [ "${have%.*}" = "$checked" ]; then
        echo "-D warnings"
    else
        echo "setup: cargo $have is not $checked: what its clippy warns of is no error" >&2
    fi
    exit 0
fi

if [ "${1:-}" = target ]; then
    cargo metadata --no-deps --offline --format-version 1 |
        sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p'
    exit 0
fi

# Nothing but one test needs it, so a machine without it is told and goes on.
if [ "${1:-}" = browser ]; then
    # Nobody is asked for a password for its sake.
    can_quietly() { [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; }
    if ! scripts/browser.sh find >/dev/null && can_apt && can_quietly && apt_offers chromium; then
        echo "setup: installing chromium, to look at reports in a test" >&2
        apt_install chromium >/dev/null || echo "setup: chromium could not be installed" >&2
    fi
    exit 0
fi

if ! has_compiler; then
    can_apt && apt_offers build-essential ||
        fail "no C compiler (cc, gcc or clang)" "apt-get install build-essential (elsewhere: the package that holds cc)"
    echo "setup: installing build-essential" >&2
    apt_install build-essential
fi

if ! has_cargo; then
    if ! has_rustup; then
        install_rustup
    fi
    echo "setup: installing the stable Rust toolchain" >&2
    rustup toolchain install stable --profile minimal
    rustup default stable
    has_cargo || fail "cargo is older than $wanted, or another cargo comes first in PATH" "rustup update stable && rustup default stable"
fi

if [ "${1:-}" = lint ] && ! has_lint; then
    has_rustup || fail "no rustfmt or no clippy beside cargo" "$rustup_command"
    echo "setup: installing rustfmt and clippy" >&2
    rustup component add rustfmt clippy
fi

if { [ "${1:-}" = rivals ] || [ "${1:-}" = cxx ]; } && ! has_cxx; then
    can_apt && apt_offers g++ ||
        fail "no C++ compiler" "apt-get install g++ (elsewhere: the package that holds c++)"
    echo "setup: installing g++" >&2
    apt_install g++
fi

if [ "${1:-}" = etcd ] && ! command -v etcd >/dev/null; then
    can_apt && apt_offers etcd-server ||
        fail "no etcd to measure beside" "apt-get install etcd-server (elsewhere: the package that holds etcd)"
    echo "setup: installing etcd-server" >&2
    apt_install etcd-server
    # What is measured are members of its own; one that nobody asked for only takes memory and a port.
    if command -v systemctl >/dev/null && systemctl is-active --quiet etcd 2>/dev/null; then
        echo "setup: the package has started a member of its own; systemctl disable --now etcd ends it" >&2
    fi
fi

if [ "${1:-}" = rivals ]; then
    if ! has_leveldb; then
        can_apt && apt_offers libleveldb-dev ||
            fail "no LevelDB to link against" "apt-get install libleveldb-dev (elsewhere: the package that holds libleveldb.so)"
        echo "setup: installing libleveldb-dev" >&2
        apt_install libleveldb-dev
    fi
    if ! has_libclang; then
        can_apt && apt_offers libclang-dev ||
            fail "no libclang, which reads RocksDB's header" "apt-get install libclang-dev (elsewhere: the package that holds libclang.so)"
        echo "setup: installing libclang-dev" >&2
        apt_install libclang-dev
    fi
fi
