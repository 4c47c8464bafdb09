# SPDX-License-Identifier: Apache-2.0
# What zsh proposes: stubs of its completion functions print their arguments.
command -v zsh >/dev/null || { echo "zsh is not there" >&2; exit 77; }
"$OPSCOPE" completion zsh >_opscope
cat >try.zsh <<'END'
compadd() { print -r -- "compadd $*" }
_files() { print files }
_values() { print -r -- "values $*" }
_describe() { print -r -- "$1 ${(P)2}" }
_arguments() {
    local spec
    for spec in $*; do
        case $spec in
        (*${~shown}*) print -r -- $spec ;;
        esac
    done
}
try() {
    local -a words=(opscope "$@")
    local CURRENT=$#words
    print -r -- "$words"
    . ./_opscope
}
shown=none try ''
shown='--sort*' try table threads --
shown='--max-*-width' try table ''
shown='--max-*-width' try table kernels ''
shown='--compat' try table kernels ''
shown='--compat' try info ''
shown=operand try table kernels ''
shown='--torch*' try run ''
try help ''
# Arguments and operands, as called by the specifications.
local command=table table=kernels tables='kernels steps' named=
_opscope_operand
named=1
_opscope_operand
_values -s , column ${=$(_opscope_columns overview)}
compadd -- ${=$(_opscope_groupings averages)}
END
zsh -f try.zsh
