# SPDX-License-Identifier: MIT
"""DLPack's table of C functions on lade.Tensor, called as a consumer in C does."""

import ctypes
import gc
import unittest

import numpy as np

import lade

Object, Pointer = ctypes.py_object, ctypes.c_void_p
SetError = ctypes.CFUNCTYPE(None, Pointer, ctypes.c_char_p, ctypes.c_char_p)


class View(ctypes.Structure):
    _fields_ = [("data", Pointer), ("device", ctypes.c_int * 2), ("ndim", ctypes.c_int), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("offset", ctypes.c_uint64)]


class Managed(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", Pointer), ("deleter", ctypes.PYFUNCTYPE(None, Pointer)),
                ("flags", ctypes.c_uint64), ("tensor", View)]


class Table(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("previous", Pointer),
                ("allocate", ctypes.PYFUNCTYPE(ctypes.c_int, Pointer, ctypes.POINTER(Pointer), Pointer, SetError)),
                ("from_object", ctypes.PYFUNCTYPE(ctypes.c_int, Object, ctypes.POINTER(ctypes.POINTER(Managed)))),
                ("to_object", ctypes.PYFUNCTYPE(ctypes.c_int, Pointer, ctypes.POINTER(Pointer))),
                ("view", ctypes.PYFUNCTYPE(ctypes.c_int, Object, ctypes.POINTER(View))),
                ("stream", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int32, ctypes.POINTER(Pointer)))]


get_pointer = ctypes.PYFUNCTYPE(Pointer, Object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


class Exchange(unittest.TestCase):
    def setUp(self):
        self.loader = lade.Loader(np.arange(24, dtype=np.float32).reshape(4, 6), batch=4, shuffle=False)
        self.addCleanup(self.loader.close)
        self.tensor = next(self.loader).sample
        self.table = Table.from_address(get_pointer(lade.Tensor.__dlpack_c_exchange_api__, b"dlpack_exchange_api"))

    def check(self, view):
        self.assertEqual((view.ndim, view.shape[:2], view.strides[:2], view.offset), (2, [4, 6], [6, 1], 0))
        self.assertEqual((list(view.device), view.code, view.bits, view.lanes), ([1, 0], 2, 32, 1))
        self.assertEqual(view.data, np.asarray(self.tensor).ctypes.data)

    def test_view(self):
        view, stream = View(), Pointer(1)
        self.assertEqual(self.table.view(self.tensor, view), 0)
        self.check(view)
        self.assertEqual((self.table.major, self.table.stream(1, 0, stream), stream.value), (1, 0, None))

    def test_an_exported_tensor_outlives_the_batch(self):
        managed = ctypes.POINTER(Managed)()
        self.assertEqual(self.table.from_object(self.tensor, managed), 0)
        self.check(managed.contents.tensor)
        self.tensor = None
        self.loader.close()
        gc.collect()
        data = (ctypes.c_float * 24).from_address(managed.contents.tensor.data)
        self.assertEqual(list(data), list(range(24)))
        managed.contents.deleter(ctypes.addressof(managed.contents))

    def test_tensors_are_not_made_of_others(self):
        said, out, managed = [], Pointer(), ctypes.POINTER(Managed)()
        self.assertEqual(self.table.allocate(None, out, None, SetError(lambda _, kind, text: said.append(kind))), -1)
        self.assertEqual(said, [b"BufferError"])
        self.table.from_object(self.tensor, managed)
        with self.assertRaisesRegex(BufferError, "not made of another"):
            self.table.to_object(ctypes.addressof(managed.contents), out)


if __name__ == "__main__":
    unittest.main()
