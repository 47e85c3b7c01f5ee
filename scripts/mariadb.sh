#!/usr/bin/env bash
# Gets the MariaDB that the storage engine is written for, and builds the engine and its tests.
#
#   scripts/mariadb.sh            all of it: packages, headers, plugin, tests of the codecs
#   scripts/mariadb.sh packages   install server, client and headers of exactly this version
#   scripts/mariadb.sh headers    fetch the headers that no package has from the source package
#   scripts/mariadb.sh codecs     build and run the tests of the codecs
#   scripts/mariadb.sh plugin     build ha_esker.so into target/mariadb/plugins
#   scripts/mariadb.sh myrocks    fetch MyRocks of this version into target/mariadb/myrocks, to compare
#   scripts/mariadb.sh unpack DIR PACKAGE…   fetch packages of this version and put their files below DIR
#   scripts/mariadb.sh crashing   build one that ends the server where it is told to, for tests
#   scripts/mariadb.sh sanitized  build one with AddressSanitizer and UBSan, and run tests over it
#   scripts/mariadb.sh status     say what is installed and fetched, and change nothing
#
# A server loads a storage engine only if both are of the same patch release, so the version is
# pinned, also where the distribution offers a newer one whose source it does not serve. What is
# fetched stays below target/; apt reads a configuration of its own there, the machine's is not
# touched. No service is installed: the package of the server's core has none.
set -euo pipefail
cd "$(dirname "$0")/.."

release=10.11.18
version=1:$release-0+deb12u1
suite=bookworm
target=$(scripts/setup.sh target)
place=$(mkdir -p "$target/mariadb" && cd "$target/mariadb" && pwd)
headers=$place/headers-$release
sources=plugins/mariadb
parts=(key_text key_codec row_codec table_options table_record counter catalog catalog_alter
    file_set sorted_load table_load session ha_esker ha_esker_alter ha_esker_load ha_esker_read
    ha_esker_locks ha_esker_moved ha_esker_condition ha_esker_ranges ha_esker_statistics
    ha_esker_write ha_esker_check index_statistics schema_tables store_tables events plugin)
wanted=(mariadb-server-core mariadb-client-core mariadb-common libmariadb3 libmariadb-dev
    libmariadbd19 libmariadbd-dev)

fail() {
    printf 'mariadb: %s\n' "$@" >&2
    exit 1
}
as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}
# The version that is installed, or nothing; dpkg fails for a package it never heard of.
installed() {
    { dpkg-query -W -f '${db:Status-Abbrev}${Version}\n' "$1" 2>/dev/null || true; } |
        sed -n 's/^ii *//p'
}

# The mirror that the machine itself uses, so that proxies and local mirrors are honoured.
mirror() {
    local found
    found=$(apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
        sed -n "s|^\(http[^ ]*\) $suite main\$|\1|p" | head -n1)
    printf '%s' "${found:-http://deb.debian.org/debian}"
}

apt_words=(-o "Dir::Etc::SourceList=$place/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::State::Lists=$place/apt/lists" -o "Dir::Cache=$place/apt/cache"
    -o APT::Sandbox::User=root)
apt_ready() {
    command -v apt-get >/dev/null ||
        fail "needs Debian 12 or its kin: there is no apt-get here" \
            "the engine is built for the MariaDB $release of Debian 12 and for no other"
    [ -e "$place/apt/ready" ] && return
    mkdir -p "$place/apt/lists/partial" "$place/apt/cache/archives/partial"
    local key='[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]' from
    from=$(mirror)
    printf '%s\n' "deb $key $from $suite main" "deb-src $key $from $suite main" \
        >"$place/apt/sources.list"
    as_root apt-get "${apt_words[@]}" -qq update ||
        fail "$from does not answer; is there a network?"
    touch "$place/apt/ready"
}

