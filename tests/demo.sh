#!/bin/sh
# The main job on real input: sources -> channel -> web server -> fetched, set and rendered. Called by `make demo`.
# Needs packyard and python3 on PATH, nothing else; works in .demo/, which it makes anew.
set -eu
exec 2>&1  # what is told and what is printed, in the order in which it happens

name=resnet50v1-5-fp32-training-k8s
version=1.0.0
use_case=multi-node/user-mounted-nfs
parameters="NFS_SERVER=10.0.0.5 NFS_PATH=/exports/models PVC_NAME=workdisk USER_ID=1200 USER_NAME=alice"
parameters="$parameters GROUP_ID=1200 GROUP_NAME=staff FS_ID=2000 DATASET_DIR=/imagenet"

tell() { printf '\n# %s\n' "$@"; }

show() {
    printf '$ %s\n' "$1"
    eval "$1"
}

# Shows a command that has to be refused: exit code 1, neither success nor a bug.
refused() {
    code=0
    show "$1" || code=$?
    [ "$code" -eq 1 ] || fail "exit code $code where 1 was expected"
    echo "(refused, exit code 1; nothing was written)"
}

fail() {
    echo "demo: $1" >&2
    exit 1
}

server=
# Whoever comes after finds the port free; a server that has ended already is no fault.
cleanup() { [ -z "$server" ] || { kill "$server" && wait "$server"; } 2>/dev/null || true; }
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

cd "$(dirname "$0")/.."
rm -rf .demo
mkdir .demo
cd .demo

tell "The catalogue's packages, and the use cases that each is composed into from shared parts:"
show "packyard list"

tell "Compose them, pack them, publish them to a channel. A channel is a folder of plain files:"
show "packyard publish --version $version --to channel"
show "find channel -type f"
show "(cd channel/$version && sha256sum -c $name.tar.gz.sha256)"

tell "The same sources give the same bytes, so publishing them again changes nothing:"
show "packyard publish --version $version --to channel | tee again"
grep -qE ' unchanged$' again && ! grep -qE ' (published|completed)$' again || fail "publishing the same again was not a no-op"

tell "Any web server can serve a channel; this one is Python's:"
: >server.log # there before the first look at it
python3 -u -m http.server --bind 127.0.0.1 --directory channel 0 >server.log 2>&1 &
server=$!
port=
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    port=$(sed -n 's/^Serving HTTP on .* port \([0-9]*\) .*/\1/p' server.log)
    [ -z "$port" ] || break
    sleep 0.25
done
[ -n "$port" ] || fail "the web server did not start: $(cat server.log)"
url=http://127.0.0.1:$port
show "packyard list --from $url"

tell "As a user: fetch a package. Its digest is checked before it is unpacked:"
show "packyard get $name@$version --from $url"
show "cd $name/quickstart/mlops"
show "ls $use_case"

tell "What can be set in a use case, and what has to be:"
show "packyard setters $use_case"

tell "Nothing is rendered while something that is required is not set:"
refused "packyard render $use_case"

tell "A value that cannot work is refused, and with it all that is set by the same command:"
refused "packyard set $use_case NFS_SERVER=10.0.0.5 USER_ID=root"

tell "Look first: a diff, as patch takes it. Only the value changes, in the fields and in the Krmfile:"
show "packyard set $use_case NFS_SERVER=10.0.0.5 --dry-run"

tell "The README's parameters, in all use cases below multi-node that have them:"
show "packyard set multi-node $parameters -R"

tell "Now it renders, with kustomize or kubectl from PATH, otherwise with packyard's own builder:"
show "packyard render $use_case > rendered.yaml"
show "grep -E '^kind|server:|runAsUser:|OUTPUT_DIR:' rendered.yaml"
grep -q 'server: 10.0.0.5' rendered.yaml || fail "the value is not in the rendered manifests"

tell "Back to the value that was shipped, here none:"
show "packyard set $use_case --unset NFS_SERVER"
refused "packyard render $use_case"

tell "Say what is wrong with a folder, or with the catalogue's sources:"
show "packyard lint single-node"
show "packyard lint $name"

tell "All of it is in .demo/, to look around in; the README has more."
