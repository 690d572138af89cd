# SPDX-License-Identifier: MIT
"""The certificate as an HTML page: each site with its source lines, and a picture of each counterexample."""
from __future__ import annotations

import difflib
import re
from html import escape
from pathlib import Path
from typing import Optional, Sequence

from draw.svg import page_colours

from .certificate import ENGINES, FAILURE, PROTOCOL, SITES, Certificate, Key, Row, key_of, said
from .certify import KEPT, KILLED, Verdict, Work, evidence
from .mutants import Mutant
from .page import SUMMARY, in_module, modules_of, summary
from .sites import Site

STYLE = page_colours() + """
*{box-sizing:border-box}
body{font:15px/1.5 system-ui,sans-serif;margin:1.5rem auto;max-width:76rem;padding:0 1rem;overflow-wrap:anywhere}
h2{margin:2.5rem 0 .5rem;border-bottom:2px solid var(--ink)}
h3{margin:1.5rem 0 .3rem}h4{margin:0;font-size:15px}
.wide{overflow-x:auto;overflow-wrap:normal}
table{border-collapse:collapse}
th,td{text-align:left;padding:.3rem .7rem;border-bottom:1px solid var(--grid);white-space:nowrap}
td+td{font-variant-numeric:tabular-nums}
tr:last-child td{font-weight:bold;border-bottom:0}
code,pre{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:13px}
.index{display:flex;flex-wrap:wrap;gap:.3rem .5rem;list-style:none;padding:0;margin:.3rem 0}
.index a{background:var(--box);border-radius:4px;padding:.05rem .4rem;text-decoration:none;font-size:13px}
article{margin:1rem 0;padding:.7rem .9rem;border:1px solid var(--line);border-radius:6px}
article:target{border-color:var(--link)}
p{margin:.3rem 0}.where{color:var(--soft);font-size:13px}
pre{overflow-x:auto;overflow-wrap:normal;background:var(--box);padding:.6rem;border-radius:4px;margin:.5rem 0;line-height:1.35}
mark{background:var(--mark);color:inherit}.gone{color:var(--wrong)}.come{color:var(--good)}.number{color:var(--soft);user-select:none}
details{border-top:1px solid var(--grid);padding:.35rem 0}summary{cursor:pointer}
.KILLED{color:var(--good)}.KEPT,.SKIP{color:var(--open)}.picture{overflow-x:auto}.picture img{max-width:none}
"""
HEAD = """<p>Every memory order stronger than relaxed is weakened by one step, and the harnesses of its module run under two
model checkers until one finds a counterexample: the order is needed (KILLED). Protocol mutants are changes of the algorithm
that the harnesses must notice. Open a line to see the execution that goes wrong: threads are columns, time runs down, arrows
lead from a store to the load that reads it, blue where the two synchronise; the weakened access is yellow, the error red.</p>
"""


def _source(site: Site, root: Path) -> str:
    """The lines of the access, with a few around them."""
    lines = (root / site.file).read_text(encoding="utf-8").splitlines()
    first, last = max(1, site.line - 3), min(len(lines), site.last_line + 2)
    out = []
    for number in range(first, last + 1):
        text = escape(lines[number - 1])
        text = f"<mark>{text}</mark>" if site.line <= number <= site.last_line else text
        out.append(f'<span class="number">{number:>5}</span> {text}')
    return "<pre>" + "\n".join(out) + "</pre>"


def _change(mutant: Mutant, root: Path) -> str:
    """What a protocol mutant changes, as a diff."""
    before = (root / mutant.file).read_text(encoding="utf-8").splitlines()
    out = []
    for line in list(difflib.unified_diff(before, mutant.text.splitlines(), n=2, lineterm=""))[2:]:
        kind = {"-": "gone", "+": "come"}.get(line[:1], "")
        if not line.startswith("@@"):
            out.append(f'<span class="{kind}">{escape(line)}</span>' if kind else escape(line))
    return "<pre>" + "\n".join(out) + "</pre>"


