#!/bin/sh
# Runs a training program with the steps that make one pass over the images for all processes together.
#
#     train.sh NAME PROGRAM [ARGUMENT ...]
#
# The program gets the argument NAME=STEPS behind the others. IMAGES_PER_EPOCH and BATCH_SIZE_PER_GPU come from the environment,
# the number of processes from Open MPI.
set -eu
name=$1
shift
steps=$((IMAGES_PER_EPOCH / (OMPI_COMM_WORLD_SIZE * BATCH_SIZE_PER_GPU)))
if [ "$steps" -lt 1 ]; then
  echo "train.sh: $IMAGES_PER_EPOCH images are no step of $OMPI_COMM_WORLD_SIZE processes with $BATCH_SIZE_PER_GPU images each" >&2
  exit 64
fi
exec "$@" "$name=$steps"
