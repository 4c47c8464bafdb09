# SPDX-License-Identifier: Apache-2.0
# What fish proposes.
command -v fish >/dev/null || { echo "fish is not there" >&2; exit 77; }
mkdir place && cd place || exit 1
"$OPSCOPE" completion fish >../opscope.fish
cp "$OPSCOPE" opscope && touch 'a trace.json' kept.json
try()
{
    echo "opscope $*: $(HOME=$PWD fish --no-config -c \
        "source ../opscope.fish; complete -C 'opscope $*' | string replace -r '\\t.*' ''" | paste -sd ' ')"
}
try ''
try k
try table thr
try table --so
try table threads --sort e
try table averages --group-by ''
try table kernels --max-
try info --format=j
try run --torch=
try run --torch=st
try run --torch st
try help ''
try table kernels k
