#!/bin/sh
# Runs the trial of this pod: a program with the line of hyperparameters that belongs to the index of the pod.
#
#     trial.sh FILE PROGRAM [ARGUMENT ...]
#
# Empty lines of FILE, and those that begin with #, do not count. Words are split at blanks; no character is special.
set -eu
file=$1
shift
line=$(grep -v -e '^ *$' -e '^ *#' "$file" | sed -n "$((JOB_COMPLETION_INDEX + 1))p")
if [ -z "$line" ]; then
  echo "trial.sh: $file has no line for the trial of index $JOB_COMPLETION_INDEX" >&2
  exit 64
fi
echo "trial $JOB_COMPLETION_INDEX: $line"
set -f
# shellcheck disable=SC2086
exec "$@" $line
