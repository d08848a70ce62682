#!/bin/sh
# measure.sh MODULE TABLE GEO COLUMN ADDRESSES [MMDB [ROUNDS [SECONDS]]]: requests a second and CPU time with a variable of
# longmatch, of geo, of geoip2 (where MMDB is not empty and Debian's libnginx-mod-http-geoip2 is installed), and of none.
#
# All have the same routes: TABLE and MMDB are files of `longmatch compile`, GEO has lines `PREFIX VALUE;`, ADDRESSES has
# an address on each line, which requests give in a header (realip). Each has an nginx of one worker; they take turns under
# wrk. Answers are compared first. Debian: apt-get install nginx wrk curl libnginx-mod-http-geoip2
set -eu
if [ $# -lt 5 ]; then
    sed -n '2,4s/^# //p' "$0" >&2
    exit 2
fi
module=$(realpath "$1") table=$(realpath "$2") geo=$(realpath "$3") column=$4 addresses=$(realpath "$5")
mmdb=${6:+$(realpath "$6")} rounds=${7:-5} seconds=${8:-3}
geoip2=/usr/lib/nginx/modules/ngx_http_geoip2_module.so
dir=$(mktemp -d)
trap 'for pid in $(cat "$dir"/*.pid 2>/dev/null); do kill "$pid"; done; wait; rm -rf "$dir"' EXIT
port=${PORT:-18080}
engines="none longmatch geo"
[ -z "$mmdb" ] || [ ! -f "$geoip2" ] || engines="$engines geoip2"

variable() { # ENGINE: its directive, with the variable $ENGINE
    case $1 in
    longmatch) echo "longmatch $table \$longmatch column=$column default=0;" ;;
    geo) echo "geo \$geo { default 0; include $geo; }" ;;
    geoip2) echo "geoip2 $mmdb { \$geoip2 default=0 $column; }" ;;
    esac
}
configure() { # NAME PORT ANSWER ENGINE...
    name=$1 at=$2 answer=$3
    shift 3
    {
        case "$*" in *longmatch*) echo "load_module $module;" ;; esac
        case "$*" in *geoip2*) echo "load_module $geoip2;" ;; esac
        echo "pid $dir/$name.pid; error_log $dir/$name.log; worker_processes 1; daemon on; user $(id -un);"
        echo "events { worker_connections 256; } http { access_log off; keepalive_requests 1000000000;"
        echo "client_body_temp_path $dir/b; proxy_temp_path $dir/p; fastcgi_temp_path $dir/f; scgi_temp_path $dir/s;"
        echo "uwsgi_temp_path $dir/u;"
        for engine in "$@"; do variable "$engine"; done
        echo "server { listen 127.0.0.1:$at; set_real_ip_from 127.0.0.1; real_ip_header X-Client;"
        echo "location / { return 200 \"$answer\\n\"; } } }"
    } >"$dir/$name.conf"
}
start() { # NAME: the seconds until it runs
    began=$(date +%s%N)
    nginx -p "$dir" -e "$dir/$1.log" -c "$dir/$1.conf"
    awk -v a="$began" -v b="$(date +%s%N)" 'BEGIN { printf "%.2f", (b - a) / 1e9 }'
}
worker() { pgrep -P "$(cat "$dir/$1.pid")"; }
cpu() { awk '{ print $1 }' "/proc/$1/schedstat"; } # Nanoseconds.
median() { sort -n | awk '{ v[NR] = $1 } END { printf "%.'"$1"'f (%.'"$1"'f-%.'"$1"'f)", v[int((NR + 1) / 2)], v[1], v[NR] }'; }

# One nginx with all variables: equal answers.
all=$(for engine in $engines; do [ "$engine" = none ] || printf '$%s ' "$engine"; done)
configure all "$port" "$all" $engines
start all >"$dir/all.start"
shuf -n 1000 --random-source="$addresses" "$addresses" | awk -v url="http://127.0.0.1:$port/" \
    'NR > 1 { print "next" } { print "url = \"" url "\"\nheader = \"X-Client: " $1 "\"" }' >"$dir/curl"
curl -s -K "$dir/curl" >"$dir/answers"
awk '{ for (i = 2; i <= NF; i++) if ($i != $1) { print "different answers: " $0 > "/dev/stderr"; bad = 1 } }
    $1 != 0 { found++ } END { print NR " addresses, " found " found: equal answers"; exit bad || found < 100 }' "$dir/answers"
kill "$(cat "$dir/all.pid")"

cat >"$dir/wrk.lua" <<'LUA'
local requests, at = {}, 0
function init(arguments)
    for line in io.lines(arguments[1]) do
        requests[#requests + 1] = wrk.format("GET", "/", {["X-Client"] = line})
    end
end
function request()
    at = at % #requests + 1
    return requests[at]
end
function done(summary)
    local errors = summary.errors
    print("RESULT", summary.requests, summary.duration / 1e6, errors.connect + errors.read + errors.write + errors.status)
end
LUA
at=$port
for engine in $engines; do
    at=$((at + 1))
    configure "$engine" "$at" "$([ "$engine" = none ] && echo 0 || echo "\$$engine")" "$engine"
    echo "$engine: starts in $(start "$engine") s"
done
for round in $(seq "$rounds"); do
    at=$port
    for engine in $engines; do
        at=$((at + 1)) pid=$(worker "$engine") before=$(cpu "$(worker "$engine")")
        wrk -t1 -c16 -d"${seconds}s" -s "$dir/wrk.lua" "http://127.0.0.1:$at/" -- "$addresses" >"$dir/out"
        awk -v cpu=$(($(cpu "$pid") - before)) -v rates="$dir/$engine.rates" \
            -v costs="$dir/$engine.costs" '$1 == "RESULT" { if ($4 > 0) { print $4 " errors"; exit 1 }
            print $2 / $3 >> rates; print cpu / $2 / 1e3 >> costs }' "$dir/out"
    done
done
for engine in $engines; do
    pss=$(cat "/proc/$(cat "$dir/$engine.pid")/smaps_rollup" "/proc/$(worker "$engine")/smaps_rollup" | awk '/^Pss:/ { n += $2 } END { print int(n / 1024) }')
    echo "$engine: $pss MiB (PSS of master and worker), $(median 0 <"$dir/$engine.rates") requests/s, $(median 2 <"$dir/$engine.costs") us of the worker's CPU time each," \
        "$(paste "$dir/$engine.costs" "$dir/none.costs" | awk '{ print $1 / $2 }' | median 2) of none's in the same round"
done