# Another version on the machine may serve somebody: it is told and left as it is.
packages() {
    local package have missing=()
    for package in "${wanted[@]}"; do
        have=$(installed "$package")
        if [ -z "$have" ]; then
            missing+=("$package=$version")
        elif [ "$have" != "$version" ]; then
            fail "$package $have is installed; the engine is built for $version, and a server" \
                "refuses an engine of another patch release. To go to that version, if no data" \
                "of yours was written by a newer one:" \
                "  apt-get install --allow-downgrades $(printf "%s=$version " "${wanted[@]}")"
        fi
    done
    [ ${#missing[@]} = 0 ] && return
    apt_ready
    as_root env DEBIAN_FRONTEND=noninteractive apt-get "${apt_words[@]}" -qq install -y \
        --no-install-recommends "${missing[@]}" >"$place/packages.log" 2>&1 ||
        { tail -n 5 "$place/packages.log" >&2; fail "apt could not install ${missing[*]}"; }
}

# The packages lack the server's own headers (sql/*.h) on purpose; the source package has them.
fetch_headers() {
    [ -e "$headers/ready" ] && return
    apt_ready
    local archive=$place/mariadb_$release.orig.tar.gz top=mariadb-$release
    [ -e "$archive" ] || (cd "$place" &&
        apt-get "${apt_words[@]}" -qq source --download-only "mariadb=$version" >source.log 2>&1) ||
        { tail -n 3 "$place/source.log" >&2
          fail "the source of mariadb $version cannot be had from $(mirror);" \
              "put mariadb_$release.orig.tar.gz into $place and try again"; }
    rm -rf "$headers"
    mkdir -p "$headers"
    tar xzf "$archive" -C "$headers" --strip-components=1 --wildcards "$top/include/*" \
        "$top/sql/*.h" "$top/wsrep-lib/include/*" "$top/wsrep-lib/wsrep-API/v26/*.h"
    # The one generated header that neither a package nor the archive has.
    cp "$headers/include/probes_mysql_nodtrace.h.in" "$headers/include/probes_mysql_nodtrace.h"
    check_release
    touch "$headers/ready"
}

# Packages bring the generated headers, the archive the others: both must be of one release.
check_release() {
    local said
    said=$(sed -n 's/^#define MYSQL_SERVER_VERSION[^"]*"\([0-9.]*\).*/\1/p' \
        /usr/include/mariadb/server/mysql_version.h 2>/dev/null || true)
    [ "$said" = "$release" ] ||
        fail "/usr/include/mariadb/server is of ${said:-no} release, the headers of $release" \
            "run: scripts/mariadb.sh packages"
}

codecs() {
    command -v g++ >/dev/null || fail "needs a C++ compiler; install it with: apt-get install g++"
    check_release
    local made=$place/codecs part
    mkdir -p "$made"
    # Warnings of the server's headers are the server's.
    local words=(-std=gnu++17 -O1 -g -DHAVE_CONFIG_H -DDBUG_OFF -DEMBEDDED_LIBRARY -Wall -Wextra
        -fsanitize=address,undefined -fno-sanitize-recover=undefined
        -isystem /usr/include/mariadb/server -isystem "$headers/include" -isystem "$headers/sql"
        -isystem "$headers/wsrep-lib/include" -isystem "$headers/wsrep-lib/wsrep-API/v26")
    for part in key_text key_text_test key_codec row_codec codec_test; do
        g++ "${words[@]}" -c "$sources/$part.cc" -o "$made/$part.o"
    done
    local link=(g++ -fsanitize=address,undefined)
    "${link[@]}" "$made"/key_text{,_test}.o -o "$made/key_text_test" -lmariadbd
    "${link[@]}" "$made"/{key_text,key_codec,row_codec,codec_test}.o -o "$made/codec_test" \
        -lmariadbd
    "$made/key_text_test"
    "$made/codec_test" "$made/server"
}

# is_made OBJECT PART: whether nothing that it is made of is newer.
is_made() {
    [ -e "$1" ] && [ -z "$(find "$sources/$2.cc" "$sources"/*.h crates/esker-capi/include \
        scripts/mariadb.sh -type f -newer "$1" -print -quit)" ]
}

# compile OBJECTS PART… [-- OPTION…]: parts of the plugin that have changed. DBUG_OFF is of the layout
# of the server's classes, as the distribution builds it.
compile() {
    local made=$1 part parts=() words=(-std=gnu++17 -O2 -g -fPIC -DMYSQL_DYNAMIC_PLUGIN
        -DHAVE_CONFIG_H -DDBUG_OFF -DNDEBUG -Wall -Wextra -Icrates/esker-capi/include
        -isystem /usr/include/mariadb/server -isystem "$headers/include" -isystem "$headers/sql"
        -isystem "$headers/wsrep-lib/include" -isystem "$headers/wsrep-lib/wsrep-API/v26")
    shift
    while [ $# != 0 ] && [ "$1" != -- ]; do parts+=("$1"); shift; done
    mkdir -p "$made"
    local job jobs=()
    for part in "${parts[@]}"; do
        ! is_made "$made/$part.o" "$part" || continue
        [ "$(jobs -pr | wc -l)" -lt "$(nproc)" ] || wait -n
        g++ "${words[@]}" "${@:2}" -c "$sources/$part.cc" -o "$made/$part.o" &
        jobs+=($!)
    done
    for job in "${jobs[@]}"; do wait "$job"; done
}

# link PLUGIN OBJECT…: the version script shows what the server asks for by name: without its
# services, which it fills in, the plugin would end the server at its first message. The file gets a
# new inode, or a server that has it loaded would be killed.
link() {
    local plugin=$1 archive=${ARCHIVE:-$target/release/libesker_c.a}
    mkdir -p "${plugin%/*}"
    g++ -shared -o "$place/objects/linked.so" "${@:2}" "$archive" \
        "$(find /usr/lib -name libmysqlservices.a | head -n1)" -lpthread -ldl -lm -lgcc_s \
        -Wl,--version-script="$sources/export.map" -Wl,-z,relro,-z,now -Wl,--gc-sections
    install -m 755 "$place/objects/linked.so" "$plugin"
}

# What a plugin is linked of: ARCHIVE, or the archive that cargo makes.
archive() {
    command -v g++ >/dev/null || fail "needs a C++ compiler; install it with: apt-get install g++"
    check_release
    [ -e "$headers/ready" ] || fail "there are no headers; run: scripts/mariadb.sh headers"
    [ -n "${ARCHIVE:-}" ] || cargo build --release --locked -p esker-capi
}

plugin() {
    archive
    compile "$place/objects" "${parts[@]}"
    local objects=("${parts[@]/#/$place/objects/}")
    link "$place/plugins/ha_esker.so" "${objects[@]/%/.o}"
    echo "mariadb: the plugin is $place/plugins/ha_esker.so; try it with: make mariadb-try"
}

crashing() {
    archive
    local made=$place/objects/crashing part objects=()
    compile "$place/objects" "${parts[@]}"
    compile "$made" session catalog_alter ha_esker_alter file_set table_load plugin \
        -- -DESKER_CRASHES
    for part in "${parts[@]}"; do
        objects+=("$place/objects/$part.o")
        [ ! -e "$made/$part.o" ] || objects[-1]=$made/$part.o
    done
    link "$place/plugins-crashing/ha_esker.so" "${objects[@]}"
}

# The sanitizers see what the plugin itself reads and writes, in a server that is not built with them,
# so they are loaded before all else. Leaks are not looked for: the server leaves much to its end.
# What the server's headers forbid by hand (poisoning) is not heeded, since the server, which is not
# built with it, does not allow it again. Which class a pointer is of (vptr) cannot be asked of its
# objects.
sanitized() {
    archive
    local made=$place/objects/sanitized objects script said=$place/sanitized.said
    local words=(-O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize=vptr
        -fno-sanitize-recover=undefined)
    compile "$made" "${parts[@]}" -- "${words[@]}"
    objects=("${parts[@]/#/$made/}")
    link "$place/plugins-sanitized/ha_esker.so" "${words[@]}" "${objects[@]/%/.o}"
    rm -f "$said".*
    for script in mariadb-sql mariadb-sessions; do
        MARIADB_PLUGINS=$place/plugins-sanitized \
            MARIADB_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)" \
            ASAN_OPTIONS="detect_leaks=0:allow_user_poisoning=0:log_path=$said" \
            UBSAN_OPTIONS="print_stacktrace=1:log_path=$said" "scripts/$script.sh" ||
            fail "scripts/$script.sh failed over the sanitized plugin"
    done
    ! ls "$said".* 2>/dev/null || fail "the sanitizers have found something: $said.*"
}

# unpack DIRECTORY PACKAGE…: of the server's packages exactly this version. They are not installed,
# since some would bring a server that runs as a service.
unpack() {
    local made=$1 fetched=$place/unpacked package words=()
    shift
    apt_ready
    for package in "$@"; do
        case $package in
        mariadb-*) words+=("$package=$version") ;;
        *) words+=("$package") ;;
        esac
    done
    rm -rf "$fetched"
    mkdir -p "$fetched" "$made"
    (cd "$fetched" && apt-get "${apt_words[@]}" -qq download "${words[@]}" >../unpack.log 2>&1) ||
        { tail -n 3 "$place/unpack.log" >&2; fail "$* of $version cannot be had from $(mirror)"; }
    for package in "$fetched"/*.deb; do dpkg -x "$package" "$made"; done
    rm -rf "$fetched"
}

# The library that the plugin alone needs lies beside it, for LD_LIBRARY_PATH.
myrocks() {
    local made=$place/myrocks unpacked=$place/myrocks-packages
    [ -e "$made/ha_rocksdb.so" ] && return
    rm -rf "$unpacked"
    mkdir -p "$made"
    unpack "$unpacked" mariadb-plugin-rocksdb libsnappy1v5
    find "$unpacked/usr/lib" -name 'libsnappy.so.*' -exec cp -a '{}' "$made/" ';'
    # Last, since it says that all is there.
    find "$unpacked/usr/lib" -name ha_rocksdb.so -exec cp '{}' "$made/" ';'
    rm -rf "$unpacked"
}

status() {
    local package have
    for package in "${wanted[@]}"; do
        have=$(installed "$package")
        printf '%-22s %s\n' "$package" "${have:-not installed}"
    done
    have='not fetched'
    [ ! -e "$headers/ready" ] || have=$headers
    printf '%-22s %s\n' headers "$have"
    have='not built'
    [ ! -e "$place/plugins/ha_esker.so" ] || have=$place/plugins/ha_esker.so
    printf '%-22s %s\n' plugin "$have"
}

case ${1:-all} in
all) packages; fetch_headers; plugin; codecs ;;
packages) packages ;;
headers) fetch_headers ;;
codecs) codecs ;;
plugin) plugin ;;
unpack) unpack "${@:2}" ;;
sanitized) sanitized ;;
crashing) crashing ;;
myrocks) myrocks ;;
status) status ;;
*) fail "no such word: $1; the first lines of $0 say which there are" ;;
esac
