# SPDX-License-Identifier: MIT
"""The site: which page comes from which file, the frame around each, the index for search."""
from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import api
import headers
from markdown import coloured, render, text_of

COURSE, MUSEUM = "docs/course", "docs/museum.md"
TILES = (("guide/index.html", "Guide", "Each structure, the loader, the checker: design, use, limits."),
         ("api/index.html", "API reference", "Every public name with its contract, from the headers."),
         ("course/index.html", "Course", "Memory orders, one surprising program at a time."),
         ("lab/index.html", "Lab", "Change an order, see every outcome at once."),
         ("museum/index.html", "Museum", "Published ordering bugs as small programs, each drawn."),
         ("certificate/index.html", "Certificate", "Every memory order, weakened, with the execution that goes wrong."),
         ("benchmarks/index.html", "Benchmarks", "Charts, with the commands that draw them."))
ROOT_PAGES = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
MOST_WORDS = 4000  # of a section, in the index for search


class Fault(Exception):
    """Why there is no site."""


@dataclass
class Page:
    """A page: its address in the site, its title, its body, and where it stands in the navigation."""
    address: str
    title: str
    body: str = ""
    group: str = ""
    headings: list[tuple[int, str, str]] = field(default_factory=list)
    origin: str = ""  # the file that it comes from
    wide: bool = False


def relative(address: str, origin: str) -> str:
    """A link from one page of the site to another place in it."""
    path, mark, anchor = address.partition("#")
    if path == origin and mark:
        return mark + anchor
    return os.path.relpath(path, os.path.dirname(origin) or ".") + mark + anchor


