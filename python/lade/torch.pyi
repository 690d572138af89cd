# SPDX-License-Identifier: MIT
from typing import Any

import torch

from ._adaptor import Adapted

class Loader(Adapted):
    def __init__(
        self, source: Any, batch: int = 128, seed: int | None = 1, *, device: torch.device | str | int | None = None, **options: Any,
    ) -> None: ...
    def __next__(self) -> tuple[torch.Tensor, ...] | dict[str, torch.Tensor]: ...
