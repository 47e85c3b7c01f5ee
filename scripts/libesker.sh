#!/usr/bin/env bash
# Puts the C library libesker where compilers and the loader look for it, or takes it away again.
#
#   scripts/libesker.sh install      makes libesker.so.1 and libesker.a of the archive that cargo
#                                    built, and copies them, esker/c.h and esker.pc
#   scripts/libesker.sh uninstall    removes what install copied, and nothing else
#
# From the environment: PREFIX, LIBDIR, INCLUDEDIR and DESTDIR as in scripts/install.sh, which runs
# this; ARCHIVE, target/release/libesker_c.a unless given; CC, LD and OBJCOPY.
#
# Only the linker itself takes a list of what a library shows: handed to rustc, such a list does
# nothing. So both libraries are made here. In the archive as cargo makes it every name is global,
# those of the compressor in it as well, and a program with a compressor of its own would get two.
set -euo pipefail
cd "$(dirname "$0")/.."

prefix=${PREFIX:-/usr/local}
libdir=${LIBDIR:-$prefix/lib}
includedir=${INCLUDEDIR:-$prefix/include}
destdir=${DESTDIR:-}
archive=${ARCHIVE:-target/release/libesker_c.a}
cc=${CC:-cc}
ld=${LD:-ld}
objcopy=${OBJCOPY:-objcopy}

# Goes up with ESKER_ABI_VERSION of esker/c.h.
soname=libesker.so.1
real=$soname.0.0
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n1)
source=crates/esker-capi
pc=$libdir/pkgconfig/esker.pc

fail() {
    printf 'libesker: %s\n' "$1" >&2
    exit 1
}

install_all() {
    [ -f "$archive" ] || fail "$archive is not there; build it with: make libs"
    [ "$(uname -s)" != Darwin ] || fail "on macOS link $archive itself; no one has made libesker there"
    for tool in "$cc" "$ld" "$objcopy"; do
        command -v "$tool" >/dev/null || fail "needs $tool (packages gcc and binutils)"
    done
    made=$(mktemp -d)
    trap 'rm -rf "$made"' EXIT
    # One object of all, in which nothing but the interface has a name for others, and no section is
    # in a group: where another library of rustc has one of that name, ours would be thrown away.
    "$ld" -r --force-group-allocation --whole-archive "$archive" -o "$made/esker.o"
    # What the standard library holds for link-time optimisation is no more than so many bytes then.
    "$objcopy" --strip-debug --remove-section=.llvmbc --remove-section=.llvmcmd \
        --wildcard --keep-global-symbol='esker_*' "$made/esker.o"
    ar rcs "$made/libesker.a" "$made/esker.o"
    # Never unloaded: its threads, and its handler of SIGBUS, would be left without their code.
    "$cc" -shared -o "$made/libesker.so" "$made/esker.o" -Wl,-soname,"$soname" \
        -Wl,--version-script="$source/libesker.map" -Wl,--gc-sections -Wl,--strip-all \
        -Wl,-z,relro,-z,now,-z,nodelete -lpthread -lm -ldl -lgcc_s
    install -d "$destdir$libdir/pkgconfig" "$destdir$includedir/esker"
    install -m 644 "$made/libesker.so" "$destdir$libdir/$real"
    ln -sf "$real" "$destdir$libdir/$soname"
    ln -sf "$soname" "$destdir$libdir/libesker.so"
    install -m 644 "$made/libesker.a" "$destdir$libdir/libesker.a"
    install -m 644 "$source/include/esker/c.h" "$destdir$includedir/esker/c.h"
    sed -e "s|@PREFIX@|$prefix|" -e "s|@LIBDIR@|$libdir|" -e "s|@INCLUDEDIR@|$includedir|" \
        -e "s|@VERSION@|$version|" "$source/esker.pc.in" >"$made/esker.pc"
    install -m 644 "$made/esker.pc" "$destdir$pc"
    echo "libesker: it is in $destdir$libdir, its header is $destdir$includedir/esker/c.h"
}

uninstall_all() {
    rm -f "$destdir$libdir/libesker.so" "$destdir$libdir/$soname" "$destdir$libdir/$real" \
        "$destdir$libdir/libesker.a" "$destdir$pc" "$destdir$includedir/esker/c.h"
    rmdir "$destdir$includedir/esker" 2>/dev/null || true
    echo "libesker: it is gone from $destdir$libdir and $destdir$includedir"
}

case ${1:-} in
install) install_all ;;
uninstall) uninstall_all ;;
*) fail "give install or uninstall" ;;
esac
