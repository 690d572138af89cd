# SPDX-License-Identifier: MIT
"""Transforms of images, for Loader(transform=[...]), applied in order by the workers.

Those of the library run without Python, and their random numbers depend on seed, epoch and sample only. Call adds a Python
function: where there is a GIL, one thread at a time runs it. Compiled adds a compiled one, which all workers run at once.
"""

from typing import NamedTuple

__all__ = ["Call", "Cast", "Compiled", "Crop", "CropCentre", "CropRandom", "Flip", "Layout", "Normalise", "Resize"]

_LAYOUTS = {"hwc": 0, "chw": 1}


class Resize(NamedTuple):
    """To height x width, bilinear."""

    height: int
    width: int

    def step(self):
        return ("resize", *self)


class Crop(NamedTuple):
    """The rectangle that begins at row top and column left."""

    top: int
    left: int
    height: int
    width: int

    def step(self):
        return ("crop", *self)


class CropCentre(NamedTuple):
    """The rectangle in the centre."""

    height: int
    width: int

    def step(self):
        return ("crop_centre", *self)


class CropRandom(NamedTuple):
    """Adds rows and columns of zeros on each side, and takes a rectangle at a random place."""

    padding: int
    height: int
    width: int

    def step(self):
        return ("crop_random", *self)


class Flip(NamedTuple):
    """Mirrors left and right, every second time on average."""

    def step(self):
        return ("flip",)


class Normalise(NamedTuple):
    """To float32: (x * scale - mean) / deviation, one of each for every channel."""

    mean: tuple
    deviation: tuple
    scale: float = 1 / 255

    def step(self):
        return ("normalise", float(self.scale), tuple(map(float, self.mean)), tuple(map(float, self.deviation)))


class Cast(NamedTuple):
    """To dtype ("uint8" or "float32"): x * scale."""

    dtype: str
    scale: float = 1.0

    def step(self):
        return ("cast", *self)


class Layout(NamedTuple):
    """To "hwc" (the channels of a pixel side by side) or "chw" (one plane for each channel)."""

    layout: str

    def step(self):
        return ("layout", _LAYOUTS[self.layout])


class Form(NamedTuple):
    """The form of an image."""

    dtype: str
    layout: str
    height: int
    width: int
    channels: int

    def packed(self):
        return (self.dtype, _LAYOUTS[self.layout], self.height, self.width, self.channels)

    def shape(self):
        if self.layout == "hwc":
            return (self.height, self.width, self.channels)
        return (self.channels, self.height, self.width)


class Call(NamedTuple):
    """A Python function: function(image) returns the new image, or None when it changed the one that it got.

    image is a NumPy array (a memoryview without NumPy), a copy. output is the Form of the result if it differs from the
    input. With random the function gets a second argument, a number that is the same for the same seed, epoch and sample:
    numpy.random.default_rng(number). Workers call the function, in no particular order, and several at once without a GIL.
    What it raises comes out of next().
    """

    function: object
    output: Form | None = None
    random: bool = False


class Compiled(NamedTuple):
    """A compiled function of the type lade_transform (lade/transform.h), which many threads call at once:

        int f(void *context, const struct lade_image *input, const void *from, const struct lade_image *output, void *to,
              struct lade_random *random, struct lade_error *error)

    function is its address, or an object of ctypes, cffi or numba (cfunc) for it; context an address. output is the Form of
    the result if it differs from the input.
    """

    function: object
    context: int = 0
    output: Form | None = None

    def step(self):
        return ("compiled", _address(self.function), self.context, self.output and self.output.packed(), self.function)


def _address(function):
    if isinstance(function, int):
        return function
    if hasattr(function, "address"):  # numba.cfunc
        return function.address
    if type(function).__module__ in ("_cffi_backend", "cffi"):
        import cffi

        return int(cffi.FFI().cast("uintptr_t", function))
    import ctypes

    try:
        return ctypes.cast(function, ctypes.c_void_p).value
    except (ctypes.ArgumentError, TypeError):
        raise TypeError(f"not the address of a compiled function: {function!r}; a Python function is passed by Call") from None


def _shim(call, form):
    """function(bytearray[, number]) for the extension."""
    try:
        import numpy
    except ImportError:
        numpy = None
    codes = {"uint8": "B", "float32": "f"}

    def run(memory, *random):
        if numpy:
            image = numpy.frombuffer(memory, form.dtype).reshape(form.shape())
        else:
            image = memoryview(memory).cast(codes[form.dtype], form.shape())
        result = call.function(image, *random)
        if result is None:
            return memory
        expected = call.output or form
        if numpy:
            result = numpy.ascontiguousarray(result)
            if result.dtype != expected.dtype or result.shape != expected.shape():
                raise ValueError(f"a transform returned {result.dtype} {result.shape} instead of {expected.dtype} "
                                 f"{expected.shape()}; pass Call(function, output=Form(...)) if that is intended")
        return result

    return run


def _after(form, step):
    """The form of the image after a step of the library."""
    kind = step[0]
    if kind in ("resize", "crop", "crop_centre", "crop_random"):
        return form._replace(height=step[-2], width=step[-1])
    if kind == "normalise":
        return form._replace(dtype="float32")
    if kind == "cast":
        return form._replace(dtype=step[1])
    if kind == "layout":
        return form._replace(layout="chw" if step[1] else "hwc")
    return form


def form_of(dtype, shape, layout=None):
    """The image that an array is."""
    if dtype not in ("uint8", "float32"):
        raise TypeError(f"transforms take images of uint8 or float32; the samples are {dtype}")
    if len(shape) == 1:
        return Form(dtype, "hwc", 1, shape[0], 1)
    if len(shape) == 2:
        return Form(dtype, "hwc", shape[0], shape[1], 1)
    if len(shape) != 3:
        raise TypeError(f"transforms take images; the samples have the shape {shape}")
    layout = layout or ("chw" if shape[0] <= 4 and shape[2] > 4 else "hwc")
    if layout not in _LAYOUTS:
        raise ValueError(f"layout is {layout!r}; it is 'hwc' or 'chw'")
    height, width, channels = shape if layout == "hwc" else (shape[1], shape[2], shape[0])
    return Form(dtype, layout, height, width, channels)


def steps_of(transform, form):
    """The steps of the extension for a list of transforms."""
    steps = []
    for item in transform:
        if callable(item) and not hasattr(item, "step"):
            item = Call(item)
        if isinstance(item, Call):
            steps.append(("call", _shim(item, form), item.output and item.output.packed(), item.random))
        elif hasattr(item, "step"):
            steps.append(item.step())
        else:
            raise TypeError(f"not a transform: {item!r}")
        form = item.output if getattr(item, "output", None) else _after(form, steps[-1])
    return tuple(steps)
