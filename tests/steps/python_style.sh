#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# step: python-style
# args: {ruff}
# mode: fast
# All Python is as ruff writes it, and ruff finds nothing in it (rules: pyproject.toml).

ruff=$1
status=0
"$ruff" check --no-cache --output-format concise . || status=1
"$ruff" format --no-cache --check . || status=1
exit $status
