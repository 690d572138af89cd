# SPDX-License-Identifier: MIT
"""Order sites: every atomic access in the libraries with an order stronger than relaxed, and the tag that names it.

A tag trails the statement of its access (or the brace that opens the block):

    atomic_store_explicit(&slot->state, FULL, memory_order_release); /* [bag.publish] -> [bag.take] */

It names the site, the sites that it synchronises with, and, where some weakening is known to be harmless, the reason:
`/* [bag.a] -> [bag.b] keep: reason */`. The scan is lexical: the library writes its orders out in each call, so no
preprocessor is needed to find them, and whatever cannot be read this way is an error.
"""
from __future__ import annotations

import bisect
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterator, Optional, Sequence

LIBRARIES = ("lib", "load", "gpu")  # folders whose orders are sites, unless the caller names others

ORDER = r"memory_order_(relaxed|consume|acquire|release|acq_rel|seq_cst)"
NAME = r"\[[a-z]\w*\.[\w.-]+\]"
_TAG = re.compile(rf"^({NAME}) ?-> ?({NAME}(?: ?, ?{NAME})*)(?: keep: (\S.*))?$")
_LEXEMES = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)
_CALL = re.compile(r"\b(atomic_\w+)\s*\(")
_ACCESS = re.compile(r"atomic_(load|store|exchange|compare_exchange_weak|compare_exchange_strong|fetch_\w+?|"
                     r"flag_test_and_set|flag_clear)(_explicit)?$")
LOAD_PART = {"relaxed": "relaxed", "acquire": "acquire", "release": "relaxed", "acq_rel": "acquire", "seq_cst": "seq_cst"}


@dataclass
class Order:
    """One memory_order_… word in the source."""

    name: str
    start: int
    end: int


@dataclass
class Site:
    """A tagged access. `kind` is load, store, rmw, cas or fence; a cas has two orders."""

    name: str
    file: str
    line: int
    kind: str
    orders: list[Order]
    span: tuple[int, int]
    partners: list[str] = field(default_factory=list)
    keep: str = ""
    last_line: int = 0  # of the call, which may span lines
    function: str = ""  # the function or macro that holds the access

    @property
    def module(self) -> str:
        return self.name.split(".")[0]

    @property
    def order(self) -> str:
        return "/".join(order.name for order in self.orders)


_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w+)(?:[^\n\\]|\\\n|\\.)*", re.M)
_NAMED = re.compile(r"\b(?!__attribute__|_Alignas|if\b|for\b|while\b|switch\b)(\w+)\s*\($")


