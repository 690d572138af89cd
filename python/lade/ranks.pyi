# SPDX-License-Identifier: MIT
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

class Rank(NamedTuple):
    rank: int
    size: int

def detect(environment: Mapping[str, str] | None = None) -> Rank: ...
def join(states: Iterable[Mapping[str, str]]) -> dict[str, str]: ...
def gather(state: Mapping[str, str], group: Any = None) -> list[dict[str, str]]: ...
