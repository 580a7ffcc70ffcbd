#!/bin/sh
# Copies input data from a bucket to a directory, once: what is there already is not copied again.
#
#     stage.sh DIRECTORY
#
# STAGE_SOURCE     the bucket and prefix, s3://bucket/prefix
# STAGE_RETRIES    how often a copy that failed is tried again; it goes on where it stopped
# STAGE_TIMEOUT    seconds that one try may take
# STAGE_CHECKSUMS  a file in the directory for sha256sum -c, empty for none
# S3_ENDPOINT      host and port of the object storage, empty for that of AWS
# S3_USE_HTTPS     0 to speak to it without TLS
#
# The file .staged in the directory tells where its content came from. Nothing reads a directory that is not complete:
# the file is written last.
set -eu
STAGE_DIR=$1
scheme=https
[ "${S3_USE_HTTPS:-1}" != 0 ] || scheme=http
marker=$STAGE_DIR/.staged
if [ -f "$marker" ] && [ "$(cat "$marker")" = "$STAGE_SOURCE" ]; then
  echo "stage.sh: $STAGE_DIR holds $STAGE_SOURCE"
  exit 0
fi
mkdir -p "$STAGE_DIR"
rm -f "$marker"
tries=0
until timeout "$STAGE_TIMEOUT" aws s3 sync --no-progress ${S3_ENDPOINT:+--endpoint-url "$scheme://$S3_ENDPOINT"} \
  "$STAGE_SOURCE" "$STAGE_DIR"; do
  tries=$((tries + 1))
  if [ "$tries" -gt "$STAGE_RETRIES" ]; then
    echo "stage.sh: $STAGE_SOURCE could not be copied" >&2
    exit 1
  fi
  echo "stage.sh: try $tries failed, the next one goes on" >&2
  sleep "${STAGE_PAUSE:-10}"
done
if [ -n "$STAGE_CHECKSUMS" ]; then
  (cd "$STAGE_DIR" && sha256sum -c --quiet "$STAGE_CHECKSUMS")
fi
printf '%s\n' "$STAGE_SOURCE" > "$marker.new"
mv "$marker.new" "$marker"
echo "stage.sh: copied $STAGE_SOURCE to $STAGE_DIR"
