#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# step: debian-packages
# needs: lintian
# mode: full
# Make Debian's packages of this tree by the commands of the documents, in which lintian finds
# nothing wrong, and which have what users of packages look for.

place=$PWD/build-deb
tree=$PWD
words=$place/words
rm -rf "$place"
mkdir -p "$place/opscope"
git ls-files -z | xargs -0 cp --parents -t "$place/opscope" || exit 1
cd "$place/opscope" || exit 1

(cd "$tree" && cat README.md docs/*.md) >"$words"
# Without the packages of the page, nothing is built or fetched, and a command is named.
dpkg-buildpackage -b -uc >"$place/without" 2>&1 && exit 1
named=$(grep -o 'npm ci .*' "$place/without") || { cat "$place/without"; exit 1; }
[ ! -e web/node_modules ] || { echo "it fetched packages"; exit 1; }

apt=$(sed -n 's/^ *\(apt-get build-dep [^#]*\).*/\1/p' "$words")
build=$(sed -n 's/^ *\(dpkg-buildpackage [^#]*\).*/\1/p' "$words")
if [ -z "$apt" ] || [ -z "$build" ] || ! grep -qF "$named" "$words"; then
    echo "README.md and docs lack one of: apt-get build-dep, $named, dpkg-buildpackage"
    exit 1
fi
$apt -y -qq && $named && $build || exit 1
lintian --allow-root --fail-on error,warning "$place"/*.changes || exit 1

root=$place/root
for package in "$place"/*.deb; do
    case $package in *-dbgsym_*) continue ;; esac
    dpkg -x "$package" "$root" || exit 1
    grep -q 'usr/share/doc/.*/copyright$' <<<"$(dpkg -c "$package")" ||
        { echo "$package: no licence"; exit 1; }
done
libraries=$(dirname "$(find "$root" -name libopscope.so.0)")
export LD_LIBRARY_PATH=$libraries
# Manuals of what is there alone.
for page in "$root"/usr/share/man/man1/*; do
    page=$(basename "${page%.1*}")
    [ -x "$root/usr/bin/$page" ] || "$root/usr/bin/opscope" help "${page#opscope-}" >/dev/null ||
        { echo "a manual of $page, which is not there"; exit 1; }
done
[ -e "$root/usr/share/doc/libopscope-dev/examples/cxx/server.cpp" ] || { echo "no examples"; exit 1; }
find "$root/usr/share/doc" -name 'numbers.md*' | grep -q . || { echo "no numbers.md"; exit 1; }
"$root/usr/bin/opscope" export "$tree/tests/data/demo.pt.trace.json.gz" -o "$place/demo.html" || exit 1
grep -q '<script' "$place/demo.html" || { echo "the page is empty"; exit 1; }
# The static library by pkg-config alone.
printf '#include <opscope/record.h>\nint main(void) { osc_step(); return 0; }\n' >"$place/user.c"
export PKG_CONFIG_PATH=$libraries/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
read -ra flags <<<"$(pkg-config --cflags opscope) $(pkg-config --static --libs opscope)"
cc "$place/user.c" -o "$place/user" -static "${flags[@]}" && "$place/user"
