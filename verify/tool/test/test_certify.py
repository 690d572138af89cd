# SPDX-License-Identifier: MIT
"""Tests of verify/certify: tags, mutants, verdicts and the page."""
from __future__ import annotations

import json
import shutil
from pathlib import Path

from ..certificate import dump, load
from ..mutants import weaken
from ..process import find_tool
from ..sites import scan_library
from .case import BOX, BOX_HARNESS, MUTANT, Case

BY_MP = "KILLED by [box/mp](../verify/box/mp.c): "
MP_RACE = {"verdict": "KILLED", "harness": "box/mp", "error": "race"}
TAKE = BOX[BOX.index("static int box_take"):]


class Library(Case):
    """A tree with a library of one module."""

    ENGINES = ("explore", "genmc") if find_tool("genmc") else ("explore",)

    def setUp(self) -> None:
        super().setUp()
        if "genmc" in self.ENGINES:
            self.need("genmc")
        for folder in ("lib/include/lade", "verify/box/mutants", "docs"):
            (self.folder / folder).mkdir(parents=True)
        self.box = self.folder / "lib" / "box.c"
        self.box.write_text(BOX)
        (self.folder / "verify" / "box" / "mp.c").write_text(BOX_HARNESS)

    def certify(self, *words: str) -> tuple[int, str]:
        return self.call("certify", "--root", str(self.folder), *words)

    def counts(self, passed: int = 0, failed: int = 0, more: int = 0) -> str:
        """The closing line: `passed` and `failed` for each engine that is there, `more` failed ones for all together."""
        here = len(self.ENGINES)
        return f"{passed * here} passed, {failed * here + more} failed, {(passed + failed) * (2 - here)} skipped"

    @property
    def data(self) -> Path:
        return self.folder / "verify" / "certificate.json"

    def page(self) -> str:
        return (self.folder / "docs" / "certificate.md").read_text()

    def result(self, tag: str, label: str, engine: str, table: str = "weakened") -> dict:
        """What the data hold about one weakening."""
        return json.loads(self.data.read_text())["sites"][tag][table][label][engine]

    def edit(self, tag: str, label: str, engine: str, result: dict, table: str = "weakened") -> None:
        """Change one result by hand, and the page with it."""
        rows = load(self.data.read_text())
        rows[table, tag.split(".")[0], tag, label].results[engine] = result
        self.data.write_text(dump(rows))
        self.assertEqual(self.certify("--render")[0], 0)

    def change(self, old: str, new: str) -> None:
        text = self.box.read_text()
        self.assertEqual(text.count(old), 1)
        self.box.write_text(text.replace(old, new))


