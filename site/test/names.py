#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""site/test/names.py: the reference has exactly the names that Clang finds in the public headers: functions, types, fields, constants,
and macros by its preprocessor."""
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "site"))
import headers  # noqa: E402

FLAGS = [f"-I{ROOT}/{layer}/include" for layer in ("lib", "load", "gpu")]


def declared(node, names, file, outer=""):
    """Adds what the headers declare; the tree names a file only where it changes."""
    where = node.get("loc", {})
    where = where.get("expansionLoc", where)
    if "file" in where:
        file[0] = where["file"]
    kind, name = node.get("kind"), node.get("name", "")
    ours = "/include/lade/" in file[0] and not node.get("isImplicit")
    if kind == "TranslationUnitDecl":
        for child in node["inner"]:
            declared(child, names, file)
        return
    if kind in ("FunctionDecl", "TypedefDecl") and ours:
        names.add(name)
    if kind == "RecordDecl" and ours:
        names.add(name) if name and not outer else None
        fields = [child for child in node.get("inner", []) if child.get("kind") in ("FieldDecl", "RecordDecl", "IndirectFieldDecl")]
        for child in fields:
            if child["kind"] == "FieldDecl" and child.get("name"):
                names.add("." + child["name"])
            declared(child, names, file, outer="field")
        return
    if kind == "EnumDecl" and ours:
        if name:
            names.add(name)
        names.update(child["name"] for child in node.get("inner", []) if child.get("kind") == "EnumConstantDecl")
    # Locations of what is inside change the current file too.
    for child in node.get("inner", []):
        if kind not in ("RecordDecl",):
            skip(child, file)


def skip(node, file):
    where = node.get("loc", {})
    where = where.get("expansionLoc", where)
    if "file" in where:
        file[0] = where["file"]
    for child in node.get("inner", []):
        skip(child, file)


def main():
    if sys.argv[1:]:
        print(__doc__)
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    paths = [ROOT / header.path for header in headers.every(ROOT)]
    program = "".join(f"#include <lade/{path.name}>\n" for path in paths)
    run = ["clang", "-std=gnu11", "-x", "c", "-", *FLAGS]
    tree = json.loads(subprocess.run([*run, "-fsyntax-only", "-Xclang", "-ast-dump=json"], input=program, capture_output=True, text=True, check=True).stdout)
    compiler: set = set()
    declared(tree, compiler, [""])
    macros = subprocess.run([*run, "-E", "-dM"], input=program, capture_output=True, text=True, check=True).stdout
    compiler |= {name for name in re.findall(r"^#define (\w+)", macros, re.M)
                 if re.match(r"(LADE|DLPACK|ARROW)_", name) and not re.match(r"LADE_\w+_H$|DLPACK_DLPACK_H_$|ARROW_C_", name)}
    reference: set = set()
    for header in headers.every(ROOT):
        for entry in header.entries:
            reference |= {name for name in entry.names if name}
            reference |= {name if entry.kind == "enum" else "." + name for member in entry.members for name in member.names}
    for name in sorted(compiler - reference):
        print(f"not in the reference: {name.lstrip('.')}")
    for name in sorted(reference - compiler):
        print(f"Clang does not find {name.lstrip('.')}")
    print(f"note: {len(reference)} names")
    return 0 if compiler == reference else 1


if __name__ == "__main__":
    sys.exit(main())
