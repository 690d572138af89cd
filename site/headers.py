# SPDX-License-Identifier: MIT
"""The public headers as data: what each declares, with the comment that states its contract."""
from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterator

SKIP = re.compile(r"LADE_BEGIN\b|LADE_END\b|extern \"C\" \{|\}")
TOKEN = re.compile(r"/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|[(){};,]|\n[ \t]*\n", re.S)
STATUS = re.compile(r"(LADE_[A-Z_]+|else|0)(?:\s{2,}(\S.*))?$")
TOPIC = re.compile(r"([A-Z][\w]*(?:,? [\w]+)?) {2,}(\S.*)$")


@dataclass
class Member:
    """A field of a struct, or a constant of an enum."""
    names: list[str]
    code: str
    doc: str = ""


@dataclass
class Entry:
    """What one comment describes: a declaration, or several that follow one another."""
    kind: str
    names: list[str]
    code: list[str]
    doc: str = ""
    members: list[Member] = field(default_factory=list)
    anchor: str = ""


@dataclass
class Header:
    """One public header."""
    path: str
    title: str
    contract: str
    entries: list[Entry]


def plain(comment: str) -> str:
    """The text of a comment, its lines kept and its marks removed."""
    lines = comment.removeprefix("/*").removesuffix("*/").split("\n")
    return "\n".join([lines[0].strip(), *(re.sub(r"^\s*\*? ?", "", line).rstrip() for line in lines[1:])]).strip("\n")


def _end(text: str, at: int) -> int:
    """Where the declaration that begins at `at` ends: after its semicolon, or after the body of a function."""
    depth, called = 0, False
    for token in TOKEN.finditer(text, at):
        mark = token.group()
        if mark in "({":
            called = called or (mark == "(" and depth == 0)
            depth += 1
        elif mark in ")}":
            depth -= 1
            if mark == "}" and depth == 0 and called:
                return token.end()
        elif mark == ";" and depth == 0:
            return token.end()
    raise ValueError(f"a declaration does not end: {text[at:at + 60]!r}")


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """(kind, text): comments, those behind something on its line, macros, declarations, blank lines."""
    at, behind = 0, False
    while at < len(text):
        space = re.compile(r"\s*").match(text, at)
        assert space
        if "\n" in space.group():
            behind = False
            if space.group().count("\n") > 1:
                yield "blank", ""
        at = space.end()
        skipped = SKIP.match(text, at)
        if at == len(text):
            return
        if text.startswith("/*", at):
            end = text.index("*/", at) + 2
            yield ("trailing" if behind else "comment"), plain(text[at:end])
        elif text[at] == "#":
            line = re.compile(r"(?:[^\\\n]|\\\n|\\.)*").match(text, at)
            assert line
            code, _, comment = line.group().partition("/*")
            yield "macro", code.strip()
            end = at + len(code.rstrip()) if comment else line.end()
        elif skipped:
            end = skipped.end()
        else:
            end = _end(text, at)
            yield "declaration", text[at:end]
        behind = text[at] != "/" or behind
        at = end


def _strip(code: str) -> str:
    """A declaration without its comments and without what only compilers read."""
    code = re.sub(r"/\*.*?\*/", "", code, flags=re.S)
    return " ".join(re.sub(r"\b(LADE_API|LADE_MUST_CHECK|__extension__)\b", "", code).split())


def _names(code: str) -> list[str]:
    """The names that a field, or several of one type, declare."""
    pointer = re.search(r"\(\*(\w+)\)", code)
    if pointer:
        return [pointer.group(1)]
    return [match.group(1) for part in code.rstrip(";").split(",") if (match := re.search(r"(\w+)\s*(?:\[[^\]]*\])*\s*$", part.strip()))]


def _members(body: str, mark: str) -> list[Member]:
    """Fields or constants between braces, each with the comment on its line or before it; one before it holds up to the next blank line."""
    members: list[Member] = []
    before, begin, depth, shared = "", 0, 0, False
    for token in TOKEN.finditer(body + mark):
        text = token.group()
        if text.startswith("/*"):
            gap = body[begin:token.start()]
            if gap.strip() and not depth:
                before = plain(text)  # behind the last constant, which has no comma
            elif depth or not gap.strip() and "\n" not in gap and members:
                if not depth:
                    if shared and len(members[-1].code.split("\n")) > 1:  # its own, not the one that the field before it has
                        own = members[-1].code.split("\n")[-1]
                        members[-1].code = members[-1].code[:-len(own) - 1]
                        names = _names(own)
                        members[-1].names = members[-1].names[:-len(names)]
                        members.append(Member(names, own))
                    members[-1].doc, before, shared = plain(text), "", False
            elif not gap.strip():
                before, shared = plain(text), False
            if not depth and not gap.strip():
                begin = token.end()
        elif text[0] == "\n":
            if not depth:
                before = ""
        elif text in "({":
            depth += 1
        elif text in ")}":
            depth -= 1
        elif text == mark and depth == 0:
            code = _strip(body[begin:token.start()])
            begin = token.end()
            if code.startswith("union {") or code.startswith("struct {"):
                inner = body[:token.start()]
                members += _members(inner[inner.rindex(code.split()[0] + " {") + len(code.split()[0]) + 2:inner.rindex("}")], mark)
            elif code:
                names = [code.split("=")[0].strip()] if mark == "," else _names(code)
                if shared:
                    members[-1].names += names
                    members[-1].code += "\n" + code
                else:
                    members.append(Member(names, code, before))
                shared = bool(before)
    return members


