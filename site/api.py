# SPDX-License-Identifier: MIT
"""The API reference as HTML: a page per header, with each contract laid out."""
from __future__ import annotations

import re
from html import escape
from typing import Callable, Sequence

from headers import STATUS, Entry, Header, Member
from markdown import coloured

Link = Callable[[str], str]  # a name, a header or a page that a comment mentions, to its address or nothing
TOPIC = re.compile(r"(\S.*?) {2,}(\S.*)$")
LAYERS = {"lib": ("liblade", "The structures. <code>pkg-config lade</code>"),
          "load": ("liblade-load", "Sources, transforms and the loader. <code>pkg-config lade-load</code>"),
          "gpu": ("liblade-gpu", "Devices, the feeder and conversion. <code>pkg-config lade-gpu</code>")}
KINDS = {"function": "Functions", "struct": "Structs", "union": "Unions", "enum": "Enumerations", "type": "Types", "macro": "Macros"}


def inline(text: str, link: Link) -> str:
    """Words of a comment, with links to what they name."""
    def named(found: re.Match[str]) -> str:
        word = found.group()
        address = link(word.removesuffix("()"))
        shown = escape(word)
        if re.match(r"lade_|LADE_|DL|Arrow", word):
            shown = f"<code>{shown}</code>"
        return f'<a class="symbol" href="{escape(address)}">{shown}</a>' if address else shown

    out, at = [], 0
    for found in re.finditer(r"`([^`]+)`|\b(?:lade|LADE)_\w+(?:\(\))?|\b(?:DL|Arrow)[A-Z]\w+|\b(?:docs/[\w-]+\.md|(?:lade/)?[a-z]+\.h)\b", text):
        out.append(escape(text[at:found.start()], quote=False))
        out.append(f"<code>{escape(found.group(1))}</code>" if found.group(1) else named(found))
        at = found.end()
    return "".join(out) + escape(text[at:], quote=False)


def _paragraphs(lines: Sequence[str], link: Link) -> str:
    """Lines to paragraphs; those that are indented keep their form."""
    out: list[str] = []
    for block in re.split(r"\n\s*\n", "\n".join(lines).strip("\n")):
        rows = block.split("\n")
        while rows and rows[0].strip():
            shaped = rows[0].startswith("  ")
            run = []
            while rows and rows[0].startswith("  ") == shaped:
                run.append(rows.pop(0))
            if shaped:
                out.append("<pre>" + escape("\n".join(row[2:] for row in run), quote=False) + "</pre>")
            else:
                out.append(f"<p>{inline(' '.join(run), link)}</p>")
    return "".join(out)


def _outdent(lines: Sequence[str]) -> list[str]:
    depth = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return [line[depth:] for line in lines]


def described(text: str, link: Link) -> str:
    """A comment: paragraphs, topics with a title at the left, statuses with their reasons."""
    out: list[str] = []
    lines = text.split("\n")
    words: list[str] = []
    rows: list[tuple[str, str, str]] = []  # class, title, HTML

    def flush() -> None:
        if words:
            out.append(_paragraphs(words, link))
            words.clear()

    def table() -> None:
        for kind in ("topics", "statuses"):
            mine = [(title, body) for of, title, body in rows if of == kind]
            if mine:
                out.append(f'<dl class="{kind}">' + "".join(f"<div><dt>{title}</dt><dd>{body}</dd></div>" for title, body in mine) + "</dl>")
        rows.clear()

    at = 0
    while at < len(lines):
        line = lines[at]
        below = at + 1
        status, topic = STATUS.match(line), TOPIC.match(line)
        if line.strip() and not line.startswith(" ") and (status or topic or (
                below < len(lines) and lines[below].startswith("  ") and not line.rstrip().endswith(":") and (at == 0 or not lines[at - 1].strip() or rows))):
            body = []
            while below < len(lines) and (lines[below].startswith("  ") or not lines[below].strip() and below + 1 < len(lines)
                                          and lines[below + 1].startswith("  ") and not status):
                body.append(lines[below])
                below += 1
            flush()
            if status and (status.group(1) != "0" or status.group(2)):
                title, first = status.group(1), status.group(2) or ""
                rows.append(("statuses", inline(title, link), inline(" ".join([first, *(b.strip() for b in body)]).strip(), link)))
            elif topic:
                inner = _outdent(body)
                nested = any(len(b) - len(b.lstrip()) < 6 and TOPIC.match(b.strip()) for b in body if b.strip())
                shown = (f"<p>{inline(topic.group(2), link)}</p>" + described("\n".join(inner), link)) if nested else \
                    _paragraphs([topic.group(2), *inner], link)
                rows.append(("topics", inline(topic.group(1), link), shown))
            else:
                rows.append(("topics", inline(line, link), _paragraphs(_outdent(body), link)))
            at = below
            continue
        if line.strip() and rows:
            table()
        words.append(line)
        at += 1
    flush()
    table()
    return "".join(out)


