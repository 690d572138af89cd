# SPDX-License-Identifier: MIT
from collections.abc import Iterator
from typing import Any

from . import Loader

class Adapted(Loader):
    def __init__(
        self, source: Any, batch: int = 128, seed: int | None = 1, *, as_dict: bool | None = None, ids: bool = False,
        in_step: bool = True, shard: int | str = "auto", **options: Any,
    ) -> None: ...
    def __next__(self) -> Any: ...
    def __getitem__(self, key: slice, /) -> Iterator[Any]: ...
    def state_dict(self) -> dict[str, str]: ...
