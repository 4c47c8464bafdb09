#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# step: made-traces
# args: {asan} 4000 {seed}
# full: {asan} 200000 0
# Read made-up traces by the grammar of programs in different ways, under ASan.
#
# usage: made_traces.sh BUILD COUNT PART: the traces of part PART, COUNT in each part, by two processes.
# A sanitizer that finds something, and an answer that differs, say the seed: made_traces --show SEED
# prints the trace.

program=$1/tests/fuzz/made_traces n=$(($2 / 2)) first=$(($2 * $3)) status=0
export ASAN_OPTIONS=$ASAN_OPTIONS:malloc_context_size=0 # a third of the time
"$program" "$first" "$n" &
"$program" $((first + n)) "$n" || status=1
wait $! || status=1
[ $status -eq 0 ] && echo "2 passed, 0 failed" || echo "0 passed, 1 failed"
exit $status
