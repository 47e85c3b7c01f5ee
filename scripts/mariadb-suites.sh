#!/usr/bin/env bash
# Runs the server's own tests of engines over ESKER, and over InnoDB to know what there is to pass.
#
#   scripts/mariadb-suites.sh                  all of it: fetch, record, both engines, compare
#   scripts/mariadb-suites.sh fetch            fetch the package of tests into target/
#   scripts/mariadb-suites.sh run ENGINE       InnoDB or ESKER; keeps what came of each test
#   scripts/mariadb-suites.sh compare          hold what was kept of both against each other
#
# engines/funcs and engines/iuds come with answers. Those of storage_engine are of another release:
# InnoDB records them first, and is then asked like any other. A test that InnoDB passes and ESKER
# does not must stand in plugins/mariadb/suites.tsv with a reason, and what stands there must not
# pass. Needs root or sudo only where `make mariadb` does, and the plugin that it builds. Nothing
# of the package is installed or committed.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(scripts/setup.sh target)
place=$(mkdir -p "$target/mariadb/suites" && cd "$target/mariadb/suites" && pwd)
root=$place/root
tests=$root/usr/share/mysql/mysql-test
reasons=plugins/mariadb/suites.tsv
with_answers=engines/funcs,engines/iuds
to_record=(storage_engine storage_engine/trx storage_engine/parts)

files=$place/files
if [ -w /dev/shm ]; then
    files=$(mktemp -d /dev/shm/esker-suites.XXXXXX)
    trap 'rm -rf "$files"' EXIT
fi

fail() {
    printf 'mariadb-suites: %s\n' "$@" >&2
    exit 1
}

# What the tests look for in one place lies in several packages, of which some are installed.
fetch() {
    [ -e "$root/ready" ] && return
    rm -rf "$root"
    mkdir -p "$root"
    scripts/mariadb.sh unpack "$root" mariadb-{test,test-data,client,server} libpcre2-posix3
    local file
    mkdir -p "$root/usr/sbin" "$root/usr/lib/mysql/plugin"
    for file in /usr/share/mysql/* /usr/bin/{mariadb,mysql}* /usr/bin/my_print_defaults \
        /usr/sbin/mariadbd; do
        [ -e "$root$file" ] || ln -s "$file" "$root$file"
    done
    # The engines that these would have in place of the one that is asked for.
    rm "$tests"/suite/engines/{funcs,iuds}/combinations
    touch "$root/ready"
}

# tests_of ENGINE WORD…: the server's own program. Its servers have their files in memory where there
# is such a place, and loading anything experimental is no fault here.
tests_of() {
    local engine=$1 words=()
    shift
    case $engine in
    InnoDB) words=(--mysqld=--innodb) ;;
    ESKER) words=(--mysqld=--plugin-load-add=ha_esker "--mysqld=--ignore-db-dirs=#esker") ;;
    *) fail "no such engine: $engine" ;;
    esac
    (cd "$tests" && LD_LIBRARY_PATH=$root/usr/lib/$(gcc -print-multiarch) ENGINE=$engine \
        perl mariadb-test-run.pl --vardir="$files/$engine" --force --retry=1 \
        --max-test-fail=0 --nowarnings --nocheck-testcases --parallel="$(nproc)" \
        --testcase-timeout=3 --mysqld=--default-storage-engine="$engine" --mysqld=--partition \
        "${words[@]}" "$@") || true
}

# results LOG: test and result, of a test that was tried again the better one.
results() {
    sed -nE "s/^([a-z_]+\/?[^ ]*\.[^ ]+)( '([^']*)')? +(w[0-9]+ )?\[ ([a-z-]+) \].*/\1 \3\t\5/p" "$@" |
        sed 's/ \t/\t/; s/retry-//' | sort -u |
        awk -F'\t' '!($1 in of) || $2 == "pass" { of[$1] = $2 }
            END { for (test in of) print test "\t" of[test] }' | sort
}

run() {
    local engine=$1 logs=$place/$1
    fetch
    mkdir -p "$logs"
    if [ "$engine" = ESKER ]; then
        [ -e "$target/mariadb/plugins/ha_esker.so" ] ||
            fail "there is no plugin; run: scripts/mariadb.sh plugin"
        cp "$target/mariadb/plugins/ha_esker.so" "$root/usr/lib/mysql/plugin/"
        [ -e "$place/recorded" ] || fail "nothing is recorded; run: $0 run InnoDB"
    elif [ ! -e "$place/recorded" ]; then
        # What is disabled is so because its answers are old. Recording wants each by its name.
        local suite test named=()
        for suite in "${to_record[@]}"; do
            for test in "$tests/suite/$suite"/*.test; do
                named+=("$suite.$(basename "$test" .test)")
            done
        done
        tests_of InnoDB --enable-disabled --record "${named[@]}" >"$logs/record.log" 2>&1
        grep -q '\[ pass \]' "$logs/record.log" ||
            { tail -n 5 "$logs/record.log" >&2; fail "nothing could be recorded"; }
        touch "$place/recorded"
    fi
    tests_of "$engine" --suite=$with_answers >"$logs/engines.log" 2>&1
    tests_of "$engine" --suite="$(IFS=,; echo "${to_record[*]}")" --enable-disabled \
        >"$logs/storage_engine.log" 2>&1
    results "$logs"/{engines,storage_engine}.log >"$place/$engine.tsv"
    [ -s "$place/$engine.tsv" ] ||
        { tail -n 5 "$logs/engines.log" >&2; fail "no test was run: $logs"; }
}

# For each suite how many of those that InnoDB passes, then the differences with their reasons. A
# test is named as it is in the list, or by a pattern with `*`.
compare() {
    awk -F'\t' -v reasons="$reasons" -v passed="$place/InnoDB.tsv" '
        FILENAME == reasons {
            if ($0 ~ /^#/) next
            why[$1] = $2
            pattern = $1; gsub(/[.]/, "[.]", pattern); gsub(/[*]/, ".*", pattern)
            form[$1] = "^" pattern "$"
            next
        }
        FILENAME == passed { if ($2 == "pass") wanted[$1]; next }
        { got[$1] = $2 }
        END {
            for (test in wanted) {
                suite = test; sub(/[.].*/, "", suite)
                if (test ~ /^engines.funcs[.]rpl_/) suite = suite " rpl_*" substr(test, index(test, " "))
                of[suite]++
                if (got[test] == "pass") { ours[suite]++; continue }
                is_told = 0
                for (name in form) if (!is_told && test ~ form[name]) {
                    is_told = 1
                    fitting[name]++
                    explained[name] = explained[name] "\n    " test
                }
                if (!is_told) new[test] = test in got ? got[test] : "not run"
            }
            for (suite in of)
                printf "%-28s %4d of %d that InnoDB passes\n", suite, ours[suite], of[suite] | "sort"
            close("sort")
            for (name in explained) printf "%s%s\n", why[name], explained[name]
            for (test in new) { print test ": " new[test] ", and nobody says why"; bad++ }
            for (name in form) if (!fitting[name]) {
                print name ": passes, and " reasons " says that it cannot"
                bad++
            }
            exit bad > 0
        }' "$reasons" "$place/InnoDB.tsv" "$place/ESKER.tsv"
}

case ${1:-all} in
fetch) fetch ;;
run) run "${2:?which engine}" ;;
compare) compare ;;
all) run InnoDB; run ESKER; compare ;;
*) fail "no such word: $1; the first lines of $0 say which there are" ;;
esac