def _name_before(head: str) -> str:
    """The name in front of the last parameter list of a declaration, whose body follows."""
    depth = 0
    for at in range(len(head) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(head[at], 0)
        if head[at] == "(" and depth == 0:
            found = _NAMED.search(head[:at + 1])
            if found:
                return found.group(1)
    return ""


def _bodies(code: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, name) of each function and macro of a file without comments. Of the branches of an #if each is read as
    if it stood alone."""
    depth, start, outer = 0, 0, []  # start: of the current declaration; outer: depths in front of open #ifs
    tokens = re.compile(_DIRECTIVE.pattern + r"|[{};]", re.M)
    name = ""
    for found in tokens.finditer(code):
        word, directive = found.group(0), found.group(1)
        if directive:
            if directive == "define":
                macro = re.match(r"[ \t]*#[ \t]*define[ \t]+(\w+)", word)
                yield found.start(), found.end(), macro.group(1) if macro else ""
            elif directive.startswith("if"):
                outer.append(depth)
            elif directive.startswith("el") and outer:
                depth = outer[-1]
            elif directive == "endif" and outer:
                outer.pop()
            start = found.end() if depth == 0 else start
        elif word == "{":
            head = code[start:found.start()]
            if depth == 0 and head.split()[:1] == ["extern"] and "(" not in head:
                start = found.end()  # extern "C" {
                continue
            if depth == 0:
                name = _name_before(head)
            depth += 1
        elif word == "}" and depth > 0:
            depth -= 1
            if depth == 0:
                if name:
                    yield start, found.end(), name
                start = found.end()
        elif depth == 0:
            start = found.end()


class Source:
    """A file with comments and literals blanked out, so that what looks like code is code."""

    def __init__(self, path: Path, root: Path) -> None:
        self.name = str(path.relative_to(root))
        self.text = path.read_text(encoding="utf-8")
        self.comments: list[tuple[int, int, str]] = []
        self.code = _LEXEMES.sub(self._blank, self.text)
        self.starts = [0] + [m.end() for m in re.finditer("\n", self.text)]
        self.bodies = list(_bodies(self.code))

    def _blank(self, found: re.Match[str]) -> str:
        word = found.group(0)
        if word.startswith("/*") or word.startswith("//"):
            inner = word[2:-2] if word.startswith("/*") else word[2:]
            self.comments.append((found.start(), found.end(), " ".join(inner.split())))
        return re.sub(r"[^\n]", " ", word)

    def function(self, at: int) -> str:
        """The name of the function or macro around a position; empty outside of all."""
        for start, end, name in self.bodies:
            if start <= at < end:
                return name
        return ""

    def line(self, at: int) -> int:
        return bisect.bisect_right(self.starts, at)

    def arguments(self, opening: int) -> tuple[list[tuple[int, int]], int]:
        """Spans of a call's arguments and the position behind its closing parenthesis."""
        depth, start, spans = 0, opening + 1, []
        for at in range(opening, len(self.code)):
            char = self.code[at]
            if char in "([{":
                depth += 1
            elif char in ")]}":
                depth -= 1
                if depth == 0:
                    spans.append((start, at))
                    return spans, at + 1
            elif char == "," and depth == 1:
                spans.append((start, at))
                start = at + 1
        return spans, len(self.code)

    def tag_after(self, start: int, end: int) -> Optional[tuple[int, str]]:
        """The tag-like comment that trails the statement of the access between start and end."""
        stop = re.compile(r"[;{}]").search(self.code, end)
        at = stop.start() if stop else end
        newline = self.text.find("\n", at)
        newline = len(self.text) if newline < 0 else newline
        for begin, _, text in self.comments:
            if start <= begin <= newline and re.match(NAME, text):
                return begin, text
        return None


def _accesses(source: Source) -> Iterator[tuple[str, str, list[tuple[int, int]], tuple[int, int]]]:
    """(function, kind, spans of the order arguments, span of the call) of each atomic call; no spans: implicit seq_cst."""
    for found in _CALL.finditer(source.code):
        name = found.group(1)
        spans, end = source.arguments(found.end() - 1)
        call = (found.start(), end)
        if name == "atomic_thread_fence":
            yield name, "fence", spans, call
            continue
        access = _ACCESS.match(name)
        if not access:
            continue  # atomic_init, atomic_is_lock_free, atomic_signal_fence order nothing between threads
        what, explicit = access.groups()
        kind = {"load": "load", "store": "store", "flag_clear": "store"}.get(what, "cas" if what.startswith("compare") else "rmw")
        yield name, kind, (spans[-2:] if kind == "cas" else spans[-1:]) if explicit else [], call


@dataclass
class Scan:
    """All sites of the library, and what is wrong with them."""

    sites: list[Site] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def _scan_file(source: Source, scan: Scan) -> None:
    used: dict[int, str] = {}
    for builtin in re.finditer(r"\b__(?:atomic|sync)_\w+", source.code):
        scan.problems.append(f"{source.name}:{source.line(builtin.start())}: {builtin.group(0)}: use <stdatomic.h>")
    for name, kind, spans, call in _accesses(source):
        place = f"{source.name}:{source.line(call[0])}"
        if not spans:
            scan.problems.append(f"{place}: {name} is seq_cst by default; use the _explicit form")
            continue
        orders = []
        for start, end in spans:
            found = re.search(ORDER, source.code[start:end])
            if not found or found.group(0) != source.code[start:end].strip():
                scan.problems.append(f"{place}: the order of {name} is not written out")
                break
            orders.append(Order(found.group(1), start + found.start(), start + found.end()))
        if len(orders) < len(spans):
            continue
        tag = source.tag_after(*call)
        if all(order.name == "relaxed" for order in orders):
            continue
        if not tag:
            scan.problems.append(f"{place}: {name} with {'/'.join(o.name for o in orders)} has no tag; "
                                 "write /* [module.site] -> [module.partner] */ behind the statement")
            continue
        begin, text = tag
        parsed = _TAG.match(text)
        if not parsed:
            scan.problems.append(f"{place}: tag `{text}` is not of the form [module.site] -> [module.partner]")
            used[begin] = text
            continue
        if begin in used:
            scan.problems.append(f"{place}: two ordered accesses in one statement share the tag {parsed.group(1)}")
            continue
        used[begin] = text
        scan.sites.append(Site(parsed.group(1)[1:-1], source.name, source.line(call[0]), kind, orders, call,
                               [word[1:-1] for word in re.findall(NAME, parsed.group(2))], parsed.group(3) or "",
                               source.line(call[1] - 1), source.function(call[0])))
    for begin, _, text in source.comments:
        if re.match(NAME, text) and begin not in used:
            tag_name = re.match(NAME, text)
            scan.problems.append(f"{source.name}:{source.line(begin)}: {tag_name.group(0) if tag_name else text} "
                                 "belongs to no order stronger than relaxed")


def _sources(folder: Path) -> list[Path]:
    """The C files below a folder, without those of its tests."""
    return [path for path in sorted(folder.rglob("*.[ch]")) if "test" not in path.relative_to(folder).parts[:-1]]


def scan_library(root: Path, folders: Sequence[str] = LIBRARIES) -> Scan:
    """Read all sources and check that tags are complete: no untagged order, no missing partner, no name twice."""
    scan = Scan()
    for path in (path for name in folders for path in _sources(root / name)):
        _scan_file(Source(path, root), scan)
    names: dict[str, Site] = {}
    for site in scan.sites:
        if site.name in names:
            scan.problems.append(f"{site.file}:{site.line}: [{site.name}] is also the name of "
                                 f"{names[site.name].file}:{names[site.name].line}")
        names.setdefault(site.name, site)
    for site in scan.sites:
        for partner in site.partners:
            if partner not in names:
                scan.problems.append(f"{site.file}:{site.line}: [{site.name}] names [{partner}], which does not exist")
    return scan


def inexact(sites: list[Site]) -> list[str]:
    """CAS whose failure order is not the load part of its success order: GenMC ignores the failure order, so it would
    check another program."""
    return [f"{site.file}:{site.line}: [{site.name}] compare-exchange with {site.order}: GenMC ignores the failure order; "
            f"write {site.orders[0].name}/{LOAD_PART[site.orders[0].name]}"
            for site in sites if site.kind == "cas" and LOAD_PART.get(site.orders[0].name) != site.orders[1].name]