def _entry(code: str) -> Entry:
    """The entry of one declaration, without its comment."""
    body = re.match(r"(?:typedef )?(struct|union|enum)\s*(\w*)\s*\{(.*)\}\s*(\w*)\s*;$", code, re.S)
    if body:
        mark = "," if body.group(1) == "enum" else ";"
        members = _members(body.group(3), mark)
        name = body.group(2) or body.group(4) or members[0].names[0]
        return Entry(body.group(1), [name], [f"{body.group(1)} {body.group(2)}".strip() if body.group(2) else body.group(4) or body.group(1)], members=members)
    plainly = _strip(code)
    opaque = re.match(r"struct (\w+);$", plainly)
    if opaque:
        return Entry("struct", [opaque.group(1)], [plainly])
    if plainly.startswith("typedef"):
        pointer = re.search(r"\(\*(\w+)\)", plainly)
        name = pointer or re.search(r"(\w+)\s*(?:\(.*\))?;$", plainly)
        assert name, code
        return Entry("type", [name.group(1)], [plainly])
    head = re.match(r"(.*?\b(\w+)\(.*?\))\s*(?:\{|;|LADE_|__attribute__)", plainly + ";", re.S)
    assert head, code
    depth = 0
    for i, c in enumerate(plainly):  # the parameters may hold parameters of callbacks
        depth += (c == "(") - (c == ")")
        if c == ")" and depth == 0:
            break
    return Entry("function", [head.group(2)], [re.sub(r"^(static )?inline ", r"\1inline ", plainly[:i + 1]) + ";"])


def parse(path: Path, root: Path) -> Header:
    """Everything that a header declares for its users."""
    text = path.read_text(encoding="utf-8")
    entries: list[Entry] = []
    doc, contract, fresh = "", "", False
    share = False  # the next declaration follows without a blank line on one that `doc` describes
    for kind, piece in _pieces(text):
        if kind == "blank":
            doc, share = "", False
        elif kind == "comment":
            if not contract and not entries and not piece.startswith("SPDX"):
                contract = piece
            else:
                doc, fresh, share = piece, True, False
        elif kind == "trailing":
            last = entries[-1]
            if len(last.names) > 1 and last.kind == "macro":  # its own, not the one above the macros in front of it
                entries.append(Entry("macro", [last.names.pop()], [last.code.pop()], piece))
            elif not last.doc:
                last.doc = piece
        elif kind == "macro":
            name = re.match(r"#define\s+(\w+)(\([^)]*\))?\s*(.*)$", piece, re.S)
            if not name or name.group(1).endswith("_H") or name.group(1).startswith("ARROW_C_") or name.group(1).endswith("_H_"):
                continue
            if any(name.group(1) in entry.names for entry in entries):  # the other branch of a condition
                continue
            value = " ".join(name.group(3).replace("\\\n", " ").split())
            shown = f"#define {name.group(1)}{name.group(2) or ''}" + (f" {value}" if value and len(value) < 80 else "")
            if doc and not fresh and entries[-1].kind == "macro":
                entries[-1].names.append(name.group(1))
                entries[-1].code.append(shown)
                continue
            fresh = False
            entries.append(Entry("macro", [name.group(1)], [shown], doc))
        else:
            entry = _entry(piece)
            if share and entry.kind == "function" and entries and entries[-1].kind == "function":
                entries[-1].names += entry.names
                entries[-1].code += entry.code
                continue
            entry.doc = doc
            entries.append(entry)
            share = bool(doc)
    for entry in entries:  # a function with its size is the one that users call less
        if len(entry.names) > 1 and entry.names[0] == entry.names[1] + "_sized":
            for of in (entry.names, entry.code):
                of[0], of[1] = of[1], of[0]
    functions = {name for entry in entries if entry.kind == "function" for name in entry.names}
    for entry in entries:  # a function that fills a struct has its name
        entry.anchor = entry.names[0] if entry.kind == "function" or entry.names[0] not in functions else f"{entry.kind}-{entry.names[0]}"
    return Header(path.relative_to(root).as_posix(), path.stem, contract, entries)


def missing(header: Header) -> list[str]:
    """Public names that no sentence describes."""
    found = [f"{header.path}: no contract at its beginning"] if not header.contract else []
    for entry in header.entries:
        if not entry.doc:
            found.append(f"{header.path}: {entry.kind} {entry.names[0]} has no sentence")
        if not re.match("DL|Arrow", entry.names[0]):  # fields of a public standard, which describes them
            found += [f"{header.path}: {entry.names[0]}: {', '.join(member.names)} has no sentence" for member in entry.members if not member.doc]
    return found


def every(root: Path) -> list[Header]:
    """The headers of all libraries, in the order of the layers. A struct that a header only mentions is left to the one that describes it."""
    found = [parse(path, root) for layer in ("lib", "load", "gpu") for path in sorted((root / layer / "include" / "lade").glob("*.h"))]
    described = {entry.names[0] for header in found for entry in header.entries if entry.kind == "struct" and entry.doc}
    for header in found:
        header.entries = [entry for entry in header.entries if entry.kind != "struct" or entry.doc or entry.members or entry.names[0] not in described]
    return found
