# SPDX-License-Identifier: MIT
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

class Resize(NamedTuple):
    height: int
    width: int

class Crop(NamedTuple):
    top: int
    left: int
    height: int
    width: int

class CropCentre(NamedTuple):
    height: int
    width: int

class CropRandom(NamedTuple):
    padding: int
    height: int
    width: int

class Flip(NamedTuple): ...

class Normalise(NamedTuple):
    mean: Sequence[float]
    deviation: Sequence[float]
    scale: float = 1 / 255

class Cast(NamedTuple):
    dtype: str
    scale: float = 1.0

class Layout(NamedTuple):
    layout: str

class Form(NamedTuple):
    dtype: str
    layout: str
    height: int
    width: int
    channels: int
    def shape(self) -> tuple[int, int, int]: ...

class Call(NamedTuple):
    function: Callable[..., Any]
    output: Form | None = None
    random: bool = False

class Compiled(NamedTuple):
    function: Any
    context: int = 0
    output: Form | None = None
