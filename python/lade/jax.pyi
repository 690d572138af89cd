# SPDX-License-Identifier: MIT
from typing import Any

import jax

from ._adaptor import Adapted

class Loader(Adapted):
    def __init__(
        self, source: Any, batch: int = 128, seed: int | None = 1, *, sharding: jax.sharding.Sharding | None = None,
        shard: int | str = "auto", shards: int = 1, **options: Any,
    ) -> None: ...
    def __next__(self) -> tuple[jax.Array, ...] | dict[str, jax.Array]: ...
