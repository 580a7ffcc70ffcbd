# Checks what a container may do with folders, as its own user: probe.sh NAME [read|write FOLDER]...
# Says of each check its number, and what is wrong in the words of the system; also where the kubelet takes the last
# words of a container from.
LC_ALL=C
export LC_ALL
probe_own=$1
probe_number=0
probe_new=
shift
trap 'rm -f "$probe_new"' EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

probe_read() {
  said=$( (: <"$1") 2>&1) || return
  [ -d "$1" ] || return
  first=$(ls -A "$1" 2>/dev/null | head -n 1)
  if [ -z "$first" ]; then
    said="is empty"
  elif [ ! -r "$1/$first" ]; then
    said="what is in it may not be read"
  fi
}

# Creates a file where none is, in the nearest folder above a path that is there, and removes it.
probe_write() {
  probe_at=$1
  while [ -n "$probe_at" ] && [ ! -e "$probe_at" ]; do
    case $probe_at in
      */*) probe_at=${probe_at%/*} ;;
      *) probe_at=. ;;
    esac
  done
  probe_new=$probe_at/.$probe_own
  said=$( (set -C && echo probe >"$probe_new") 2>&1)
  rm -f "$probe_new"
}

while [ $# -gt 1 ]; do
  "probe_$1" "$2"
  said=${said##*: }
  said=$probe_number${said:+ $said}
  echo "$said"
  { echo "$said" >>/dev/termination-log; } 2>/dev/null || :
  probe_number=$((probe_number + 1))
  shift 2
done
exit 0
