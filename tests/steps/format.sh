#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# step: format
# needs: clang-format
# mode: fast
# All C and C++ is as clang-format writes it.

find src include python tests bench examples \
    \( -name '*.c' -o -name '*.h' -o -name '*.cpp' -o -name '*.hpp' \) -print0 |
    xargs -0 -r clang-format --dry-run --Werror
