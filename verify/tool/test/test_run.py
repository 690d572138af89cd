# SPDX-License-Identifier: MIT
"""Tests of verify/run."""
from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import xml.dom.minidom
from pathlib import Path
from typing import Callable

from ..process import find_tool
from .case import VERIFY, Case, harness


class Checker:
    """What holds for each model checker. Mixed into a Case."""

    ENGINE = ""

    def harness(self, order: str = "release", **fields: str) -> str:
        return harness(order, **{"engines": self.ENGINE, **fields})

    def test_pass(self) -> None:
        code, row, output = self.verify(self.harness(executions="2", cover="seen"))
        self.assertEqual((code, row["verdict"], row["executions"]), (0, "PASS", 2), output)
        self.assertEqual(output.splitlines()[-1], "1 passed, 0 failed, 0 skipped")

    def test_failure_is_named(self) -> None:
        code, row, output = self.verify(self.harness("relaxed"))
        self.assertEqual((code, row["verdict"], row["kind"]), (1, "FAIL", "race"), output)
        self.assertEqual(Path(row["errors"][0]["file"]).name, "case.c")

    def test_expected_failure(self) -> None:
        code, row, _ = self.verify(self.harness("relaxed", expect="FAIL race"))
        self.assertEqual((code, row["status"]), (0, "passed"))

    def test_failure_of_another_kind(self) -> None:
        code, row, output = self.verify(self.harness("relaxed", expect="FAIL leak"))
        self.assertEqual((code, row["status"]), (1, "failed"), output)

    def test_expected_failure_that_passes(self) -> None:
        code, row, _ = self.verify(self.harness(expect="FAIL race"))
        self.assertEqual((code, row["verdict"], row["status"]), (1, "PASS", "failed"))

    def test_too_few_executions(self) -> None:
        code, row, _ = self.verify(self.harness(executions="3"))
        self.assertEqual((code, row["verdict"]), (1, "VACUOUS"))

    def test_cover_point_not_reached(self) -> None:
        code, row, output = self.verify(self.harness(cover="seen never", body="if (id > 5) cover(never);"))
        self.assertEqual((code, row["verdict"], row["note"]), (1, "VACUOUS", "never reached: never"), output)

    def test_everything_blocked_is_no_pass(self) -> None:
        code, row, _ = self.verify(self.harness(body="assume(0);"))
        self.assertEqual((code, row["verdict"]), (1, "VACUOUS"))

    def test_leak(self) -> None:
        code, row, _ = self.verify(self.harness(body="(void)malloc(8);"))
        self.assertEqual((code, row["kind"]), (1, "leak"))


class Explore(Checker, Case):
    ENGINE = "explore"

    def test_inline_assembly_is_no_pass(self) -> None:
        code, row, output = self.verify(self.harness(body='__asm__ volatile("mfence");'))
        self.assertEqual((code, row["verdict"], row["kind"]), (1, "FAIL", "tool"), output)


class Genmc(Checker, Case):
    ENGINE = "genmc/rc11"

    def setUp(self) -> None:
        super().setUp()
        self.need("genmc")

    def test_inline_assembly_is_no_pass(self) -> None:
        code, row, output = self.verify(self.harness(body='__asm__ volatile("nop");'))
        self.assertEqual((code, row["verdict"], row["kind"]), (1, "FAIL", "warning"), output)


