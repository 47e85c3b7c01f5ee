#!/usr/bin/env bash
# Puts the C libraries libkvs and libesker where compilers and the loader look for them, and the tool
# where shells do, or takes them away again.
#
#   scripts/install.sh install      copies libraries, headers and pkg-config files; and the tool, with
#                                   its manual and completions, which it writes itself
#   scripts/install.sh uninstall    removes what install copied, and nothing else
#
# From the environment, as other makefiles have it:
#
#   PREFIX      /usr/local unless given
#   LIBDIR      $PREFIX/lib unless given; a distribution may want $PREFIX/lib/x86_64-linux-gnu
#   INCLUDEDIR  $PREFIX/include unless given
#   BINDIR      $PREFIX/bin unless given
#   DATADIR     $PREFIX/share unless given: man/man1 and the completions go below
#   DESTDIR     put before all of them, for packages: the files do not know of it
#   LIBRARY     libkvs as it was built, target/release/libkvs.so unless given
#   ARCHIVE     libesker as it was built, target/release/libesker_c.a; without it, libesker is not
#               installed (scripts/libesker.sh makes of it what is)
#   TOOL        the tool as it was built; without it, libraries are installed alone
set -euo pipefail
cd "$(dirname "$0")/.."

# Not every shell reads the tilde of `make install PREFIX=~/.local`.
at_home() { case $1 in "~/"*) printf '%s\n' "$HOME/${1#"~/"}" ;; *) printf '%s\n' "$1" ;; esac; }

prefix=$(at_home "${PREFIX:-/usr/local}")
libdir=$(at_home "${LIBDIR:-$prefix/lib}")
includedir=$(at_home "${INCLUDEDIR:-$prefix/include}")
bindir=$(at_home "${BINDIR:-$prefix/bin}")
datadir=$(at_home "${DATADIR:-$prefix/share}")
destdir=${DESTDIR:-}
tool=${TOOL:-}
archive=${ARCHIVE:-}
library=${LIBRARY:-target/release/libkvs.so}

fail() {
    printf 'install: %s\n' "$1" >&2
    exit 1
}
for path in "$prefix" "$libdir" "$includedir" "$bindir" "$datadir"; do
    case $path in /*) ;; *) fail "$path is no absolute path" ;; esac
done

# Goes up with the name in crates/esker-kvs/build.rs.
soname=libkvs.so.1
real=$soname.0.0
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n1)
source=crates/esker-kvs
pc=$libdir/pkgconfig/kvs.pc
type_h=$includedir/type.h

# `type.h` is a name that others may have taken; that of kvs, ours or the original, says so inside.
is_of_kvs() { grep -q KVS_TYPE "$1"; }

# What only a debugger wants is 40 of the tool's 47 MB, and most of the library.
strip_debug() {
    if ! command -v strip >/dev/null || ! strip --strip-unneeded "$1"; then
        echo "install: no strip here (package binutils): $1 is larger than it need be" >&2
    fi
}

install_all() {
    [ -f "$library" ] || fail "$library is not there; build it with: make libs"
    if [ -f "$destdir$type_h" ] && ! is_of_kvs "$destdir$type_h"; then
        fail "$destdir$type_h belongs to something else; give another INCLUDEDIR, such as $includedir/kvs"
    fi
    install -d "$destdir$libdir/pkgconfig" "$destdir$includedir"
    install -m 644 "$library" "$destdir$libdir/$real"
    strip_debug "$destdir$libdir/$real"
    ln -sf "$real" "$destdir$libdir/$soname"
    # Programs that were linked against the original look for this name when they start, too.
    ln -sf "$soname" "$destdir$libdir/libkvs.so"
    install -m 644 "$source/include/kvs.h" "$source/include/type.h" "$destdir$includedir"
    sed -e "s|@PREFIX@|$prefix|" -e "s|@LIBDIR@|$libdir|" -e "s|@INCLUDEDIR@|$includedir|" \
        -e "s|@VERSION@|$version|" "$source/kvs.pc.in" >"$destdir$pc"
    chmod 644 "$destdir$pc"
    if [ -n "$archive" ]; then
        libesker install
    fi
    if [ -n "$tool" ]; then
        install_tool
    fi
    refresh
    echo "install: libkvs is in $destdir$libdir, its headers are in $destdir$includedir"
    tell_way
}

libesker() {
    PREFIX=$prefix LIBDIR=$libdir INCLUDEDIR=$includedir DESTDIR=$destdir ARCHIVE=$archive \
        scripts/libesker.sh "$1"
}

# Where each shell looks for completions below a prefix, and what each file is called there.
bash_place=bash-completion/completions/esker
zsh_place=zsh/site-functions/_esker
fish_place=fish/vendor_completions.d/esker.fish

install_tool() {
    [ -x "$tool" ] || fail "$tool is not there; build it with: make libs"
    install -d "$destdir$bindir" "$destdir$datadir/man/man1"
    install -m 755 "$tool" "$destdir$bindir/esker"
    strip_debug "$destdir$bindir/esker"
    "$tool" man --dir "$destdir$datadir/man/man1"
    chmod 644 "$destdir$datadir"/man/man1/esker.1 "$destdir$datadir"/man/man1/esker-*.1
    local shell place
    for shell in bash zsh fish; do
        place=${shell}_place
        place=$destdir$datadir/${!place}
        install -d "$(dirname "$place")"
        "$tool" completions "$shell" >"$place"
        chmod 644 "$place"
    done
    echo "install: the tool is $destdir$bindir/esker; its manual and completions are in $destdir$datadir"
}

# The tool itself knows which pages it wrote.
uninstall_tool() {
    local pages page
    if [ -x "$destdir$bindir/esker" ]; then
        pages=$(mktemp -d)
        "$destdir$bindir/esker" man --dir "$pages"
        for page in "$pages"/*.1; do
            rm -f "$destdir$datadir/man/man1/$(basename "$page")"
        done
        rm -r "$pages"
        rm -f "$destdir$bindir/esker"
    fi
    rm -f "$destdir$datadir/$bash_place" "$destdir$datadir/$zsh_place" "$destdir$datadir/$fish_place"
}

uninstall_all() {
    uninstall_tool
    libesker uninstall
    rm -f "$destdir$libdir/libkvs.so" "$destdir$libdir/$soname" "$destdir$libdir/$real" \
        "$destdir$pc" "$destdir$includedir/kvs.h"
    if [ -f "$destdir$type_h" ] && is_of_kvs "$destdir$type_h"; then
        rm -f "$destdir$type_h"
    fi
    refresh
    echo "install: libkvs is gone from $destdir$libdir and $destdir$includedir, the tool from $destdir$bindir"
}

# The loader keeps a list of the libraries in its own directories, which only root may renew.
refresh() {
    if [ -z "$destdir" ] && [ "$(id -u)" = 0 ] && command -v ldconfig >/dev/null; then
        ldconfig
    fi
}

# Below another prefix neither compilers nor the loader look by themselves.
tell_way() {
    case $libdir in /lib | /lib/* | /usr/lib | /usr/lib/* | /usr/local/lib | /usr/local/lib/*) return ;; esac
    [ -z "$destdir" ] || return 0
    echo "install: for pkg-config and the loader to find it there:"
    echo "    export PKG_CONFIG_PATH=$libdir/pkgconfig LD_LIBRARY_PATH=$libdir"
}

case ${1:-} in
install) install_all ;;
uninstall) uninstall_all ;;
*) fail "give install or uninstall" ;;
esac