class Certify(Library):
    def test_all_killed(self) -> None:
        code, output = self.certify("--json", "c.json")
        self.assertEqual((code, output.splitlines()[-1]), (0, self.counts(passed=2)), output)
        rows = json.loads((self.folder / "c.json").read_text())["rows"]
        for engine in self.ENGINES:
            seen = [(r["site"], r["verdict"], r["kind"], r["line"]) for r in rows if r["engine"] == engine]
            self.assertEqual(seen, [("box.put", "KILLED", "race", 7), ("box.take", "KILLED", "race", 12)])
        kept = sorted(path.name for path in (self.folder / "build" / "certificate").iterdir())
        self.assertEqual(kept, [f"{site}-relaxed.{engine}.{end}" for site in ("box.put", "box.take")
                                for engine in self.ENGINES for end in ("svg", "txt")])
        before = self.page(), self.data.read_text()
        self.assertEqual(before[0].count(BY_MP + "race"), 2 * len(self.ENGINES))
        self.assertEqual(self.result("box.put", "relaxed", "explore"), MP_RACE)
        self.assertEqual(self.certify("--check")[0], 0)
        self.certify("--no-cache")
        self.assertEqual((self.page(), self.data.read_text()), before)

    def test_nothing_to_certify(self) -> None:
        code, output = self.call("certify", "--check", "--root", str(self.folder / "nowhere"))
        self.assertEqual((code, "nothing to certify" in output), (2, True), output)

    def test_change_by_hand_is_named(self) -> None:
        self.certify()
        for old, new, site in (("memory_order_release", "memory_order_relaxed", "box.put"),
                               ("memory_order_release", "memory_order_seq_cst", "box.put"),
                               ("memory_order_acquire", "memory_order_relaxed", "box.take")):
            self.change(old, new)
            code, output = self.certify("--check")
            self.assertEqual(code, 1, output)
            self.assertIn(f"stale: `{site}`", output)
            self.change(new, old)
        for old, new, said in (("box_take", "box_draw", '`box.take`: function is "box_draw", the certificate has "box_take"'),
                               ("[box.take] -> [box.put]", "[box.take] -> [box.take]", '`box.take`: partners is ["box.take"]'),
                               ("[box.take] -> [box.put]", "[box.take] -> [box.put] keep: so", '`box.take`: keep is "so"')):
            self.change(old, new)
            for words in (("--check",), ("--render", "--check")):
                code, output = self.certify(*words)
                self.assertEqual(code, 1, output)
                self.assertIn("stale: " + said, output)
            self.change(new, old)

    def test_moved_code_changes_nothing(self) -> None:
        (self.folder / "verify" / "box" / "mutants" / "wrong-word.txt").write_text(MUTANT.format(by=1))
        self.assertEqual(self.certify()[0], 0)
        before = self.page(), self.data.read_text()
        for moved in ("\n\n" + BOX, BOX.replace(TAKE, "").replace("static void box_put", TAKE + "static void box_put")):
            self.assertNotEqual(moved, self.box.read_text())
            self.box.write_text(moved)
            for words in (("--render", "--check"), ("--check",), ("--render",), ()):
                code, output = self.certify(*words)
                self.assertEqual((code, (self.page(), self.data.read_text())), (0, before), output)
        self.assertLess(moved.index("[box.take]"), moved.index("[box.put] ->"))

    def test_changed_data_are_named(self) -> None:
        self.certify()
        text = self.data.read_text()
        self.edit("box.put", "relaxed", "explore", {"verdict": "KEPT"})
        self.change_data('"order": "acquire"', '"order": "seq_cst"')
        self.change_data('"partners": ["box.take"]', '"partners": []')
        for words in (("--check",), ("--render", "--check")):
            code, output = self.certify(*words)
            self.assertEqual(code, 1, output)
            self.assertIn("stale: `box.take`: order in lib/box.c, box_take() is acquire, the certificate has seq_cst", output)
            self.assertIn('stale: `box.put`: partners is ["box.take"], the certificate has empty', output)
            self.assertIn("stale: docs/certificate.md", output)
            self.assertEqual("explore is KILLED by box/mp: race, the certificate has KEPT" in output, words == ("--check",))
        self.data.write_text(text)
        rows = load(text)
        del rows["weakened", "box", "box.put", "relaxed"]
        self.data.write_text(dump(rows))
        for words in (("--check",), ("--render", "--check"), ("--render",)):
            code, output = self.certify(*words)
            self.assertEqual(code, 1, output)
            self.assertIn("stale: `box.put` to relaxed: in the sources, not in the certificate", output)
        self.data.write_text(text.replace("box.put", "box.gone"))
        code, output = self.certify("--check")
        self.assertEqual(code, 1, output)
        self.assertIn("stale: `box.gone` to relaxed: in the certificate, not in the sources", output)
        self.data.write_text(text.replace("format", "shape"))
        code, output = self.certify("--check")
        self.assertEqual((code, "certificate.json: it cannot be read" in output), (2, True), output)

    def change_data(self, old: str, new: str) -> None:
        text = self.data.read_text()
        self.assertEqual(text.count(old), 1)
        self.data.write_text(text.replace(old, new))

    def test_page_and_form_of_the_data(self) -> None:
        self.certify()
        page, text = self.folder / "docs" / "certificate.md", self.data.read_text()
        shown = page.read_text()
        for path, said in ((page, "docs/certificate.md: the page"), (self.data, "verify/certificate.json: the text")):
            path.write_text(path.read_text() + "\n")
            for words in (("--check",), ("--render", "--check")):
                code, output = self.certify(*words)
                self.assertEqual(code, 1, output)
                self.assertIn("stale: " + said, output)
            self.assertEqual(self.certify("--render")[0], 0)
            self.assertEqual((page.read_text(), self.data.read_text()), (shown, text))

    def test_pictures(self) -> None:
        self.certify("--html", "now")
        shutil.rmtree(self.folder / "build")
        code, output = self.certify("--render", "--html", "later")
        self.assertEqual(code, 0, output)
        for folder in ("now", "later"):
            html = (self.folder / folder / "index.html").read_text()
            for tag, line in (("box.put", 7), ("box.take", 12)):
                name = f"pictures/{tag}-relaxed.explore.svg"
                self.assertIn("<svg", (self.folder / folder / name).read_text())
                self.assertIn(f'src="{name}"', html)
                self.assertIn(f"lib/box.c:{line}, {tag.replace('.', '_')}()", html)
        (self.folder / "verify" / "box" / "mp.c").write_text(BOX_HARNESS.replace("executions: 2", "executions: 1").replace(
            "box_take()", "7"))
        code, output = self.certify("--render", "--html", "later")
        self.assertEqual(code, 1, output)
        self.assertIn("box.put release -> relaxed: box/mp finds no counterexample, other than in the certificate", output)

    def test_other_folders(self) -> None:
        (self.folder / "src" / "deep").mkdir(parents=True)
        self.box.rename(self.folder / "src" / "deep" / "box.c")
        harness = self.folder / "verify" / "box" / "mp.c"
        harness.write_text(BOX_HARNESS.replace("../../lib/box.c", "deep/box.c"))
        (self.folder / "verify" / "box" / "mutants" / "wrong-word.txt").write_text(MUTANT.format(by=1).replace("lib/", "src/deep/"))
        self.assertEqual(self.certify()[0], 2)
        code, output = self.certify("--sources", "src/")
        self.assertEqual((code, output.splitlines()[-1]), (0, self.counts(passed=3)), output)
        self.assertIn("[src/deep/box.c](../src/deep/box.c) `box_take`", self.page())
        self.assertEqual(self.certify("--sources", "src", "--check")[0], 0)

    def test_tags_are_complete(self) -> None:
        for old, new, said in (("/* [box.put] -> [box.take] */", "", "has no tag"),
                               ("-> [box.take]", "-> [box.gone]", "[box.gone], which does not exist"),
                               ("[box.take] -> [box.put]", "[box.put] -> [box.put]", "is also the name of"),
                               ("[box.take] -> [box.put]", "[box.take] <-> [box.put]", "not of the form"),
                               ("atomic_load_explicit(&full, memory_order_acquire)", "atomic_load(&full)", "is seq_cst by default"),
                               ("memory_order_acquire", "ORDER", "is not written out"),
                               ("return word;", "return __sync_fetch_and_add(&word, 1);", "use <stdatomic.h>")):
            before = self.box.read_text()
            self.change(old, new)
            code, output = self.certify()
            self.assertEqual(code, 1, output)
            self.assertIn(said, output)
            self.box.write_text(before)

    def test_survivor(self) -> None:
        self.change("return -1;", "return atomic_load_explicit(&full, memory_order_acquire) - 2; /* [box.look] -> [box.put] */")
        harness_file = self.folder / "verify" / "box" / "mp.c"
        harness_file.write_text(BOX_HARNESS.replace("w == -1", "w < 0"))
        code, output = self.certify()
        self.assertEqual((code, output.splitlines()[-1]), (1, self.counts(passed=2, failed=1)), output)
        self.assertIn("SURVIVED", output)
        self.assertFalse(self.data.exists())
        self.change("[box.look] -> [box.put]", "[box.look] -> [box.put] keep: made up | reason")
        code, output = self.certify()
        self.assertEqual(code, 0, output)
        self.assertIn("KEPT: made up \\| reason", self.page())
        self.assertEqual(self.certify("--check")[0], 0)

    def test_needless_reason(self) -> None:
        self.change("[box.take] -> [box.put]", "[box.take] -> [box.put] keep: made up")
        code, output = self.certify()
        self.assertEqual(code, 1, output)
        self.assertIn("[box.take] gives a reason", output)

    def test_harness_that_fails_anyway_kills_nothing(self) -> None:
        (self.folder / "verify" / "box" / "mp.c").write_text(BOX_HARNESS.replace("w == 7", "w == 8"))
        code, output = self.certify()
        self.assertEqual(code, 1, output)
        self.assertNotIn("KILLED", output)

    def test_protocol_mutants(self) -> None:
        place = self.folder / "verify" / "box" / "mutants" / "wrong-word.txt"
        for by, expected in ((1, 0), (0, 1)):
            place.write_text(MUTANT.format(by=by))
            code, output = self.certify()
            self.assertEqual(code, expected, output)
        place.write_text(MUTANT.format(by=1).replace("word = w;", "word = v;"))
        code, output = self.certify()
        self.assertEqual(code, 1, output)
        self.assertIn("occurs 0 times", output)

    def test_protocol_mutant_of_one_engine(self) -> None:
        place = self.folder / "verify" / "box" / "mutants" / "wrong-word.txt"
        text = MUTANT.format(by=1).replace("replace:", "engine: explore\nbecause: GenMC cannot\nreplace:")
        place.write_text(text)
        code, output = self.certify("--json", "c.json")
        self.assertEqual(code, 0, output)
        rows = json.loads((self.folder / "c.json").read_text())["rows"]
        self.assertEqual([(r["engine"], r["verdict"]) for r in rows if r["protocol"]], [("explore", "KILLED")])
        self.assertRegex(self.page(), r"wrong-word .* KILLED by \[box/mp\]\S+: \w+ \| SKIP: GenMC cannot \|")
        self.assertEqual(self.certify("--check")[0], 0)
        page = self.page()
        if find_tool("genmc"):  # alone it leaves the row as it is
            self.assertEqual(self.certify("--engine", "genmc")[0], 0)
            self.assertEqual(self.page(), page)
        place.write_text(text.replace("because: GenMC cannot\n", ""))
        code, output = self.certify()
        self.assertEqual(code, 1, output)
        self.assertIn("need each other", output)
        place.write_text(text.replace("engine: explore", "engine: explorer"))
        code, output = self.certify()
        self.assertEqual(code, 1, output)
        self.assertIn("no engine `explorer`", output)

    def test_inexact_pair(self) -> None:
        self.change("atomic_load_explicit(&full, memory_order_acquire)",
                    "atomic_compare_exchange_strong_explicit(&full, &word, 2, memory_order_acquire, memory_order_relaxed)")
        code, output = self.certify()
        self.assertEqual(code, 1, output)
        self.assertIn("write acquire/acquire", output)

    def test_steps(self) -> None:
        cases = (("atomic_thread_fence(memory_order_seq_cst)", ["acq_rel", "removed"]),
                 ("atomic_thread_fence(memory_order_acq_rel)", ["acquire", "release", "removed"]),
                 ("atomic_thread_fence(memory_order_release)", ["removed"]),
                 ("atomic_fetch_add_explicit(&full, 1, memory_order_acq_rel)", ["acquire", "release"]),
                 ("atomic_store_explicit(&full, 1, memory_order_seq_cst)", ["release"]),
                 ("atomic_load_explicit(&full, memory_order_seq_cst)", ["acquire"]),
                 ("atomic_exchange_explicit(&full, 1, memory_order_seq_cst)", ["acq_rel"]),
                 ("atomic_compare_exchange_weak_explicit(&full, &e, f(1, 2), memory_order_acq_rel, memory_order_acquire)",
                  ["acquire/acquire", "release/relaxed"]),
                 ("atomic_compare_exchange_weak_explicit(&full, &e, 1, memory_order_release, memory_order_relaxed)",
                  ["relaxed/relaxed"]))
        for call, labels in cases:
            self.box.write_text(f"void f(void) {{ {call}; /* [box.a] -> [box.a] */ }}\n")
            scan = scan_library(self.folder)
            self.assertEqual(scan.problems, [])
            mutants = weaken(scan.sites[0], self.folder, True)
            self.assertEqual([m.label for m in mutants], labels)
            for mutant in mutants:
                self.assertNotEqual(mutant.text, self.box.read_text())
            self.assertEqual([m.label for m in weaken(scan.sites[0], self.folder, False)], labels)
        self.box.write_text("void f(void) { atomic_compare_exchange_weak_explicit(&full, &e, 1, memory_order_seq_cst, "
                            "memory_order_acquire); /* [box.a] -> [box.a] */ }\n")
        steps = weaken(scan_library(self.folder).sites[0], self.folder, False)
        self.assertEqual([m.label for m in steps], ["acq_rel/acquire", "seq_cst/relaxed"])
