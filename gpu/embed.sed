# SPDX-License-Identifier: MIT
# The lines of a text as strings of an array in C.
s/\\/\\\\/g
s/"/\\"/g
s/^/"/
s/$/\\n",/
