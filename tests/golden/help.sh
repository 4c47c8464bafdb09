# SPDX-License-Identifier: Apache-2.0
# The pages contain examples, and name only what exists.
"$OPSCOPE" --help
"$OPSCOPE" help table >table.txt
"$OPSCOPE" table --help | cmp - table.txt && cat table.txt
"$OPSCOPE" info --help
"$OPSCOPE" --version | sed 's/[0-9.]*$/VERSION/'