class Run(Case):
    def test_native_is_not_asked_for_cover_points(self) -> None:
        code, row, output = self.verify(harness(engines="native", cover="luck", rounds="10", body="if (id > 5) cover(luck);"))
        self.assertEqual((code, row["verdict"]), (0, "PASS"), output)

    def test_timeout(self) -> None:
        text = harness(engines="native", timeout="1", body="sleep(30);")
        code, row, _ = self.verify(text)
        self.assertEqual((code, row["verdict"]), (1, "TIMEOUT"))

    # Many executions, so that it runs until it is ended.
    LONG = "".join(f"atomic_fetch_add_explicit(&flag, {i}, memory_order_relaxed); " for i in range(2, 12))

    @staticmethod
    def _descendants(pid: int) -> list[int]:
        """Processes that are there, not those that have ended and wait to be collected."""
        children: dict[int, list[int]] = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                state, parent = stat.read_text().rpartition(")")[2].split()[:2]
            except OSError:  # ended in between
                continue
            if state not in "ZX":
                children.setdefault(int(parent), []).append(int(stat.parent.name))
        found, wanted = [], [pid]
        while wanted:
            more = children.get(wanted.pop(), [])
            found += more
            wanted += more
        return found

    @staticmethod
    def _is_program(pid: int) -> bool:
        """Whether the process is a harness under explore."""
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            return False
        return b"/cache/programs/" in words[0] and b"--json" in words

    @staticmethod
    def _until(condition: Callable[[], bool], seconds: float = 120) -> bool:
        limit = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > limit:
                return False
            time.sleep(0.05)
        return True

    def _kill_runner(self, *words: str) -> None:
        runner = subprocess.Popen([sys.executable, str(VERIFY / "run"), "case.c", *words], cwd=self.folder, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, env={**os.environ, **self.env})
        below: list[int] = []

        def started() -> bool:
            below[:] = self._descendants(runner.pid)
            return any(self._is_program(pid) for pid in below)

        def ended() -> bool:
            return not any(self._is_program(pid) for pid in below)
        try:
            self.assertTrue(self._until(started), "the program did not start")
            runner.kill()
            runner.wait()
            self.assertTrue(self._until(ended), "the program runs on without its runner")
        finally:
            runner.kill()
            runner.wait()
            for pid in filter(self._is_program, below):
                os.kill(pid, signal.SIGKILL)

    def test_programs_end_with_their_runner(self) -> None:
        (self.folder / "case.c").write_text(harness(body=self.LONG, timeout="600"))
        self._kill_runner()

    def test_does_not_compile(self) -> None:
        for engine in ("native", "explore", "genmc/rc11"):
            if engine == "genmc/rc11" and not find_tool("genmc"):
                continue
            code, row, output = self.verify(harness(engines=engine, body="no such thing"))
            self.assertEqual((code, row["verdict"], row["kind"]), (1, "FAIL", "compile"), output)

    def test_missing_tool(self) -> None:
        self.without("genmc")
        code, row, output = self.verify(harness(engines="genmc/rc11"))
        self.assertEqual((code, row["verdict"], row["status"]), (0, "SKIP", "skipped"), output)
        self.assertIn("MPI-SWS/genmc", output)
        self.assertEqual(output.splitlines()[-1], "0 passed, 0 failed, 1 skipped")

    def test_native_engines(self) -> None:
        for engine in ("native", "tsan"):
            code, row, output = self.verify(harness(engines=engine, rounds="400"))
            self.assertEqual((code, row["verdict"]), (0, "PASS"), output)

    def test_cbmc(self) -> None:
        self.need("cbmc")
        sequential = {"engines": "cbmc", "flags": "-DSEQUENTIAL=1"}
        code, row, output = self.verify(harness(cover="here", body="cover(here);", **sequential))
        self.assertEqual((code, row["verdict"]), (0, "PASS"), output)
        code, row, output = self.verify(harness(cover="here there", body="cover(here); if (id) cover(there);", **sequential))
        self.assertEqual((code, row["verdict"], row["note"]), (1, "VACUOUS", "never reached: there"), output)
        code, row, output = self.verify(harness(body="assume(id);", **sequential))
        self.assertEqual((code, row["verdict"]), (1, "VACUOUS"), output)

    def test_herd(self) -> None:
        self.need("herd7")
        text = (VERIFY / "litmus" / "mp-relaxed.litmus").read_text()
        code, row, output = self.verify(text, name="case.litmus")
        self.assertEqual((code, row["verdict"]), (0, "PASS"), output)
        code, row, output = self.verify(text.replace("Sometimes", "Never"), name="case.litmus")
        self.assertEqual((code, row["kind"]), (1, "outcome"), output)

    def test_block_is_checked(self) -> None:
        for bad in ({"colour": "red"}, {"expect": "FAIL badly"}, {"engines": "magic"}, {"executions": "many"}):
            code, _, output = self.verify(harness(**bad))
            self.assertEqual(code, 2, output)
        code, _, output = self.verify(harness().replace(" * engines:", " * Executions: 900\n * engines:"))
        self.assertEqual((code, "a field is written `executions: VALUE`" in output), (2, True), output)
        self.assertEqual(self.call("run", "nowhere.c")[0], 2)

    def test_reports_that_cannot_be_written(self) -> None:
        for option, path in (("--junit", "/proc/nowhere/x.xml"), ("--html", "case.c")):
            (self.folder / "case.c").write_text(harness())
            code, output = self.call("run", "case.c", option, path)
            self.assertEqual((code, f"verify/run: {path}" in output), (2, True), output)

    def test_include_and_cache(self) -> None:
        (self.folder / "inc").mkdir()
        header = self.folder / "inc" / "order.h"
        header.write_text("#define HOW memory_order_release\n")
        text = harness(before='#include "order.h"').replace("memory_order_release", "HOW")
        code, row, output = self.verify(text, "--include", "inc")
        self.assertEqual((code, row["verdict"], row["cached"]), (0, "PASS", False), output)
        _, row, _ = self.verify(text, "--include", "inc")
        self.assertTrue(row["cached"])
        header.write_text("#define HOW memory_order_relaxed\n")
        code, row, output = self.verify(text, "--include", "inc")
        self.assertEqual((code, row["verdict"], row["cached"]), (1, "FAIL", False), output)
        _, row, _ = self.verify(text, "--include", "inc", "--no-cache")
        self.assertFalse(row["cached"])

    def test_reports(self) -> None:
        engines = "explore genmc/rc11" if find_tool("genmc") else "explore"
        code, _, output = self.verify(harness("relaxed", engines=engines), "--junit", "out.xml", "--html", "page")
        self.assertEqual(code, 1, output)
        document = xml.dom.minidom.parse(str(self.folder / "out.xml"))
        self.assertEqual(len(document.getElementsByTagName("failure")), len(engines.split()))
        page = (self.folder / "page" / "index.html").read_text()
        self.assertEqual(page.count("<svg"), len(engines.split()))
        self.assertNotRegex(page, r"<svg.*\bid=")  # a name in one picture would be that of another, too
        for outside in ("src=", "<link", "@import", "url(http"):
            self.assertNotIn(outside, page)

    def test_explore_rows_come_first(self) -> None:
        for name, engines in (("a.c", "native explore"), ("b.c", "explore native")):
            (self.folder / name).write_text(harness(engines=engines, rounds="10"))
        self.call("run", "a.c", "b.c", "--json", "out.json", "--jobs", "1")
        rows = json.loads((self.folder / "out.json").read_text())["rows"]
        self.assertEqual([(row["name"], row["engine"]) for row in rows],
                         [("a", "explore"), ("b", "explore"), ("a", "native"), ("b", "native")])

    def test_long_options_go_to_the_engine(self) -> None:
        body = "    static atomic_int lock;\n    while (atomic_exchange(&lock, 1)) continue;\n    atomic_store(&lock, 0);\n"
        code, row, output = self.verify(harness(body=body))
        self.assertEqual((code, row["verdict"]), (0, "PASS"), output)
        code, row, output = self.verify(harness(body=body, flags__explore="--stop-threads", expect="FAIL blocking"))
        self.assertEqual((code, row["kind"]), (0, "blocking"), output)

    def test_exploration_cut_short_is_no_pass(self) -> None:
        body = "    for (int i = 0; i < 40; i++) atomic_fetch_add(&flag, 0);\n"
        code, row, output = self.verify(harness(body=body, flags__explore="--max-events 20"))
        self.assertEqual((code, row["verdict"], row["kind"]), (1, "FAIL", "unwinding"), output)

    def test_build_options(self) -> None:
        body = "    (void)rand();\n"
        code, row, output = self.verify(harness(body=body))
        self.assertEqual((code, row["kind"]), (1, "tool"), output)
        self.assertIn("rand", output)
        code, row, output = self.verify(harness(body=body, flags__explore="--allow rand"))
        self.assertEqual((code, row["verdict"]), (0, "PASS"), output)

    def test_missing_compiler(self) -> None:
        self.without("gcc")
        code, row, output = self.verify(harness())
        self.assertEqual((code, row["verdict"]), (0, "SKIP"), output)
        self.assertIn("install the Debian package gcc", output)
