# SPDX-License-Identifier: Apache-2.0
# All tables and columns, and what they mean.
"$OPSCOPE" table events --list
"$OPSCOPE" table --list | sed -n 's/^\([a-z_][a-z_]*\)  .*/\1/p'
"$OPSCOPE" table --list | tail -n 1
"$OPSCOPE" table events --explain dur_ns
"$OPSCOPE" table kernels --explain rank
# Each table is there for itself too.
"$OPSCOPE" table --list | sed -n 's/^\([a-z_][a-z_]*\)  .*/\1/p' | while read -r name; do
    "$OPSCOPE" table "$name" --list | head -n 1 | grep -q "^$name " || echo "no table $name"
done
