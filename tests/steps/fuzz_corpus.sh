#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# step: fuzz-corpus
# args: {asan} {logs}/random
# Read the inputs of tests/fuzz/corpus, and random traces, under ASan.

build=$1 random=$2
python3 tests/fuzz/random_traces.py "$random/chrome" 400 1 || exit 1
status=0 p=0 f=0
for target in "$build"/tests/fuzz/replay_*; do
    [[ -f $target && -x $target ]] || continue
    name=${target##*/replay_}
    [ -d "tests/fuzz/corpus/$name" ] || continue
    inputs=("tests/fuzz/corpus/$name")
    [ -d "$random/$name" ] && inputs+=("$random/$name")
    if "$target" "${inputs[@]}"; then
        p=$((p + 1))
    else
        echo "FAILED replay_$name"
        f=$((f + 1))
        status=1
    fi
done
echo "$p passed, $f failed"
exit $status
