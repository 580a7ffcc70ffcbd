# Starts a try of the run: from the newest checkpoint of all tries, with a directory of its own for what it writes.
export LD_LIBRARY_PATH="${LD_LIBRARY_PATH-}" # which mpirun hands on
logs=$OUTPUT_DIR/train_log
processes=0
while read -r _ slots; do
  processes=$((processes + ${slots#slots=}))
done <"$PRTE_MCA_prte_default_hostfile"
steps=$((IMAGES_PER_EPOCH / (processes * BATCH_SIZE_PER_GPU)))
if [ "$steps" -lt 1 ]; then
  echo "$IMAGES_PER_EPOCH images are no step of $processes processes with $BATCH_SIZE_PER_GPU images each" >&2
  exit 64
fi
is_complete() {
  [ -s "$1.index" ] || return 1
  set -- "$1".data-*-of-*
  [ -s "$1" ] && [ "$#" -eq "${1##*-of-}" ]
}
# TensorFlow lists a checkpoint when it has written all of it.
newest=0
for list in "$logs"/*/checkpoint; do
  [ -f "$list" ] || continue
  for step in $(sed -n 's/^all_model_checkpoint_paths: ".*model-\([0-9][0-9]*\)"$/\1/p' "$list"); do
    if [ "$step" -gt "$newest" ] && is_complete "${list%/*}/model-$step"; then
      newest=$step
      load=${list%/*}/model-$step
    fi
  done
done
set -- "$@" ${STEPS_NAME:+"$STEPS_NAME=$steps"}
if [ "$newest" -gt 0 ]; then
  echo "goes on from $load"
  set -- "$@" "TRAIN.STARTING_EPOCH=$((newest / steps + 1))" --load "$load"
fi
exec "$@" --logdir "$logs/$TRY_NAME"
