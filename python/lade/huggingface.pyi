# SPDX-License-Identifier: MIT
from typing import Any

import transformers

from .torch import Loader

class Trainer(transformers.Trainer):
    train_loader: Loader
    def __init__(self, *args: Any, train_loader: Loader, **options: Any) -> None: ...
    def get_train_dataloader(self) -> Any: ...
    def train(self, resume_from_checkpoint: str | bool | None = None, **options: Any) -> Any: ...
