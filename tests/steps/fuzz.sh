#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# step: fuzz
# args: {fuzz}
# mode: full
# Run each fuzz target for CHECK_FUZZ_SECONDS.

build=$1 status=0 p=0 f=0
for target in "$build"/tests/fuzz/fuzz_*; do
    [[ -f $target && -x $target ]] || continue
    name=${target##*/fuzz_}
    mkdir -p "$build/corpus/$name"
    inputs=("$build/corpus/$name")
    [ -d "tests/fuzz/corpus/$name" ] && inputs+=("tests/fuzz/corpus/$name")
    if "$target" -max_total_time="${CHECK_FUZZ_SECONDS:-60}" -rss_limit_mb=2048 -timeout=20 \
        -artifact_prefix="$build/$name-" -print_final_stats=1 "${inputs[@]}"; then
        p=$((p + 1))
    else
        f=$((f + 1))
        status=1
    fi
done
echo "$p passed, $f failed"
exit $status
