# Copies the newest model that was exported to a version of its own, where the servers see it once it is whole.
served=$OUTPUT_DIR/served
newest=$(find "$OUTPUT_DIR" -path "$served" -prune -o -name saved_model.pb -exec ls -t {} + | head -n 1)
if [ -z "$newest" ]; then
  echo "no saved_model.pb below $OUTPUT_DIR: the training exported no model" >&2
  exit 1
fi
model=${newest%/*}
# Exports are named by their second, which makes the newest the highest version.
version=${model##*/}
case $version in *[!0-9]*) version=$(date +%s) ;; esac
if [ ! -e "$served/$version" ]; then
  rm -rf "$served/incoming"
  mkdir -p "$served"
  cp -R "$model" "$served/incoming"
  mv "$served/incoming" "$served/$version"
fi
echo "$model is version $version in $served"