def first_sentence(text: str) -> str:
    """The first sentence of a comment, on one line."""
    line = " ".join(text.split("\n\n")[0].split())
    line = re.sub(r"^\w+: ", "", line)
    end = re.search(r"[.:](?= [A-Z]| LADE|$)", line)
    return line[:end.start() + 1] if end else line


def shown(entry: Entry) -> list[str]:
    """The names of an entry that a user writes."""
    return [name for name in entry.names if not name.endswith("_sized")] or entry.names


def _member(entry: Entry, member: Member, link: Link) -> str:
    ids = "".join(f'<a id="{entry.anchor}.{name}"></a>' for name in member.names)
    return f"<tr><td>{ids}<code>{coloured(member.code, 'c').replace(chr(10), '</code><br><code>')}</code></td><td>{described(member.doc, link)}</td></tr>"


def _shown(code: str) -> str:
    """A declaration on lines that a phone can show: a parameter per line where there are several."""
    if len(code) <= 60 or "(" not in code or code.startswith("#"):
        return code
    head, _, rest = code.partition("(")
    parts, depth, begin = [], 0, 0
    inside = rest[:rest.rindex(")")]
    for i, c in enumerate(inside):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(inside[begin:i + 1].strip())
            begin = i + 1
    parts.append(inside[begin:].strip())
    return head + "(\n" + "\n".join("    " + part for part in parts) + ")" + rest[rest.rindex(")") + 1:]


def _entry(entry: Entry, link: Link) -> str:
    anchors = "".join(f'<a id="{name}"></a>' for name in entry.names[1:])
    code = coloured("\n".join(_shown(one) for one in entry.code), "c")
    members = "".join(_member(entry, member, link) for member in entry.members)
    title = "constant" if entry.kind == "enum" else "field"
    if members:
        members = f'<div class="wide" tabindex="0"><table class="members"><thead><tr><th>{title}</th><th></th></tr></thead><tbody>{members}</tbody></table></div>'
    names = ", ".join(f"<code>{name}</code>" for name in shown(entry))
    return (f'<section class="entry" id="{entry.anchor}">{anchors}<h3>{names}<a class="here" href="#{entry.anchor}" aria-label="link to this name">#</a>'
            f'<span class="kind">{entry.kind}</span></h3><pre class="code"><code>{code}</code></pre>{described(entry.doc, link)}{members}</section>')


def page(header: Header, link: Link, source: str, guide: str) -> str:
    """The page of a header: what it declares at a glance, the contract, then each name."""
    glance = []
    for kind, title in KINDS.items():
        mine = [entry for entry in header.entries if entry.kind == kind]
        if mine:
            cells = "".join(f'<li><a href="#{entry.anchor}"><code>{"<br>".join(shown(entry))}</code></a> '
                            f"<span>{inline(first_sentence(entry.doc), lambda word: '')}</span></li>" for entry in mine)
            glance.append(f'<h3>{title}</h3><ul class="glance">{cells}</ul>')
    more = f'<p class="where"><code>#include &lt;lade/{header.title}.h&gt;</code> <a href="{source}">the header</a>' + (
        f' <a href="{guide}">the guide</a>' if guide else "") + "</p>"
    contract = re.sub(r"^\w+: ", "", header.contract)
    return (f"<h1>{header.title}</h1>{more}<div class=\"contract\">{described(contract[:1].upper() + contract[1:], link)}</div>"
            + (f'<h2 id="names">Names</h2>{"".join(glance)}<h2 id="reference">Reference</h2>' if glance else "")
            + "".join(_entry(entry, link) for entry in header.entries))


def index(headers: Sequence[Header]) -> str:
    """The list of all headers and the names in them."""
    out = ["<h1>API reference</h1><p>Made from the public headers, which are the contracts: the threads that may call what, which statuses are returned, "
           "what is ordered. Statuses are negative where an operation failed.</p>"]
    for layer, (library, words) in LAYERS.items():
        mine = [header for header in headers if header.path.startswith(layer + "/") and header.entries]
        cards = "".join(f'<li><a href="{header.title}.html">{header.title}</a> <span>{escape(first_sentence(header.contract), quote=False)}</span></li>'
                        for header in mine)
        out.append(f'<h2 id="{layer}">{library}</h2><p>{words}</p><ul class="glance">{cards}</ul>')
    names = sorted({(name, header.title, entry.anchor) for header in headers for entry in header.entries for name in entry.names
                    if not name.endswith("_sized")})
    out.append('<h2 id="all">All names</h2><ul class="names">' + "".join(
        f'<li><a href="{page}.html#{anchor}"><code>{name}</code></a></li>' for name, page, anchor in names) + "</ul>")
    return "".join(out)
