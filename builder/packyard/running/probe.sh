# Checks what a container is to find in its image and on its volumes, as its own user: probe.sh NAME [CHECK WORD]...
# Says of each check its number and what was found, also where the kubelet takes the last words of a container from.
LC_ALL=C
export LC_ALL
probe_number=0
probe_file=

probe_say() {
  echo "$probe_number $*"
  { echo "$probe_number $*" >>/dev/termination-log; } 2>/dev/null || :
}

# The nearest folder above a path that is there.
probe_above() {
  probe_at=$1
  while [ -n "$probe_at" ] && [ ! -e "$probe_at" ]; do
    case $probe_at in
      */*) probe_at=${probe_at%/*} ;;
      *) probe_at=. ;;
    esac
  done
  probe_at=${probe_at:-/}
}

probe_remove() {
  [ -z "$probe_file" ] || rm -f "$probe_file"
  probe_file=
}
trap probe_remove EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

probe_program() {
  if command -v "$1" >/dev/null 2>&1; then probe_say found; else probe_say missing; fi
}

probe_absent() {
  probe_above "$1"
  if [ -d "$probe_at" ] && [ ! -x "$probe_at" ]; then probe_say unreadable; else probe_say missing; fi
}

probe_read() {
  if [ ! -e "$1" ]; then
    probe_absent "$1"
  elif [ ! -d "$1" ]; then
    if [ -r "$1" ]; then probe_say found; else probe_say unreadable; fi
  elif ! ls "$1" >/dev/null 2>&1 || [ ! -x "$1" ]; then
    probe_say unreadable
  else
    first=$(ls -A "$1" 2>/dev/null | head -n 1)
    if [ -z "$first" ]; then
      probe_say empty
    elif [ -r "$1/$first" ]; then
      probe_say found
    else
      probe_say closed
    fi
  fi
}

probe_file() {
  if [ -d "$1" ]; then
    probe_say folder
  elif [ -f "$1" ] && [ ! -s "$1" ]; then
    probe_say empty
  else
    probe_read "$1"
  fi
}

# Creates a file where none is, where the path is or where it will be made, and removes it.
probe_write() {
  probe_above "$1"
  if [ ! -d "$probe_at" ]; then
    probe_say file
    return
  fi
  name=$probe_at/.$probe_own
  if said=$( (set -C && : >"$name") 2>&1); then
    probe_file=$name
    if (echo probe >"$name") 2>/dev/null; then probe_say found; else probe_say full; fi
    probe_remove
    return
  fi
  case $said in
    *'Permission denied'*) probe_say unwritable ;;
    *'Read-only'*) probe_say read-only ;;
    *'No space'* | *uota*) probe_say full ;;
    *) probe_say failed ;;
  esac
}

probe_own=$1
shift
while [ $# -gt 1 ]; do
  "probe_$1" "$2"
  probe_number=$((probe_number + 1))
  shift 2
done
exit 0