class Site:
    """Collects the pages, then writes them."""

    def __init__(self, root: Path, out: Path) -> None:
        self.root, self.out = root, out
        self.headers = headers.every(root)
        self.symbols = {}
        for header in self.headers:
            for entry in header.entries:
                for name in entry.names:
                    if name not in self.symbols or entry.members or entry.kind == "function":
                        self.symbols[name] = f"api/{header.title}.html#{entry.anchor}"
                for member in entry.members:
                    if entry.kind == "enum":
                        for name in member.names:
                            self.symbols[name] = f"api/{header.title}.html#{entry.anchor}.{name}"
        self.pages: dict[str, Page] = {}
        self.groups: list[tuple[str, list[str]]] = []  # the navigation: title, addresses
        self.sources: dict[str, str] = {}  # file or folder of the project to its page, those that some page links to
        self.faults: list[str] = []

    # Addresses

    def address_of(self, path: str) -> str:
        """The page that shows a file or a folder of the project; it is made if it is not there yet."""
        for page in self.pages.values():
            if page.origin == path:
                return page.address
        header = re.fullmatch(r"(?:lib|load|gpu)/include/lade(?:/(\w+)\.h)?", path)
        if header:
            return f"api/{header.group(1) or 'index'}.html"
        if path in ("docs", "docs/museum"):
            return "guide/index.html" if path == "docs" else "museum/index.html"
        if path == COURSE:
            return "course/index.html"
        if path in ("lab", "lab/lab.html"):
            return "lab/index.html"
        file = self.root / path
        if file.suffix == ".html" and file.parent == self.root / COURSE and file.exists():  # a page as it is
            address = f"course/{file.name}"
            (self.out / "course").mkdir(parents=True, exist_ok=True)
            (self.out / address).write_bytes(file.read_bytes())
            return address
        if not file.exists():
            raise Fault(f"there is no {path}")
        self.sources.setdefault(path, f"source/{path}" + ("/index.html" if file.is_dir() else ".html"))
        return self.sources[path]

    def link(self, page: Page, target: str) -> str:
        if re.match(r"[a-z]+:", target):
            return target
        path, mark, anchor = target.partition("#")
        if not path:
            return target
        file = os.path.normpath(os.path.join(os.path.dirname(page.origin), path))
        try:
            return relative(self.address_of(file) + mark + anchor, page.address)
        except Fault as fault:
            self.faults.append(f"{page.origin}: {fault}")
            return target

    def picture(self, page: Page, target: str) -> str:
        """A picture becomes part of the page: then it needs no file, and follows the colours of the screen."""
        file = (self.root / os.path.dirname(page.origin) / target).resolve()
        if file.suffix != ".svg" or not file.exists():
            self.faults.append(f"{page.origin}: no picture {target}")
            return ""
        return f'<figure class="wide" tabindex="0">{file.read_text(encoding="utf-8")}</figure>'

    def symbol(self, page: Page, word: str) -> str:
        name = re.fullmatch(r"(\w+)(?:\(\))?", word)
        address = self.symbols.get(name.group(1)) if name else None
        return relative(address, page.address) if address else ""

    # Pages

    def add(self, page: Page) -> Page:
        self.pages[page.address] = page
        return page

    def plan(self) -> None:
        """Which pages there are, in the order of the navigation: that of docs/README.md."""
        self.add(Page("index.html", "lade", origin="README.md"))
        guide = {path.name: path for path in sorted((self.root / "docs").glob("*.md"))}
        titles = {name: re.sub(r"^# *", "", path.read_text(encoding="utf-8").split("\n", 1)[0]) for name, path in guide.items()}
        group, listed = "Guide", {"README.md": "Guide"}
        order = ["README.md"]
        for line in guide["README.md"].read_text(encoding="utf-8").split("\n"):
            head = re.match(r"## +(.*)", line)
            group = head.group(1) if head else group
            if line.startswith(("- ", "  ")):
                for name in re.findall(r"\]\(([\w-]+\.md)", line):
                    if name not in listed:
                        listed[name] = group
                        order.append(name)
        self.faults += [f"docs/README.md does not list docs/{name}" for name in sorted(set(guide) - set(listed))]
        self.groups = [("Start", ["index.html", "guide/index.html"])]
        for name in order:
            if name not in guide:
                self.faults.append(f"docs/README.md lists docs/{name}, which is not there")
                continue
            address = {"README.md": "guide/index.html", "museum.md": "museum/index.html"}.get(name, f"guide/{name[:-3]}.html")
            self.add(Page(address, "Guide" if name == "README.md" else titles[name], origin=f"docs/{name}", group=listed[name], wide=name == "museum.md"))
            if name in ("README.md", "museum.md"):
                continue
            if self.groups[-1][0] != listed[name]:
                self.groups.append((listed[name], []))
            self.groups[-1][1].append(address)
        self.groups.append(("API reference", ["api/index.html"]))
        self.add(Page("api/index.html", "API reference", group="API reference"))
        for header in self.headers:
            address = f"api/{header.title}.html"
            self.add(Page(address, header.title, group="API reference", origin=header.path))
            self.groups[-1][1].append(address)
        self.plan_course()
        self.groups.append(("See for yourself", ["lab/index.html", "museum/index.html", "certificate/index.html", "benchmarks/index.html"]))
        self.add(Page("lab/index.html", "Lab", group="See for yourself"))
        self.add(Page("certificate/index.html", "Certificate, drawn", group="See for yourself", wide=True))
        self.add(Page("benchmarks/index.html", "Benchmark charts", group="See for yourself", wide=True))
        self.groups.append(("Project", []))
        for name in ROOT_PAGES:
            address = f"guide/{name[:-3].lower()}.html"
            self.add(Page(address, name[:-3].capitalize(), group="Project", origin=name))
            self.groups[-1][1].append(address)

    def plan_course(self) -> None:
        """docs/course/*.md, in the order in which its README.md links to them."""
        start = self.root / COURSE / "README.md"
        order = re.findall(r"\]\(([\w-]+\.md)\)", start.read_text(encoding="utf-8")) if start.exists() else []
        files = sorted((self.root / COURSE).glob("*.md"), key=lambda path: (path != start, order.index(path.name) if path.name in order else len(order), path.name))
        self.groups.append(("Course", ["course/index.html"]))
        for path in files:
            first = path == start
            address = "course/index.html" if first else f"course/{path.stem}.html"
            title = re.sub(r"^# *", "", path.read_text(encoding="utf-8").split("\n", 1)[0])
            self.add(Page(address, title, group="Course", origin=f"{COURSE}/{path.name}"))
            if not first:
                self.groups[-1][1].append(address)
        if "course/index.html" not in self.pages:
            chapters = "".join(f'<li><a href="{os.path.basename(a)}">{escape(self.pages[a].title)}</a></li>' for a in self.groups[-1][1][1:])
            self.add(Page("course/index.html", "Course", group="Course", body="<h1>Course</h1>" + (
                f"<ol>{chapters}</ol>" if chapters else '<p class="note">This tree has no docs/course.</p>')))

    def fill(self) -> None:
        """The bodies of the pages that come from Markdown and from headers."""
        for page in list(self.pages.values()):
            if page.origin.endswith(".md"):
                text = (self.root / page.origin).read_text(encoding="utf-8")
                page.body = render(text, lambda target, page=page: self.link(page, target), lambda target, page=page: self.picture(page, target),
                                   lambda word, page=page: self.symbol(page, word), page.headings)
        tiles = "".join(f'<li><a href="{address}"><b>{title}</b><span>{words}</span></a></li>' for address, title, words in TILES)
        start = self.pages["index.html"]
        start.body = start.body.replace("</h1>", f'</h1><ul class="tiles">{tiles}</ul>', 1)
        for header in self.headers:
            page = self.pages[f"api/{header.title}.html"]
            guide = next((p.address for p in self.pages.values() if p.origin == f"docs/{header.title}.md"), "")
            page.body = api.page(header, lambda word, page=page: self.mentioned(page, word), relative(self.shown_source(header.path), page.address),
                                 relative(guide, page.address) if guide else "")
            page.headings = [(1, "", header.title), *((3, e.anchor, ', '.join(api.shown(e))) for e in header.entries)]
        self.pages["api/index.html"].body = api.index(self.headers)

    def shown_source(self, path: str) -> str:
        self.sources.setdefault(path, f"source/{path}.html")
        return self.sources[path]

    def mentioned(self, page: Page, word: str) -> str:
        """The address of a name, a header or a page of docs that a comment mentions."""
        if word.endswith(".md"):
            return relative(self.address_of(word), page.address) if (self.root / word).exists() else ""
        if word.endswith(".h"):
            address = f"api/{word.removeprefix('lade/')[:-2]}.html"
            return relative(address, page.address) if address in self.pages else ""
        return self.symbol(page, word)

    def charts(self) -> None:
        """All charts of docs, on one page."""
        page = self.pages["benchmarks/index.html"]
        parts = ["<h1>Benchmark charts</h1>"]
        results, method = (relative(self.address_of(f"docs/{name}.md"), page.address) for name in ("results", "bench"))
        parts.append(f'<p><a href="{results}">Results</a> has all figures in tables, with their commands; <a href="{method}">Benchmarks</a> has what is '
                     "measured, against what, and how far such figures can be trusted. A chart is made by the command above it, "
                     "and shows one run on one machine.</p>")
        for file in sorted((self.root / "docs").glob("bench-*.svg")):
            name = file.stem.removeprefix("bench-")
            parts.append(f'<h2 id="{name}">{name}</h2><p><code>bench/run {name} --quick --svg docs/{file.name}</code></p>'
                         f'<figure class="wide" tabindex="0">{file.read_text(encoding="utf-8")}</figure>')
            page.headings.append((2, name, f"chart of {name}"))
        page.body = "".join(parts)

    def lab(self, built: Path | None, reason: str) -> None:
        """The lab is one page that needs nothing; here it gets a way back."""
        page = self.pages["lab/index.html"]
        if built is None:
            page.body = f'<h1>Lab</h1><p class="note">This site was made without the lab: {escape(reason)}</p>'
            return
        text = built.read_text(encoding="utf-8")
        back = '<p style="margin:0 0 4px"><a href="../index.html" style="color:var(--blue)">lade</a></p>'
        assert text.count("<h1>") >= 1
        (self.out / "lab").mkdir(parents=True, exist_ok=True)
        (self.out / "lab" / "index.html").write_text(text.replace("<h1>", back + "<h1>", 1), encoding="utf-8")

    def certificate(self, folder: Path | None, reason: str) -> None:
        """The page of verify/certify --html, in the frame of the site."""
        page = self.pages["certificate/index.html"]
        table = relative(self.address_of("docs/certificate.md"), page.address)
        if folder is None:
            page.body = (f'<h1>The order certificate</h1><p class="note">This site was made without the pictures: {escape(reason)} '
                         f'<a href="{table}">The tables</a> have every order.</p>')
            return
        text = (folder / "index.html").read_text(encoding="utf-8")
        body = re.search(r"<body>(.*)</body>", text, re.S)
        style = re.search(r"<style>.*?</style>", text, re.S)
        if not body or not style:
            raise Fault("the page of verify/certify --html has another form")
        page.body = f'<div class="gallery">{body.group(1)}</div><p><a href="{table}">All of it in tables</a></p>'
        page.headings = [(2, name, f"certificate of {name}") for name in re.findall(r'<h2 id="([^"]+)"', page.body)]
        page.headings += [(3, name, f"order {name}") for name in re.findall(r'<article id="([^" /]+)"', page.body)]

    def source_pages(self) -> None:
        """Files and folders of the project that pages link to. A folder lists what it has; its files get pages too, folders in it only if linked."""
        queue = list(self.sources)
        tracked = set(subprocess.run(["git", "ls-files"], cwd=self.root, capture_output=True, text=True, check=False).stdout.split("\n"))
        for path in queue:
            file, address = self.root / path, self.sources[path]
            if file.is_dir():
                rows = []
                for child in sorted(file.iterdir(), key=lambda p: (p.is_file(), p.name)):
                    name = child.relative_to(self.root).as_posix()
                    known = name in tracked if child.is_file() else any(t.startswith(name + "/") for t in tracked)
                    if tracked - {""} and not known or child.name.startswith((".", "build", "__")):
                        continue
                    if child.is_dir() and name not in self.sources or child.suffix in (".svg", ".png", ".parquet", ".arrow"):
                        rows.append(f'<li><code>{escape(child.name)}{"/" if child.is_dir() else ""}</code></li>')
                        continue
                    before = set(self.sources)
                    to = self.address_of(name)
                    queue += set(self.sources) - before
                    rows.append(f'<li><a href="{relative(to, address)}"><code>{escape(child.name)}{"/" if child.is_dir() else ""}</code></a></li>')
                body = f'<ul class="names">{"".join(rows)}</ul>'
            else:
                try:
                    text = file.read_text(encoding="utf-8")
                except UnicodeDecodeError:
                    text = f"{file.stat().st_size} bytes that are no text\n"
                kind = file.suffix[1:] or ("sh" if text.startswith(("#!/bin/sh", "#!/usr/bin/env bash")) else "py" if text.startswith("#!") else "")
                lines = text.count("\n") or 1
                numbers = "\n".join(str(n) for n in range(1, lines + 1))
                body = (f'<div class="source" tabindex="0"><pre class="numbers" aria-hidden="true">{numbers}</pre>'
                        f"<pre><code>{coloured(text, kind)}</code></pre></div>")
            self.add(Page(address, path, f"<h1 class=\"path\">{escape(path)}</h1>{body}", group="Source", origin="", wide=True))

    # Output

    def navigation(self, page: Page) -> str:
        out = []
        for title, addresses in self.groups:
            items = []
            for address in addresses:
                here = ' aria-current="page"' if address == page.address else ""
                items.append(f'<li><a href="{relative(address, page.address)}"{here}>{escape(self.pages[address].title.split(":")[0], quote=False)}</a></li>')
            opened = " open" if page.address in addresses or title in ("Start", "See for yourself") or page.address == "index.html" and title != "API reference" else ""
            out.append(f"<details{opened}><summary>{escape(title)}</summary><ul>{''.join(items)}</ul></details>")
        return "".join(out)

    def neighbours(self, page: Page) -> str:
        """Previous and next: of the pages of one part."""
        for title, addresses in self.groups:
            if page.address in addresses and title not in ("Start", "See for yourself", "Project"):
                at = addresses.index(page.address)
                links = []
                for step, word, rel in ((-1, "Previous", "prev"), (1, "Next", "next")):
                    if 0 <= at + step < len(addresses):
                        to = self.pages[addresses[at + step]]
                        links.append(f'<a rel="{rel}" href="{relative(to.address, page.address)}"><span>{word}</span>{escape(to.title, quote=False)}</a>')
                return f'<nav class="steps" aria-label="{escape(title)}">{"".join(links)}</nav>'
        return ""

    def frame(self, page: Page) -> str:
        up = relative("index.html", page.address).removesuffix("index.html")
        toc = [h for h in page.headings if h[0] == 2 and h[1]]
        contents = ""
        if len(toc) > 2 and not page.wide:
            contents = '<nav class="contents" aria-label="on this page"><p>On this page</p><ul>' + "".join(
                f'<li><a href="#{name}">{escape(title, quote=False)}</a></li>' for _, name, title in toc) + "</ul></nav>"
        title = "lade" if page.address == "index.html" else f"{page.title} · lade"
        return (
            f'<!DOCTYPE html>\n<html lang="en" data-up="{up}">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n'
            f'<title>{escape(title)}</title>\n<link rel="stylesheet" href="{up}site.css">\n<script src="{up}site.js" defer></script>\n</head>\n'
            f'<body>\n<a class="skip" href="#lade-main">Skip to the text</a>\n<header class="bar"><button id="lade-menu" aria-controls="lade-side" aria-expanded="false">Menu</button>'
            f'<a class="home" href="{up}index.html">lade</a>'
            f'<div class="search"><input id="lade-search" type="search" placeholder="Search" aria-label="Search" autocomplete="off" spellcheck="false" '
            f'aria-controls="lade-found"><div id="lade-found" role="listbox" aria-label="results" hidden></div></div></header>\n'
            f'<div class="columns{" broad" if page.wide else ""}"><nav class="side" id="lade-side" aria-label="site">{self.navigation(page)}</nav>\n'
            f'<main id="lade-main">{page.body}\n{self.neighbours(page)}</main>\n{contents}</div>\n</body>\n</html>\n')

    def search_index(self) -> str:
        """A list of [title, address, what it is, words]; a section of a page is an entry."""
        rows: list[list[str]] = []
        for page in self.pages.values():
            if page.group == "Source":
                continue
            if page.address == "certificate/index.html":
                rows.append([page.title, page.address, "Certificate", ""])
                rows += [[title, f"{page.address}#{name}", "Certificate", ""] for _, name, title in page.headings]
                continue
            if page.group == "API reference" and page.address != "api/index.html":
                header = next(h for h in self.headers if h.path == page.origin)
                rows.append([header.title, page.address, "API", f"<lade/{header.title}.h> {header.contract}"])
                for entry in header.entries:
                    rows.append([', '.join(api.shown(entry)), f"{page.address}#{entry.anchor}", "API", entry.doc])
                    rows += [[name if entry.kind == "enum" else f"{entry.anchor}.{name}", f"{page.address}#{entry.anchor}.{name}", "API", member.doc]
                             for member in entry.members for name in member.names]
                continue
            body = re.sub(r"<svg.*?</svg>|<a class=\"here\".*?</a>", "", page.body, flags=re.S)
            pieces = re.split(r'<h[1-3] id="([^"]*)">(.*?)</h[1-3]>', body, flags=re.S)
            kind = {"Course": "Course", "API reference": "API"}.get(page.group, page.address.split("/")[0].capitalize() if "/" in page.address else "Start")
            if pieces[0].strip() and len(pieces) < 4:
                rows.append([page.title, page.address, kind, text_of(pieces[0])])
            for i in range(1, len(pieces) - 2, 3):
                name, head, words = pieces[i:i + 3]
                title = text_of(head)
                rows.append([title if i == 1 or title == page.title else f"{page.title}: {title}", page.address + (f"#{name}" if i > 1 else ""), kind, text_of(words)])
        for row in rows:
            row[3] = " ".join(row[3].split())[:MOST_WORDS]
        return "window.LADE_INDEX=" + json.dumps(rows, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/") + ";\n"

    def write(self) -> None:
        for page in self.pages.values():
            if not page.body:
                continue
            file = self.out / page.address
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(self.frame(page), encoding="utf-8")
        (self.out / "search.js").write_text(self.search_index(), encoding="utf-8")
