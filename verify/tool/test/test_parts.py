# SPDX-License-Identifier: MIT
"""Tests of single functions."""
from __future__ import annotations

import json
import tempfile
import unittest
import xml.dom.minidom
from pathlib import Path

from draw.execution import draw

from ..certificate import dump, judged, key_of, load
from ..certify import KILLED, SKIPPED, Verdict
from ..graph import parse_genmc
from ..mutants import Mutant
from ..result import PASS, Outcome
from ..sites import Order, Site, Source
from ..weakening import lines_of, took_effect


class Parts(unittest.TestCase):
    TEXT = """Error: Safety violation!
Event (2, 1) in graph:
<-1, 0> main:
\t(0, 1): Wrlx (x, 0) L.4
\t(0, 2): THREAD_CREATE [thread 1] pthread.h:143
\t(0, 3): THREAD_CREATE [thread 2] pthread.h:143
<0, 1> a:
\t(1, 1): Wrlx (x, 1) box.c:5
<0, 2> b:
\t(2, 1): Rrlx (x, 0) [(0, 1)] L.6
Coherence:
x: [ (0, 1): Wrlx (G#(0, 104), 0) (1, 1): Wrlx (G#(0, 104), 1) ]
"""

    def test_graph(self) -> None:
        graph = parse_genmc(self.TEXT, "main.c")
        assert graph
        self.assertEqual(graph.culprits, [(2, 1)])
        self.assertEqual(graph.mo, [[(0, 1), (1, 1)]])
        read = graph.event((2, 1))
        assert read
        self.assertEqual((read.rf, read.file, read.line, read.label), ((0, 1), "main.c", 6, "Rrlx (x, 0)"))
        order = {event.id: i for i, event in enumerate(graph.rows())}
        self.assertEqual(graph.stale(read, order), 1)
        xml.dom.minidom.parseString(draw(graph, "a < b & c"))
        self.assertEqual(type(graph).from_json(json.loads(json.dumps(graph.to_json()))), graph)

    CODE = """#ifdef __cplusplus
extern "C" {
#endif
#define MACRO(x) do { \\
        at_macro; } while (0)
struct pair { int at_struct; };
static int table[] = {1, at_table};
__attribute__((noinline)) static int plain(int (*f)(void))
{
    if (f()) { at_plain; }
    const char *s = "}"; // }
    return at_end;
}
int branches(void)
{
#ifdef A
    if (a) {
#else
    if (b) {
#endif
        at_branch;
    }
    return at_both;
}
at_outside;
int last(void) { for (;;) { at_last; } }
#ifdef __cplusplus
}
#endif
"""

    def test_functions(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "x.c").write_text(self.CODE)
            source = Source(Path(folder) / "x.c", Path(folder))
        for mark, name in (("macro", "MACRO"), ("struct", ""), ("table", ""), ("plain", "plain"), ("end", "plain"),
                           ("branch", "branches"), ("both", "branches"), ("outside", ""), ("last", "last")):
            self.assertEqual(source.function(self.CODE.index(f"at_{mark}")), name, mark)

    def test_what_did_not_run_is_kept(self) -> None:
        """GenMC alone: explore's results stay, those of failure orders and of mutants that are explore's own among them."""
        site = Site("box.cas", "lib/box.c", 7, "cas", [Order("acquire", 0, 0), Order("acquire", 0, 0)], (0, 0), function="f")
        step = Mutant("box", site.name, site.file, 7, "relaxed/relaxed", "", orders=("relaxed", "relaxed"), function="f")
        alone = Mutant("box", site.name, site.file, 7, "acquire/relaxed", "", orders=("", "relaxed"), informative=True,
                       function="f")
        wrong = Mutant("box", "wrong", site.file, 9, "", "", why="because", only="explore")
        work = [(step, site), (alone, site), (wrong, None)]

        def verdicts(engine: str, word: str) -> list[Verdict]:
            return [Verdict(m, s, engine, "rc11", word, "box/mp", "race") for m, s in work if m.fits(engine)]

        first = judged(work, verdicts("explore", KILLED), {}, ["explore"])
        self.assertEqual([row.verdict("genmc") for row in first.values()], [SKIPPED] * 3)
        self.assertEqual(load(dump(first)), first)
        both = judged(work, verdicts("genmc", KILLED), load(dump(first)), ["genmc"])
        self.assertEqual([row.verdict("explore") for row in both.values()], [KILLED] * 3)
        self.assertEqual([row.verdict("genmc") for row in both.values()], [KILLED, SKIPPED, SKIPPED])
        site.orders = [Order("seq_cst", 0, 0), Order("seq_cst", 0, 0)]  # another order: what was known of it is not
        self.assertEqual(judged(work, [], both, [])[key_of(step)].verdict("explore"), SKIPPED)

    SITE = Site("box.put", "lib/box.c", 7, "store", [Order("release", 0, 0)], (0, 0), last_line=8)

    def call(self, line: int, order: str = "release", op: str = "store", file: str = "/x/verify/box/../../lib/box.c",
             weakened: bool = False) -> dict:
        return {"file": file, "line": line, "op": op, "order": order, "weakened": weakened}

    def test_lines_of_a_site(self) -> None:
        for calls, lines, alone in (([self.call(7)], {7}, True), ([self.call(8)], {8}, True), ([self.call(9)], set(), True),
                                    ([self.call(7, file="/x/mailbox.c")], set(), True), ([self.call(7, "relaxed")], set(), True),
                                    ([self.call(7, op="exchange")], set(), True),
                                    ([self.call(7), self.call(7, "relaxed")], {7}, False),
                                    ([self.call(7), self.call(8, "relaxed")], {7}, True)):
            self.assertEqual(lines_of(self.SITE, calls), (lines, alone), calls)

    def test_weakening_must_take_effect(self) -> None:
        mutant = Mutant("box", "box.put", "lib/box.c", 7, "relaxed", "", orders=("relaxed", ""))
        for calls, effect in (([self.call(7, "relaxed", weakened=True)], True), ([self.call(7, "release", weakened=True)], False),
                              ([self.call(7, "relaxed")], False), ([], False),
                              ([self.call(7, "relaxed", file="/x/other.c", weakened=True)], False)):
            self.assertEqual(took_effect(mutant, Outcome(PASS, sites=calls)), effect, calls)
