#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# step: page
# needs: web
# order: first
# The page: its types, its style, its units.

cd "$(dirname "$0")/../../web" || exit 1
node_modules/.bin/tsc --noEmit && node_modules/.bin/biome check . &&
    node build.mjs --tests || exit 1
node --test dist-tests/ | awk '{ print } /^# pass/ { p = $3 } /^# fail/ { f = $3 }
    END { print p + 0 " passed, " f + 0 " failed"; exit f > 0 || p == 0 }'
