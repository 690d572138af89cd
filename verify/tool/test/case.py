# SPDX-License-Identifier: MIT
"""What the tests share: made-up harnesses, a made-up library, and a separate folder."""
from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

from ..process import find_tool, run

VERIFY = Path(__file__).resolve().parents[2]

HARNESS = """/* harness
 * property: made up
{fields} */
#define THREADS 2
#include "harness.h"
{before}
static atomic_int flag;
static int word;
static void setup(void) {{ word = 0; atomic_store_explicit(&flag, 0, memory_order_relaxed); }}
static void thread(int id)
{{
    if (id == 0) {{
        word = 1;
        atomic_store_explicit(&flag, 1, memory_order_{order});
    }} else if (atomic_load_explicit(&flag, memory_order_acquire)) {{
        cover(seen);
        assert(word == 1);
    }}
{body}
}}
static void finish(void) {{}}
"""
BOX = """#include <stdatomic.h>
static int word;
static atomic_int full;
static void box_put(int w)
{
    word = w;
    atomic_store_explicit(&full, 1,
                          memory_order_release); /* [box.put] -> [box.take] */
}
static int box_take(void)
{
    if (atomic_load_explicit(&full, memory_order_acquire)) { /* [box.take] -> [box.put] */
        return word;
    }
    return -1;
}
"""
BOX_HARNESS = """/* harness
 * property: a word taken is the word put
 * engines: genmc explore
 * executions: 2
 */
#define THREADS 2
#include "harness.h"
#include "../../lib/box.c"
static void setup(void) {}
static void thread(int id)
{
    if (id == 0) {
        box_put(7);
    } else {
        int w = box_take();
        assert(w == 7 || w == -1);
    }
}
static void finish(void) {}
"""
MUTANT = "file: lib/box.c\nname: wrong-word\nwhy: another word is stored\nreplace:\n    word = w;\nwith:\n    word = w + {by};\n"


def harness(order: str = "release", body: str = "", before: str = "", **fields: str) -> str:
    fields = {"engines": "explore", **fields}
    text = "".join(f" * {name.replace('__', ' ').replace('_', '-')}: {value}\n" for name, value in fields.items())
    return HARNESS.format(fields=text, order=order, body=body, before=before)


class Case(unittest.TestCase):
    """A folder, a cache and a PATH for each test."""

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="lade-selftest-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.env = {"LADE_CACHE": str(self.folder / "cache")}

    def need(self, tool: str) -> None:
        """The test is skipped where the tool is missing."""
        path = find_tool(tool)
        if not path:
            self.skipTest(f"{tool} not found")
        place = self.folder / "cache" / "bin" / tool  # the private copy, which the test's own cache would hide
        if not shutil.which(tool):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(path)

    def without(self, tool: str) -> None:
        """Hide a tool: a PATH of links to everything else."""
        place = self.folder / "path"
        place.mkdir()
        for folder in os.environ["PATH"].split(":"):
            for file in sorted(Path(folder).glob("*")) if Path(folder).is_dir() else []:
                if file.name != tool and not (place / file.name).is_symlink():
                    (place / file.name).symlink_to(file)
        self.env["PATH"] = str(place)

    def call(self, program: str, *words: str) -> tuple[int, str]:
        done = run([sys.executable, str(VERIFY / program), *words], timeout=120, cwd=self.folder, env=self.env)
        self.assertFalse(done.timed_out, done.output)
        self.assertNotIn("Traceback", done.output)
        return done.code, done.output

    def verify(self, text: str, *words: str, name: str = "case.c") -> tuple[int, dict, str]:
        (self.folder / name).write_text(text)
        code, output = self.call("run", name, "--json", "out.json", *words)
        report = self.folder / "out.json"
        rows = json.loads(report.read_text())["rows"] if report.exists() else []
        return code, rows[0] if rows else {}, output
