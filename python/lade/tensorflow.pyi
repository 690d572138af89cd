# SPDX-License-Identifier: MIT
from typing import Any

import tensorflow as tf

from . import Loader

def dataset(loader: Loader, as_dict: bool | None = None) -> tf.data.Dataset[Any]: ...
