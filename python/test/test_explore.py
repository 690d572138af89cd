# SPDX-License-Identifier: MIT
"""explore(): verdict, outcomes, pictures, and what is missing."""

import os
import pathlib
import shutil
import tempfile
import unittest
from unittest import mock

import lade

PROGRAM = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
static atomic_int flag;
static int data;
static void *sender(void *arg)
{
    data = 42;
    atomic_store_explicit(&flag, 1, memory_order_release);
    return arg;
}
static void *receiver(void *arg)
{
    if (atomic_load_explicit(&flag, ORDER))
        assert(data == 42);
    return arg;
}
int main(void)
{
    pthread_t s, r;
    pthread_create(&s, NULL, sender, NULL);
    pthread_create(&r, NULL, receiver, NULL);
    pthread_join(s, NULL);
    pthread_join(r, NULL);
    puts("both ended");
}
"""


@unittest.skipUnless(shutil.which("gcc") and shutil.which("nm"), "needs gcc and binutils")
class Explore(unittest.TestCase):
    def test_a_program_that_passes(self):
        result = lade.explore(PROGRAM, "-DORDER=memory_order_acquire")
        self.assertTrue(result)
        self.assertEqual((result.verdict, result.executions, result.errors), ("pass", 2, []))
        self.assertEqual(result.outcomes, {"both ended": 2})
        self.assertIsNone(result._repr_svg_())

    def test_a_race_has_a_picture(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "mp.c")
            path.write_text(PROGRAM)
            for program in (path, str(path), [path], PROGRAM):
                result = lade.explore(program, "-DORDER=memory_order_relaxed")
                self.assertFalse(result)
                self.assertEqual((result.errors[0]["kind"], result.errors[0]["line"]), ("race", 17))
                self.assertIn("acquire instead of relaxed", str(result))
                self.assertTrue(result._repr_svg_().lstrip().startswith("<svg"))
                self.assertIn("<svg", result._repr_html_())
                self.assertIn("race", repr(result))

    def test_models_and_options(self):
        self.assertTrue(lade.explore(PROGRAM.replace("assert(data == 42)", "(void)0"), "-DORDER=memory_order_relaxed", model="sc"))
        self.assertIn("verdict", lade.explore(PROGRAM, "-DORDER=memory_order_acquire", options=("--max-executions", "1")).text)

    def test_what_cannot_be_explored(self):
        with self.assertRaisesRegex(lade.InvalidError, "program.c"):
            lade.explore("int main(void) { nonsense }")
        with self.assertRaisesRegex(lade.InvalidError, "not modelled"):
            lade.explore('int main(void) { __asm__("cpuid" ::: "eax", "ebx", "ecx", "edx"); }')


class Missing(unittest.TestCase):
    def test_no_compiler(self):
        with mock.patch.dict(os.environ, {"PATH": "/nonexistent"}):
            with self.assertRaisesRegex(lade.Error, "apt-get install gcc binutils"):
                lade.explore(PROGRAM)


if __name__ == "__main__":
    unittest.main()
