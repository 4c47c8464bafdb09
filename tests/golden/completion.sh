# SPDX-License-Identifier: Apache-2.0
# What bash proposes.
"$OPSCOPE" completion bash >bash.sh && source bash.sh
touch 'a trace.json' kept.json
try()
{
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _opscope
    echo "$*: ${COMPREPLY[*]}"
}
try opscope ''
try opscope k
try opscope run --torch = ''
try opscope run --torch = st
try opscope run --torch st
try opscope table thr
try opscope table --so
try opscope table threads --sort e
try opscope table threads --columns name,ev
try opscope table averages --group-by ''
try opscope info --format = j
try opscope help ''
try opscope help info ''
# Files, and tables until one is given, wherever the options are.
try opscope table k
try opscope table --limit 5 k
try opscope table kernels k
try opscope info k
COMP_WORDS=(opscope info a) COMP_CWORD=2
_opscope
printf '<%s>\n' "${COMPREPLY[@]}"
# The options of the given table only.
try opscope table --max-
try opscope table kernels --max-
try opscope table kernels --f
try opscope table steps --comp
try opscope table threads --comp
try opscope info --comp
try opscope nothing --
try opscope table --limit ''
