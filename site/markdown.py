# SPDX-License-Identifier: MIT
"""Markdown to HTML by cmark-gfm, and what the site adds: addresses of headings, links between its pages, pictures in the page, colours."""
from __future__ import annotations

import re
import subprocess
from html import escape, unescape
from typing import Callable

C_WORDS = ("alignas auto bool break case char const continue default do double else enum extern float for goto if inline int long register "
           "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while").split()
PYTHON_WORDS = ("and as assert break class continue def del elif else except finally for from if import in is lambda not or pass raise return "
                "try while with yield None True False").split()
STRING = r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
GRAMMAR = {
    "c": (r"/\*.*?\*/|//[^\n]*", r"^[ \t]*#[ \t]*\w+", C_WORDS),
    "python": (r"#[^\n]*", r"@\w+", PYTHON_WORDS),
    "sh": (r"(?<!\S)#[^\n]*", r"^\$", []),
}
GRAMMAR["cpp"] = GRAMMAR["h"] = GRAMMAR["lab"] = GRAMMAR["c"]
GRAMMAR["py"] = GRAMMAR["python"]


def coloured(code: str, language: str) -> str:
    """Program text as HTML, with comments, strings, keywords and memory orders marked."""
    if language not in GRAMMAR:
        return escape(code, quote=False)
    comment, macro, words = GRAMMAR[language]
    token = re.compile(rf"(?P<c>{comment})|(?P<s>{STRING})|(?P<m>{macro})|(?P<o>\bmemory_order_\w+)|(?P<k>\b(?:{'|'.join(words) or '(?!)'})\b)", re.S | re.M)
    out, at = [], 0
    for found in token.finditer(code):
        out += [escape(code[at:found.start()], quote=False), f'<i class="{found.lastgroup}">{escape(found.group(), quote=False)}</i>']
        at = found.end()
    return "".join(out) + escape(code[at:], quote=False)


def slug(heading: str) -> str:
    """The address of a heading, as the usual hosts make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def text_of(html: str) -> str:
    """The words of a piece of HTML."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", re.sub(r"</?(?:a|b|i|em|strong|code|span|sub|sup)\b[^>]*>", "", html))).split())


def render(text: str, link: Callable[[str], str], picture: Callable[[str], str], symbol: Callable[[str], str],
           headings: list[tuple[int, str, str]]) -> str:
    """A page's body. link() maps the target of a link, picture() the address of a picture to HTML, symbol() a public name to its
    address or nothing; headings receives (level, address, title)."""
    html = subprocess.run(["cmark-gfm", "-e", "table", "-e", "strikethrough", "-e", "autolink"], input=text, capture_output=True, text=True,
                          check=True).stdout
    used: dict[str, int] = {}

    def heading(found: re.Match[str]) -> str:
        level, inside = int(found.group(1)), found.group(2)
        name = slug(text_of(inside))
        number = used[name] = used.get(name, -1) + 1
        name += f"-{number}" if number else ""
        headings.append((level, name, text_of(inside)))
        mark = f'<a class="here" href="#{name}" aria-label="link to this section">#</a>' if level > 1 else ""
        return f'<h{level} id="{name}">{inside}{mark}</h{level}>'

    def code(found: re.Match[str]) -> str:
        language = found.group(1) or ""
        return f'<pre class="code"><code>{coloured(unescape(found.group(2)), language)}</code></pre>'

    def name(found: re.Match[str]) -> str:
        address = symbol(unescape(found.group(1)))
        return f'<a class="symbol" href="{address}"><code>{found.group(1)}</code></a>' if address else found.group()

    parts = re.split(r"(<pre>.*?</pre>)", html, flags=re.S)
    for i, part in enumerate(parts):
        if part.startswith("<pre>"):
            parts[i] = re.sub(r'<pre><code(?: class="language-([^"]*)")?>(.*?)</code></pre>', code, part, flags=re.S)
            continue
        part = re.sub(r"<h(\d)>(.*?)</h\1>", heading, part, flags=re.S)
        part = re.sub(r'<p><img src="([^"]*)" alt="([^"]*)"[^>]*></p>', lambda m: picture(unescape(m.group(1))), part)
        part = re.sub(r'<a href="([^"]*)"', lambda m: f'<a href="{escape(link(unescape(m.group(1))))}"', part)
        links = re.split(r"(<a .*?</a>|<h\d.*?</h\d>)", part, flags=re.S)
        links[::2] = [re.sub(r"<code>([^<]*)</code>", name, piece) for piece in links[::2]]
        parts[i] = "".join(links).replace("<table>", '<div class="wide" tabindex="0"><table>').replace("</table>", "</table></div>")
    return "".join(parts)
