#!/bin/sh
# What a plain installation has to do: the catalogue built, linted and published, and a workspace of one's own, from init to
# publish. Called by `make bare` in the clone, with packyard from the wheel, git, sh and coreutils on PATH.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

packyard build --quiet --to "$folder/out" --version 1.0.0
packyard lint --quiet
packyard publish --quiet --version 1.0.0 --to "$folder/channel"
cd "$folder"
packyard get --quiet --from channel resnet50v1-5-fp32-training-k8s
(cd out && sha256sum -- *.tar.gz) >built
(cd channel/1.0.0 && sha256sum -c --quiet "$folder/built")

packyard init zoo
cd zoo
packyard new hello --base single-node --storage user-allocated-pvc --set IMAGE=busybox:1.36
echo 'Says hello.' >>packages/hello/docs/10-description.md
packyard lint --strict --quiet
packyard test --quiet
packyard build hello --quiet --version 1.0.0 --to build
packyard publish --quiet --version 1.0.0 --to "$folder/own"
cd "$folder"
packyard get --quiet --from own hello
packyard set hello -R PVC_NAME=workdisk --quiet
packyard render --built-in hello/use-cases/single-node/user-allocated-pvc >manifests.yaml
