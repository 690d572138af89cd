#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""verify/engine/names.py PROGRAM: names of memory, from the debug information (readelf), for symbol.c.

    V ADDRESS SIZE NAME                             a scalar of a static variable: flag[1], ring.prod.head
    H LINE FILE STRIDE OFFSET SIZE POINTER MEMBER   a scalar of a block that this line allocates; MEMBER - for one without members

A block has the type of the pointer that the line assigns to, or of the sizeof in it. The engine runs this only to show an error.
"""
import os
import re
import subprocess
import sys

MOST = 4096  # scalars of one variable
DIE = re.compile(r" <(\w+)><(\w+)>: Abbrev Number: \d+ \(DW_TAG_(\w+)\)")
ATTRIBUTE = re.compile(r"    <\w+>\s+DW_AT_(\w+)\s*: (.*)")
THROUGH = ("typedef", "const_type", "volatile_type", "atomic_type", "restrict_type")
WHOLE = re.compile(r"(pthread|mtx|cnd|sem|once|tss)_")  # opaque: their parts mean nothing to a reader
ALLOCATES = re.compile(r"\b(?:malloc|calloc|realloc|aligned_alloc)\s*\(")
ASSIGNS = re.compile(r"(\w+)\s*=\s*(?:\([^()]*\)\s*)?(?:malloc|calloc|realloc|aligned_alloc)\s*\(")
NEW = re.compile(r"(?:\b(\w+)\s*[=({]\s*)?\bnew\s*(?:\([^()]*\)\s*)?(?:\w+::)*(\w+)")
MAKE = re.compile(r"(?:\b(\w+)\s*[=({]\s*)?(?:std::)?make_(shared|unique)\s*<\s*(?:\w+::)*(\w+)\s*>")
SHARED = 16  # bytes of the counts before an object of make_shared, in libstdc++
SIZEOF = re.compile(r"sizeof\s*\(\s*(?:struct\s+|union\s+)?(\w+)\s*\)")


class Die:
    def __init__(self, tag, parent):
        self.tag, self.parent, self.children, self.at = tag, parent, [], {}

    def text(self, name):
        return re.sub(r"^\((?:indirect|alt)[^)]*\): ", "", self.at.get(name, "")).strip()

    def number(self, name, default=0):
        m = re.match(r"(0x[0-9a-f]+|\d+)", self.text(name))
        return int(m.group(1), 0) if m else default


def read(program):
    """All entries by offset."""
    out = subprocess.run(["readelf", "--debug-dump=info", program], stdout=subprocess.PIPE, text=True, errors="replace").stdout
    dies, path, die = {}, {}, None
    for line in out.splitlines():
        m = DIE.match(line)
        if m:
            depth = int(m.group(1), 16)
            die = Die(m.group(3), path.get(depth - 1))
            path[depth] = dies[int(m.group(2), 16)] = die
            if die.parent:
                die.parent.children.append(die)
            continue
        m = ATTRIBUTE.match(line)
        if m and die:
            die.at[m.group(1)] = m.group(2)
    return dies


def type_of(dies, die):
    m = re.match(r"<0x(\w+)>", die.at.get("type", ""))
    return dies.get(int(m.group(1), 16)) if m else None


def strip(dies, kind):
    """Without typedefs and qualifiers; opaque types stay."""
    while kind and kind.tag in THROUGH and not WHOLE.match(kind.text("name")):
        kind = type_of(dies, kind)
    return kind


def size_of(dies, kind):
    while kind and "byte_size" not in kind.at and kind.tag in THROUGH:
        kind = type_of(dies, kind)
    if kind and kind.tag == "array_type":
        n = size_of(dies, type_of(dies, kind))
        for sub in kind.children:
            n *= sub.number("upper_bound", sub.number("count", 1) - 1) + 1
        return n
    return kind.number("byte_size") if kind else 0


def scalars(dies, kind, name, offset):
    """(name, offset, size) of each."""
    kind = strip(dies, kind)
    if not kind:
        return
    if kind.tag in ("structure_type", "class_type", "union_type"):
        for base in kind.children:
            if base.tag == "inheritance":
                yield from scalars(dies, type_of(dies, base), name, offset + base.number("data_member_location"))
        for member in kind.children:
            if member.tag == "member":
                word = member.text("name")
                part = ("%s.%s" % (name, word) if name else word) if word else name
                yield from scalars(dies, type_of(dies, member), part, offset + member.number("data_member_location"))
    elif kind.tag == "array_type":
        counts = [sub.number("upper_bound", sub.number("count", 1) - 1) + 1 for sub in kind.children if sub.tag == "subrange_type"]
        inner = type_of(dies, kind)
        size, total = size_of(dies, inner), 1
        for n in counts:
            total *= n
        for i in range(min(total, MOST)):
            index, rest = "", i
            for n in reversed(counts):
                index, rest = "[%d]%s" % (rest % n, index), rest // n
            yield from scalars(dies, inner, name + index, offset + i * size)
    else:
        yield name, offset, size_of(dies, kind) or 1


def variables(dies):
    for die in dies.values():
        m = re.search(r"DW_OP_addr: (\w+)\)", die.at.get("location", "")) if die.tag == "variable" else None
        origin = die
        while m and "name" not in origin.at:
            link = re.match(r"<0x(\w+)>", origin.at.get("specification", origin.at.get("abstract_origin", "")))
            if not link or int(link.group(1), 16) not in dies:
                break
            origin = dies[int(link.group(1), 16)]
        if m and origin.text("name"):
            for i, (name, offset, size) in enumerate(scalars(dies, type_of(dies, origin), origin.text("name"), 0)):
                if i < MOST:
                    print("V %d %d %s" % (int(m.group(1), 16) + offset, size, name))


def pointed_to(dies, name):
    """The type that a variable, parameter or member of this name points to."""
    for die in dies.values():
        if die.tag in ("variable", "formal_parameter", "member") and die.text("name") == name:
            kind = strip(dies, type_of(dies, die))
            if kind and kind.tag == "pointer_type" and type_of(dies, kind):
                return type_of(dies, kind)
    return None


def named(dies, name):
    return next((d for d in dies.values() if d.tag in ("structure_type", "class_type", "union_type", "typedef", "base_type") and d.text("name") == name
                 and (d.tag in ("typedef", "base_type") or d.children)), None)


def allocated(dies, line):
    """(type, name of the pointer, offset in the block) of what this line of the text allocates; or None."""
    make, new = MAKE.search(line), NEW.search(line)
    if make:
        return named(dies, make.group(3)), make.group(1) or make.group(3), SHARED if make.group(2) == "shared" else 0
    if new:
        return named(dies, new.group(2)), new.group(1) or new.group(2), 0
    if not ALLOCATES.search(line):
        return None
    target, size = ASSIGNS.search(line), SIZEOF.search(line)
    kind = (target and pointed_to(dies, target.group(1))) or (size and named(dies, size.group(1)))
    return kind, target.group(1) if target else size.group(1) if size else "", 0


def blocks(dies, file):
    with open(file, errors="replace") as f:
        lines = f.readlines()
    for number, line in enumerate(lines, 1):
        kind, pointer, before = allocated(dies, line) or (None, "", 0)
        size = size_of(dies, kind) if kind else 0
        stride = size + (before and 1 << 20)  # one object only
        for i, (name, offset, bytes_) in enumerate(scalars(dies, kind, "", before) if size and pointer else ()):
            if i < MOST:
                name = re.sub(r"\._M_.*", "", name)  # parts of a class of libstdc++
                print("H %d %s %d %d %d %s %s" % (number, os.path.basename(file).replace(" ", "?"), stride, offset, bytes_, pointer, name or "-"))


def main():
    dies = read(sys.argv[1])
    variables(dies)
    for die in dies.values():
        if die.tag == "compile_unit":
            file = os.path.join(die.text("comp_dir"), die.text("name"))
            if os.path.isfile(file):
                blocks(dies, file)


if __name__ == "__main__":
    main()
