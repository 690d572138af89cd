# SPDX-License-Identifier: MIT
"""Compiled functions as transforms: of C through ctypes and cffi, and of numba."""

import ctypes
import os
import subprocess
import tempfile
import unittest

import numpy as np

import lade
from lade import transforms

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SOURCE = """
#include <lade/transform.h>

int invert(void *context, const struct lade_image *input, const void *from, const struct lade_image *output, void *to,
           struct lade_random *random, struct lade_error *error);
int invert(void *context, const struct lade_image *input, const void *from, const struct lade_image *output, void *to,
           struct lade_random *random, struct lade_error *error)
{
    const unsigned char *x = from;
    unsigned char *y = to;
    (void)output, (void)random, (void)error;
    if (context != NULL)
        return *(int *)context;
    for (size_t i = 0; i < (size_t)input->height * input->width * input->channels; i++)
        y[i] = (unsigned char)(255 - x[i]);
    return 0;
}
"""


class Inverted:
    """invert() of the C program, as some library hands it out."""

    def setUp(self):
        self.x = np.random.default_rng(1).integers(0, 256, (60, 6, 5, 3), np.uint8)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.library = os.path.join(folder.name, "invert.so")
        subprocess.run(["cc", "-std=c11", "-Wall", "-Werror", "-shared", "-fPIC", "-I" + os.path.join(ROOT, "load/include"),
                        "-I" + os.path.join(ROOT, "lib/include"), "-xc", "-", "-o", self.library], input=SOURCE, text=True, check=True)

    def check(self, transform):
        with lade.Loader(self.x, batch=7, threads=3, transform=[transform]) as loader:
            seen = []
            for batch in loader:
                ids = batch.ids.numpy()
                np.testing.assert_array_equal(batch.sample.numpy(), 255 - self.x[ids])
                seen += ids.tolist()
        self.assertEqual(sorted(seen), list(range(60)))

    def test_it_is_called(self):
        self.check(transforms.Compiled(self.function()))


class ByCtypes(Inverted, unittest.TestCase):
    def function(self):
        return ctypes.CDLL(self.library).invert

    def test_an_address(self):
        self.check(transforms.Compiled(ctypes.cast(self.function(), ctypes.c_void_p).value))

    def test_context_and_error(self):
        status = ctypes.c_int(-12)
        with lade.Loader(self.x, batch=7, transform=[transforms.Compiled(self.function(), context=ctypes.addressof(status))]) as loader:
            with self.assertRaises(lade.DamagedError):
                list(loader)


# imports: cffi
class ByCffi(Inverted, unittest.TestCase):
    def function(self):
        import cffi

        self.ffi = cffi.FFI()
        self.ffi.cdef("int invert(void *, const void *, const void *, const void *, void *, void *);")
        return self.ffi.addressof(self.ffi.dlopen(self.library), "invert")


# imports: numba
class ByNumba(Inverted, unittest.TestCase):
    def function(self):
        import numba

        types = numba.types

        @numba.cfunc(types.int32(types.voidptr, types.voidptr, types.CPointer(types.uint8), types.voidptr, types.CPointer(types.uint8),
                                 types.voidptr))
        def invert(context, image, pixels, output, to, random):
            for i in range(90):
                to[i] = 255 - pixels[i]
            return 0

        return invert


if __name__ == "__main__":
    unittest.main()
