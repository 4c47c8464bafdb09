#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# step: shell-style
# needs: shellcheck
# mode: fast
# shellcheck finds nothing in the shell scripts of the tree.

# Those that begin with a line for a shell, and those of the golden tests, which run.py starts.
{
    git ls-files -z --cached --others --exclude-standard |
        xargs -0 grep -lZE --max-count=1 '^#!.*\b(ba|da)?sh\b' 2>/dev/null
    git ls-files -z --cached --others --exclude-standard '*.sh' ':!tests/golden/*'
} | sort -zu | xargs -0 -r shellcheck --shell=bash
