# SPDX-License-Identifier: MIT
"""The exceptions of lade. Each is also the built-in exception that fits, so that both can be caught."""

import os
import queue


class Error(Exception):
    """The base of all exceptions of lade.

    status: the number of the C libraries (lade/status.h); offset: the byte of the file that the text names, or None.
    """

    status = 0
    offset = None


class InvalidError(Error, ValueError):
    """An argument is outside its range, or arguments exclude each other."""


class OutOfMemoryError(Error, MemoryError):
    """There is no memory, or a thread could not be started."""


class ReadError(Error, OSError):
    """The system could not open or read."""


class DamagedError(Error, ValueError):
    """The bytes do not match the format."""


class LimitedError(Error, RuntimeError):
    """A configured limit was reached."""


class ConflictError(Error, ValueError):
    """Two things that must match differ, as a state and the loader that resumes it."""


class EmptyError(Error, ValueError, queue.Empty):
    """There is no sample, or less than a batch; a container holds nothing."""


class FullError(Error, queue.Full):
    """A container has no free slot."""


class ClosedError(Error, getattr(queue, "ShutDown", RuntimeError)):
    """The container was closed; for a draw or pop also: it is empty."""


class TimedOutError(Error, TimeoutError):
    """The time to wait has passed."""


class CancelledError(Error, RuntimeError):
    """The loader was closed, or the wait cancelled, by another thread."""


class DeviceError(Error, RuntimeError):
    """A call to the device failed."""


class ForkError(Error, RuntimeError):
    """The object was created before fork(): its threads are in the other process."""


_CLASSES = {
    -1: EmptyError, -2: FullError, -3: InvalidError, -4: OutOfMemoryError, -5: LimitedError, -8: ClosedError, -9: TimedOutError,
    -10: CancelledError, -11: LimitedError, -12: DamagedError,
    -13: ReadError, -16: ConflictError, -17: DeviceError, -101: ForkError,
}
_FORKED = ("the loader was created before fork(): its worker threads are in the other process. Create a loader in each "
           "process, or start processes by spawn")


def of_status(status, text, offset):
    """The exception for a status of the C libraries."""
    error = _CLASSES.get(status, Error)(_FORKED if status == -101 else os.fsdecode(text))
    error.status, error.offset = status, offset
    return error
