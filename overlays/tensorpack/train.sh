#!/bin/sh
# Runs a training program of tensorpack so that a try keeps what those before it have written, and goes on from there.
#
#     train.sh [-s NAME] PROGRAM [ARGUMENT ...] --config [SETTING ...]
#
# OUTPUT_DIR            the directory of the run: each try logs to train_log/TRY_NAME in it, which no other try deletes
# TRY_NAME              name of the try, the same for all processes
# IMAGES_PER_EPOCH, BATCH_SIZE_PER_GPU
#                       with the number of processes, which comes from Open MPI, the steps that make one pass over the images
#
# The program gets further arguments behind its last setting: with -s the setting NAME=STEPS, the steps of an epoch; its first epoch and
# the checkpoint to load, where an earlier try left one that is complete; its log directory.
set -eu
name=
if [ "$1" = -s ]; then
  name=$2
  shift 2
fi
steps=$((IMAGES_PER_EPOCH / (OMPI_COMM_WORLD_SIZE * BATCH_SIZE_PER_GPU)))
if [ "$steps" -lt 1 ]; then
  echo "train.sh: $IMAGES_PER_EPOCH images are no step of $OMPI_COMM_WORLD_SIZE processes with $BATCH_SIZE_PER_GPU images each" >&2
  exit 64
fi
logs=$OUTPUT_DIR/train_log

# Whether the index and all parts of a checkpoint are there.
is_complete() {
  [ -s "$1.index" ] || return 1
  set -- "$1".data-*-of-*
  [ -s "$1" ] && [ "$#" -eq "${1##*-of-}" ]
}

# Prints the step and the path of the newest checkpoint, of whichever try. TensorFlow names a checkpoint in the file checkpoint only when it
# has written all of it.
newest() {
  best=0
  path=
  for state in "$logs"/*/checkpoint; do
    [ -f "$state" ] || continue
    for model in $(sed -n 's/^all_model_checkpoint_paths: "\(.*\/\)\{0,1\}\(model-[0-9][0-9]*\)"$/\2/p' "$state"); do
      if [ "${model#model-}" -gt "$best" ] && is_complete "${state%/*}/$model"; then
        best=${model#model-}
        path=${state%/*}/$model
      fi
    done
  done
  echo "$best $path"
}

# One process looks and the others read what it found, for their nodes may see another state of a shared file system.
start=$logs/$TRY_NAME.start
if [ "$OMPI_COMM_WORLD_RANK" -eq 0 ]; then
  mkdir -p "$logs"
  newest >"$start.new"
  mv "$start.new" "$start"
fi
until [ -f "$start" ]; do
  sleep 1
done
read -r step path <"$start"

[ -z "$name" ] || set -- "$@" "$name=$steps"
if [ -n "$path" ]; then
  [ "$OMPI_COMM_WORLD_RANK" -ne 0 ] || echo "train.sh: goes on from $path"
  set -- "$@" "TRAIN.STARTING_EPOCH=$((step / steps + 1))" --load "$path"
fi
exec "$@" --logdir "$logs/$TRY_NAME"
