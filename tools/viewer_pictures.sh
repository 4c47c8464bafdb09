#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Make the pictures of docs/viewer.md.
#
#   tools/viewer_pictures.sh DATA [OPSCOPE [OUT]]
#
# DATA has the traces: tb_samples/ with the two ResNet-50 samples of torch-tb-profiler, resnet_all/
# with a trace of PyTorch that has modules and memory, and ranks/ with those of eight ranks. OPSCOPE
# is build/opscope, OUT docs/pictures/, which is emptied. Needs Chromium, what `npm ci` puts into
# web/, and for docs/pictures/ pngquant, which makes a picture a third as large.

set -eu
root=$(cd "$(dirname "$0")/.." && pwd)

data=${1:?usage: tools/viewer_pictures.sh DATA [OPSCOPE [OUT]]}
opscope=$(realpath "${2:-$root/build/opscope}")
out=$(realpath -m "${3:-$root/docs/pictures}")
run=run=resnet50_num_workers_0

take()
{
    node "$root/tools/pictures.mjs" --opscope "$opscope" --size 1120x640 "$out" "$@"
}

rm -rf "$out"
cd "$data" # commands in the pictures name the traces from here
take tb_samples "overview=overview?$run" "trace=trace?$run&w=300000000+60000000" \
    "ghost=trace?$run&steps=9" "operators=operators?$run" "kernels=kernels?$run" "flame=flame?$run" \
    "diff=diff?run=resnet50_num_workers_4&cmp=resnet50_num_workers_0" "quality=quality?$run" \
    "tables=tables?$run&table=steps"
take resnet_all/trace.json.gz modules=modules memory=memory
take ranks distributed=distributed
if [ $# -lt 3 ]; then
    pngquant --skip-if-larger --strip --speed 1 --quality 60-100 --ext .png --force 64 "$out"/*.png
fi
du -cb "$out"/*.png
