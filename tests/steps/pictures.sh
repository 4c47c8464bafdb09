#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# step: pictures
# args: {shared} {gcc}/opscope {logs}/pictures
# needs: browser
# turn: 6
# Make the pictures of docs/viewer.md, of the traces that lie beside the project.

data=$1/data opscope=$2 place=$3
rm -rf "$place" && mkdir -p "$place"
ln -s "$data/tb_samples" "$data/torch213/resnet_all" "$place/"
ln -s "$data/torch213/ddp2_logdir" "$place/ranks"
tools/viewer_pictures.sh "$place" "$opscope" "$place/out" || exit 1
n=$(find "$place/out" -name '*.png' -size +4k | wc -l)
echo "$n passed, $((12 - n)) failed"
[ "$n" -eq 12 ]
