#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""embed.py FILE NAME VERSION: the text of a file as an array of C, to standard output. @VERSION@ in it becomes VERSION."""
import pathlib
import sys

path, name, version = sys.argv[1:]
data = pathlib.Path(path).read_text(encoding="utf-8").replace("@VERSION@", version).encode() + b"\0"
print("/* Made by cli/embed.py. */")
print(f"const char {name}[] = {{")
for i in range(0, len(data), 24):
    print("    " + "".join(f"{byte if byte < 128 else byte - 256}," for byte in data[i:i + 24]))
print("};")
