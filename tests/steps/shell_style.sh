#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# step: shell-style
# needs: shellcheck
# mode: fast
# Shellcheck finds nothing in the shell scripts of the tree.

list() { git ls-files -z --cached --others --exclude-standard "$@"; }

status=0
{
    list ':!tests/golden/*.sh' | xargs -0 grep -lZE --max-count=1 '^#!.*\b(ba|da)?sh\b' 2>/dev/null
    list '*.sh' ':!tests/golden/*'
} | sort -zu | xargs -0 -r shellcheck --shell=bash || status=1
# Golden tests run commands as people type them: words that split, ls, a sourced completion; and
# programs in single quotes.
list 'tests/golden/*.sh' |
    xargs -0 -r shellcheck --shell=bash --exclude=SC1091,SC2012,SC2016,SC2086,SC2094 || status=1
exit $status
