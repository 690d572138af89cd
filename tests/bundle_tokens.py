#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/bundle_tokens.py FOLDER NAME MODULE...: the preprocessed tokens of a bundle are those of the sources, in their order.

The compiler reads the sources one by one and shows by its line markers which file a token comes from; tools/bundle's way of
putting files into each other plays no part. What is left out on both sides: system headers, and LADE_API. What the bundle
puts before a name that it keeps to itself is defined as in the sources.
"""
import itertools
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|[\w.])*|\S')
VISIBILITY = '__attribute__ ( ( visibility ( "default" ) ) )'.split()
PUBLIC = {"event": ["event.h", "futex.h"], "deferred": ["lade/ref.h"]}


def parts(source, folder, flags):
    """(file, tokens) for each stretch of the preprocessed text that comes from below the folder."""
    text = subprocess.run(["cc", "-std=c11", "-E", "-D_GNU_SOURCE=", *flags, "-xc", "-"], input=source, check=True,
                          capture_output=True, text=True, cwd=ROOT).stdout
    name = None
    for line in text.split("\n"):
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            path = pathlib.Path(marker.group(1))
            name = path if folder in path.parents else None
        elif name and not line.startswith("#"):
            yield name, TOKEN.findall(line)


def without_visibility(tokens):
    """The tokens without LADE_API, which is either all or nothing."""
    found = []
    for token in tokens:
        found.append(token)
        if token == ")" and found[-len(VISIBILITY):] == VISIBILITY:
            del found[-len(VISIBILITY):]
    return found


def of_sources(modules):
    """The public headers, then the sources; each header where it comes for the first time."""
    tokens, seen = [], set()
    names = subprocess.run([ROOT / "tools/bundle", "--list", *modules], check=True, capture_output=True, text=True).stdout.split()
    ordered = sorted(modules, key=lambda module: module == "event")
    headers = [header for module in ordered for header in PUBLIC.get(module, [f"lade/{module}.h"])]
    first = "".join(f"#include <{header}>\n" for header in headers)
    for source in [first, *(f'#include "{ROOT / "lib" / name}"\n' for name in names)]:
        now = set()
        for path, found in parts(source, ROOT / "lib", ["-I", f"{ROOT}/lib/include", "-I", f"{ROOT}/lib"]):
            now.add(path)
            if path not in seen:
                tokens += found
        seen |= now
    return without_visibility(tokens)


def of_bundle(folder, name):
    """The tokens of NAME.h and NAME.c."""
    stretches = parts(f'#include "{folder / name}.c"\n', folder, ["-DLADE_BUNDLED=", "-DLADE_BUNDLED_EXTERN=extern"])
    return without_visibility(itertools.chain.from_iterable(found for _, found in stretches))


def main():
    folder, name, modules = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3:]
    expected, tokens = of_sources(modules), of_bundle(folder, name)
    # The bundle's own lines have no tokens but the pragma, which the preprocessor keeps as a line.
    for at, pair in enumerate(itertools.zip_longest(expected, tokens)):
        if pair[0] != pair[1]:
            print(f"token {at} differs: the sources have\n  {' '.join(expected[max(at - 8, 0):at + 8])}\nthe bundle has\n"
                  f"  {' '.join(tokens[max(at - 8, 0):at + 8])}")
            return 1
    if len(tokens) < 100:
        print(f"only {len(tokens)} tokens")
        return 1
    print(f"note: {len(tokens)} tokens")
    return 0


if __name__ == "__main__":
    sys.exit(main())
