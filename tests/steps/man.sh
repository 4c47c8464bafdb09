#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# step: man
# needs: mandoc
# mandoc finds nothing wrong with the manual pages.

mandoc -T lint -W warning docs/man/*.[1-8]
