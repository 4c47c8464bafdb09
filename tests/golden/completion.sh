# SPDX-License-Identifier: Apache-2.0
# What bash proposes.
"$OPSCOPE" completion bash >bash.sh && source bash.sh
try()
{
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _opscope
    echo "$*: ${COMPREPLY[*]}"
}
try opscope ''
try opscope table thr
try opscope table --so
try opscope table threads --sort e
try opscope table threads --columns name,ev
try opscope table averages --group-by ''
try opscope info --format = j
try opscope help ''
"$OPSCOPE" completion zsh | head -n 1
