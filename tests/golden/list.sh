# SPDX-License-Identifier: Apache-2.0
# All tables and columns, and what they mean.
"$OPSCOPE" table events --list
"$OPSCOPE" table --list | tail -n 1
"$OPSCOPE" table events --explain dur_ns
"$OPSCOPE" table kernels --explain rank
# Each table can also be listed by itself.
"$OPSCOPE" table --list | sed -n 's/^\([a-z_][a-z_]*\)  .*/\1/p' | while read -r name; do
    "$OPSCOPE" table "$name" --list | head -n 1 | grep -q "^$name " || echo "no table $name"
done
# Texts for users refer only to things that users have.
opscope_columns=$("$OPSCOPE" completion bash | sed -n '/^_opscope_columns/,/^}/s/^    \([a-z_]*\)) echo "\(.*\)" ;;/\1 \2/p')
echo "$opscope_columns" | while read -r table columns; do
    for column in $columns; do
        "$OPSCOPE" table "$table" --explain "$column" |
            grep -E '\b(TB|TP|AN|T) [0-9]|R-[0-9]|product\.md|torch213' && echo "in $table.$column"
    done
done
# Every table is completed, and the document has all rules to which it refers.
[ "$(echo "$opscope_columns" | wc -l)" -eq "$("$OPSCOPE" table --list --format md | grep -c "^### Table ")" ] || echo "other tables"
"$OPSCOPE" table --list --format md | grep -o '(#[a-z-]*)' | sort -u | tr -d '()#' | while read -r rule; do
    "$OPSCOPE" table --list --format md | grep -qi "^##* $(echo "$rule" | tr - ' ')$" ||
        "$OPSCOPE" table --list --format md | grep -qi "^### Table ${rule#table-}$" || echo "no section $rule"
done
"$OPSCOPE" table steps --explain kernel_ns
"$OPSCOPE" table --list --format csv
"$OPSCOPE" table steps --list --format md
"$OPSCOPE" table steps --explain kernel_ns --format md || true
