#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# step: debian-packages
# needs: lintian
# mode: full
# Make Debian's packages of this tree, in which lintian finds nothing wrong.

place=$PWD/build-deb
rm -rf "$place"
mkdir -p "$place/opscope"
git ls-files -z | xargs -0 cp --parents -t "$place/opscope" &&
    (cd "$place/opscope" && dpkg-buildpackage -us -uc -b) &&
    lintian --allow-root --fail-on error,warning "$place"/*.changes
