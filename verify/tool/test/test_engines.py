# SPDX-License-Identifier: MIT
"""Tests of verify/certify with two engines: one is missing, they do not agree, a weakening hits nothing."""
from __future__ import annotations

import os
import unittest

from ..certificate import ENGINES
from ..process import find_tool
from .case import BOX_HARNESS
from .test_certify import BY_MP, MP_RACE, Library

BOTH = unittest.skipUnless(find_tool("genmc"), "genmc not found")
LOAD = "if (atomic_load_explicit(&full, memory_order_acquire)) { /* [box.take] -> [box.put] */"
CAS = """int seen = {expected};
    if ({test}atomic_compare_exchange_strong_explicit(&full, &seen, 2, memory_order_acquire,
                                                memory_order_acquire){more}) {{ /* [box.take] -> [box.put] */"""


class Engines(Library):
    def test_missing_engine(self) -> None:
        self.without("genmc")
        code, output = self.certify("--engine", "genmc")
        self.assertEqual((code, output.splitlines()[-1]), (0, "0 passed, 0 failed, 2 skipped"), output)
        self.assertIn("SKIPPED 2 weakenings under genmc: genmc not found", output)
        self.assertIn("MPI-SWS/genmc", output)
        self.assertFalse(self.data.exists())
        code, output = self.certify()
        self.assertEqual((code, output.splitlines()[-1]), (0, "2 passed, 0 failed, 2 skipped"), output)
        self.assertIn("MPI-SWS/genmc", output)
        self.assertEqual(self.page().count(f"| {BY_MP}race | SKIP |"), 2)
        code, output = self.certify("--check")
        self.assertEqual((code, output.splitlines()[-1]), (0, "2 passed, 0 failed, 2 skipped"), output)

    def test_missing_engine_is_neither_stale_nor_rewritten(self) -> None:
        self.certify("--engine", "explore")
        self.assertEqual(self.result("box.put", "relaxed", "genmc"), {"verdict": "SKIP"})
        for result in ({"verdict": "KILLED", "harness": "box/other", "error": "leak"}, MP_RACE):
            self.edit("box.put", "relaxed", "genmc", result)
            text = self.data.read_text(), self.page()
            for words in (("--check", "--engine", "explore"), ("--engine", "explore")):
                code, output = self.certify(*words)
                self.assertEqual((code, (self.data.read_text(), self.page())), (0, text), output)
        self.edit("box.put", "relaxed", "explore", {"verdict": "KEPT"})
        code, output = self.certify("--check", "--engine", "explore")
        self.assertEqual(code, 1, output)
        self.assertIn("stale: `box.put` to relaxed: explore is KILLED by box/mp: race, the certificate has KEPT", output)

    @BOTH
    def test_check_compares_both(self) -> None:
        for engine, title in ENGINES.items():
            self.certify()
            self.edit("box.put", "relaxed", engine, {**MP_RACE, "error": "leak"})
            code, output = self.certify("--check")
            self.assertEqual(code, 1, output)
            self.assertIn(f"stale: `box.put` to relaxed: {title} is KILLED by box/mp: race", output)

    @BOTH
    def test_engines_disagree(self) -> None:
        folder = self.folder / "verify" / "box"
        (folder / "mp.c").write_text(BOX_HARNESS.replace("genmc explore", "explore"))
        blind = BOX_HARNESS.replace("genmc explore", "genmc").replace("int w = box_take();", "int w = 7;")
        (folder / "blind.c").write_text(blind.replace("executions: 2", "executions: 1"))
        for keep in (False, True):
            code, output = self.certify()
            self.assertEqual(code, 1, output)
            for site in ("box.put release -> relaxed at lib/box.c:7", "box.take acquire -> relaxed at lib/box.c:12"):
                self.assertIn(f"error: ENGINES DISAGREE on {site}: explore reports KILLED (by box/mp: race), genmc reports "
                              + ("KEPT" if keep else "SURVIVED"), output)
            self.assertFalse(self.data.exists())
            if not keep:
                self.change("[box.put] -> [box.take]", "[box.put] -> [box.take] keep: made up")
                self.change("[box.take] -> [box.put]", "[box.take] -> [box.put] keep: made up")

    def test_weakening_that_hits_nothing(self) -> None:
        extra = ("int box_unused(void)\n{\n    return atomic_load_explicit(&full, memory_order_acquire); "
                 "/* [box.unused] -> [box.put] */\n}\n")
        self.box.write_text(self.box.read_text() + extra)
        for _ in range(2):
            code, output = self.certify("--engine", "explore")
            self.assertEqual((code, output.splitlines()[-1]), (1, "2 passed, 1 failed, 0 skipped"), output)
            self.assertRegex(output, r"FAIL +explore .*box.unused acquire -> relaxed  the weakening hits nothing")
            self.assertFalse(self.data.exists())
            text = self.box.read_text()
            self.box.write_text(text.replace("[box.unused] -> [box.put] */", "[box.unused] -> [box.put] keep: made up */"))

    def test_two_calls_in_one_line(self) -> None:
        self.change("if (atomic_load_explicit(&full, memory_order_acquire))",
                    "if (atomic_load_explicit(&other, memory_order_relaxed) == 0 && "
                    "atomic_load_explicit(&full, memory_order_acquire))")
        self.change("static atomic_int full;", "static atomic_int full, other;")
        code, output = self.certify("--engine", "explore")
        self.assertEqual((code, output.splitlines()[-1]), (0, "2 passed, 0 failed, 0 skipped"), output)

    def test_fence(self) -> None:
        self.change("    atomic_store_explicit(&full, 1,\n                          memory_order_release); /* [box.put] -> [box.take] */",
                    "    atomic_thread_fence(memory_order_release); /* [box.put] -> [box.take] */\n"
                    "    atomic_store_explicit(&full, 1, memory_order_relaxed);")
        code, output = self.certify()
        self.assertEqual((code, output.splitlines()[-1]), (0, self.counts(passed=2)), output)
        self.assertIn(f"| release | `box.take` | removed | {BY_MP}race |", self.page())

    def test_failure_order_not_needed(self) -> None:
        self.change(LOAD, CAS.format(expected=1, test="", more=""))
        code, output = self.certify()
        self.assertEqual((code, output.splitlines()[-1]), (0, self.counts(passed=2)), output)
        self.assertIn("failure orders alone, for information: 0 killed, 1 not needed", output)
        self.assertIn("`box_take` | acquire/acquire | relaxed | NOT NEEDED |", self.page())
        self.assertEqual(self.certify("--check")[0], 0)
        self.edit("box.take", "relaxed", "explore", MP_RACE, "failure")
        code, output = self.certify("--check")
        self.assertEqual(code, 1, output)
        self.assertIn("stale: `box.take`, failure order alone to relaxed: explore is NOT NEEDED", output)

    @BOTH
    def test_failure_orders_stay_when_genmc_runs_alone(self) -> None:
        self.change(LOAD, CAS.format(expected=1, test="", more=""))
        self.certify()
        page = self.page()
        self.assertIn("NOT NEEDED", page)
        code, output = self.certify("--engine", "genmc")
        self.assertEqual((code, self.page()), (0, page), output)

    def test_failure_order_needed(self) -> None:
        self.change(LOAD, CAS.format(expected=3, test="!", more=" && seen == 1"))
        code, output = self.certify()
        self.assertEqual((code, output.splitlines()[-1]), (0, self.counts(passed=2)), output)
        self.assertIn("failure orders alone, for information: 1 killed, 0 not needed", output)
        self.assertIn(f"`box_take` | acquire/acquire | relaxed | {BY_MP}race |", self.page())
        self.assertTrue((self.folder / "build" / "certificate" / "box.take-acquire-relaxed.explore.svg").exists())

    def test_programs_are_kept(self) -> None:
        programs = self.folder / "cache" / "programs"
        self.certify("--engine", "explore", "--no-cache")
        first = {path.name: os.stat(path).st_ino for path in programs.iterdir()}
        self.assertEqual(len(first), 1)
        self.certify("--engine", "explore", "--no-cache")
        self.assertEqual({path.name: os.stat(path).st_ino for path in programs.iterdir()}, first)
        self.change("return -1;", "return -1; ")
        self.certify("--engine", "explore", "--no-cache")
        self.assertEqual(len(list(programs.iterdir())), 2)

    def test_speed_is_said(self) -> None:
        _, output = self.certify("--engine", "explore")
        self.assertRegex(output, r"explore: 2 mutants in [\d.]+ s, \d+ a minute \(")
        _, output = self.certify("--engine", "explore")
        self.assertRegex(output, r"explore: 2 mutants in [\d.]+ s, \d+ a minute, 2 of them from the cache \(")
