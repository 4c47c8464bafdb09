#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# step: page
# args: {gcc}
# needs: web
# The page: its types, with those of tables and columns of the build; its style, its units.

build=$1
python3 tools/page_types.py "$build/tables.json" "$build/page_types.ts" web/gen/tables.ts || exit 1
cd web || exit 1
node_modules/.bin/tsc --noEmit && node_modules/.bin/biome check . &&
    node build.mjs --tests || exit 1
node --test dist-tests/ | awk '{ print } /^# pass/ { p = $3 } /^# fail/ { f = $3 }
    END { print p + 0 " passed, " f + 0 " failed"; exit f > 0 || p == 0 }'