class Gallery:
    """Writes the page and its pictures into a folder."""

    def __init__(self, root: Path, rows: Certificate, work: Work, verdicts: Sequence[Verdict], folder: Path) -> None:
        self.root, self.rows, self.folder = root, rows, folder
        self.mutants: dict[Key, tuple[Mutant, Optional[Site]]] = {key_of(m): (m, s) for m, s in work}
        self.verdicts = {(key_of(v.mutant), v.engine): v for v in verdicts if v.verdict == KILLED and v.outcome}
        self.drawn = 0

    def _picture(self, row: Row) -> str:
        """The counterexample of the first engine that has a picture."""
        for engine in row.engines:
            verdict = self.verdicts.get((row.key, engine))
            if not verdict or not verdict.outcome:
                continue
            text, svg = evidence(verdict)
            if not svg:
                continue
            name = f"pictures/{verdict.mutant.slug()}.{engine}"
            (self.folder / f"{name}.svg").write_text(svg, encoding="utf-8")
            (self.folder / f"{name}.txt").write_text(text, encoding="utf-8")
            self.drawn += 1
            size = re.match(r"<svg[^>]*?\bwidth=['\"](\d+)['\"] height=['\"](\d+)['\"]", svg)
            measure = f' width="{size.group(1)}" height="{size.group(2)}"' if size else ""
            message = escape(verdict.outcome.errors[0].message)
            return (f"<p>{message}</p>"
                    f'<div class="picture"><a href="{name}.svg"><img loading="lazy"{measure} src="{name}.svg" alt="{message}"></a></div>'
                    f'<p><a href="{name}.txt">the execution as text</a></p>')
        return ""

    def _verdicts(self, row: Row) -> str:
        parts = []
        for engine in row.engines:
            keep = f": {row.facts.get('keep', '')}" if row.verdict(engine) == KEPT else ""
            parts.append(f'{ENGINES[engine]}: <span class="{row.verdict(engine).split()[0]}">{escape(said(row, engine) + keep)}</span>')
        return "; ".join(parts)

    def _result(self, row: Row, what: str) -> str:
        picture = self._picture(row)
        line = f"{what}{self._verdicts(row)}"
        return f"<details><summary>{line}</summary>{picture}</details>" if picture else f"<p>{line}</p>"

    def _where(self, row: Row) -> str:
        mutant, _ = self.mutants[row.key]
        function = f", {escape(mutant.function)}()" if mutant.function else ""
        return f"{escape(mutant.file)}:{mutant.line}{function}"

    def _site(self, rows: Sequence[Row]) -> str:
        row = rows[0]
        _, site = self.mutants[row.key]
        tags = {known.name for known in self.rows.values()}
        partners = ", ".join(f'<a href="#{escape(p)}">{escape(p)}</a>' if p in tags else escape(p) for p in row.facts["partners"])
        out = [f'<article id="{escape(row.name)}"><h4><code>{escape(row.name)}</code> {escape(row.facts["order"])}</h4>',
               f'<p class="where">{self._where(row)}; partner {partners}</p>', _source(site, self.root) if site else ""]
        for one in rows:
            what = "weakened to" if one.table == SITES else "failure order alone to"
            out.append(self._result(one, f"{what} <b>{escape(one.label)}</b>: "))
        return "".join(out) + "</article>"

    def _mutant(self, row: Row) -> str:
        mutant, _ = self.mutants[row.key]
        return (f'<article id="{escape(row.title())}"><h4>{escape(row.name)}</h4><p>{escape(row.facts["why"])}</p>'
                f'<p class="where">{self._where(row)}</p>{_change(mutant, self.root)}{self._result(row, "")}</article>')

    def _module(self, module: str) -> str:
        sites: dict[str, list[Row]] = {}
        for table in (SITES, FAILURE):
            for row in in_module(self.rows, module, table):
                sites.setdefault(row.name, []).append(row)
        mutants = in_module(self.rows, module, PROTOCOL)
        out = [f'<section><h2 id="{escape(module)}">{escape(module)}</h2>']
        for title, names, bodies in (("Orders", [(tag, tag) for tag in sites], [self._site(rows) for rows in sites.values()]),
                                     ("Protocol mutants", [(row.title(), row.name) for row in mutants],
                                      [self._mutant(row) for row in mutants])):
            if bodies:
                index = "".join(f'<li><a href="#{escape(anchor)}">{escape(text)}</a></li>' for anchor, text in names)
                out += [f'<h3>{title}</h3><ul class="index">{index}</ul>', *bodies]
        return "".join(out) + "</section>\n"

    def write(self) -> Path:
        (self.folder / "pictures").mkdir(parents=True, exist_ok=True)
        modules = modules_of(self.rows)
        body = [[f'<a href="#{escape(module)}">{escape(module)}</a>', *summary(self.rows, module)[1:]] for module in modules]
        table = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in [*body, summary(self.rows)])
        page = ('<!doctype html><html lang="en"><head><meta charset="utf-8"><title>The order certificate</title>'
                '<meta name="viewport" content="width=device-width,initial-scale=1">'
                f"<style>{STYLE}</style></head><body><h1>The order certificate</h1>{HEAD}"
                '<div class="wide"><table><thead><tr>' + "".join(f"<th>{title}</th>" for title in SUMMARY)
                + f"</tr></thead><tbody>{table}</tbody></table></div>\n" + "".join(self._module(module) for module in modules)
                + "</body></html>\n")
        path = self.folder / "index.html"
        path.write_text(page, encoding="utf-8")
        return path
