#!/usr/bin/env bash
# Statements by several connections at once, each with the answer that it must get.
#
#   scripts/mariadb-sessions.sh [FILE…]    plugins/mariadb/sql/*.sessions if none is given
#
# A line of such a file is one of these:
#
#   # TEXT                       a remark
#   = ENGINE… : TITLE            a scene: for each engine its tables are made anew
#   @ STATEMENT                  is run before the scene, and has no answer
#   2: STATEMENT => ANSWER       connection 2 sends it; rows stand side by side with " | " between
#                                them and "," between columns, "-" for none, "ERROR 1213" for that,
#                                "waits" if there is no answer yet
#   2: => ANSWER                 what a connection that waited gets then
#
# In a statement {2} is the number by which the server knows connection 2.
#
# Needs the plugin that `make mariadb` builds; the server is one of its own, and is stopped at the
# end.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(scripts/setup.sh target)
place=$(cd "$target/mariadb" && pwd)
export MARIADB_FILES=$place/server-of-sessions
server=scripts/mariadb-server.sh
# What waits for a lock does so for seconds; an answer that is due comes in milliseconds.
seconds_due=20
seconds_waiting=0.3

files=("$@")
[ ${#files[@]} != 0 ] || files=(plugins/mariadb/sql/*.sessions)
"$server" start --log-bin="$MARIADB_FILES/binlog" >/dev/null
pipes=$(mktemp -d "$place/sessions.XXXXXX")
trap 'rm -rf "$pipes"; "$server" stop' EXIT

failed=0 steps=0 title='' engine='' marks=0
declare -A inputs outputs waiting numbers

# open SESSION: a connection that answers into a pipe.
open() {
    local session=$1 in out
    mkfifo "$pipes/in" "$pipes/out"
    "$server" sql --force --batch --skip-column-names --unbuffered \
        --init-command="set default_storage_engine=$engine" tables_of \
        <"$pipes/in" >"$pipes/out" 2>&1 &
    exec {in}>"$pipes/in" {out}<"$pipes/out"
    rm "$pipes/in" "$pipes/out"
    inputs[$session]=$in outputs[$session]=$out
    echo "select connection_id();" >&"$in"
    read -r -t "$seconds_due" -u "$out" "numbers[$session]"
}
close_all() {
    local session in out
    for session in "${!inputs[@]}"; do
        in=${inputs[$session]} out=${outputs[$session]}
        exec {in}>&- {out}<&-
    done
    inputs=() outputs=() waiting=()
}

# receive SESSION SECONDS: what came up to the mark that the statement ends with, into $answer.
receive() {
    local session=$1 seconds=$2 line is_echo='' rows=()
    while read -r -t "$seconds" -u "${outputs[$session]}" line; do
        if [ "$line" = "mark ${waiting[$session]}" ]; then
            unset "waiting[$session]"
            answer=-
            [ ${#rows[@]} = 0 ] || { printf -v answer '%s | ' "${rows[@]}"; answer=${answer% | }; }
            return
        fi
        # The client repeats a statement that fails, between two such lines, before the error.
        if [ "$line" = -------------- ]; then
            is_echo=yes
            continue
        fi
        case $line in
        ERROR*) line=${line%% (*} is_echo= ;;
        *) [ -z "$is_echo" ] || continue ;;
        esac
        rows+=("${line//$'\t'/,}")
    done
    answer=waits
}

step() {
    local session=$1 statement=$2 wanted=$3 seconds=$seconds_due
    [ -n "${inputs[$session]:-}" ] || open "$session"
    while [[ $statement =~ \{([0-9]+)\} ]]; do
        statement=${statement//"${BASH_REMATCH[0]}"/${numbers[${BASH_REMATCH[1]}]}}
    done
    if [ -n "$statement" ]; then
        waiting[$session]=$((marks += 1))
        printf '%s;\nselect "mark %s";\n' "$statement" "$marks" >&"${inputs[$session]}"
    fi
    [ "$wanted" != waits ] || seconds=$seconds_waiting
    receive "$session" "$seconds"
    steps=$((steps + 1))
    [ "$answer" = "$wanted" ] && return
    printf '%s, %s: %s: %s\n  wanted: %s\n  got:    %s\n' \
        "$engine" "$title" "$session" "${statement:-(goes on)}" "$wanted" "$answer"
    failed=$((failed + 1))
}

# scene LINES…: the lines of one scene, over one engine.
scene() {
    local line session rest
    {
        echo "create or replace database tables_of; use tables_of;"
        echo "set default_storage_engine=$engine;"
        for line in "$@"; do [[ $line != @* ]] || echo "${line#@ };"; done
    } | "$server" sql
    for line in "$@"; do
        [[ $line != @* ]] || continue
        session=${line%%:*} rest=${line#*:}
        [[ $rest == *" => "* ]] || { echo "no answer in: $line" >&2; exit 1; }
        local statement=${rest%" => "*}
        statement=${statement# }
        step "$session" "$statement" "${rest##*" => "}"
    done
    close_all
}

play() {
    local line engines=() lines=()
    while IFS= read -r line; do
        case $line in
        '' | '#'*) ;;
        '= '*)
            for engine in "${engines[@]}"; do scene "${lines[@]}"; done
            title=${line#*: } line=${line%%:*}
            read -r -a engines <<<"${line#= }"
            lines=()
            ;;
        *) lines+=("$line") ;;
        esac
    done <"$1"
    for engine in "${engines[@]}"; do scene "${lines[@]}"; done
}

for file in "${files[@]}"; do play "$file"; done
printf 'sessions     %6d steps, %d with another answer\n' "$steps" "$failed"
[ "$failed" = 0 ]
