# SPDX-License-Identifier: MIT
"""Finding tools and running them with limits."""
from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Callable, Mapping, NoReturn, Optional, Sequence

OUTPUT_LIMIT = 32_000_000

HOW_TO_GET = {
    "gcc": "install the Debian package gcc",
    "objcopy": "install the Debian package binutils",
    "nm": "install the Debian package binutils",
    "genmc": "no package has GenMC: build MPI-SWS/genmc as its README describes and put genmc on PATH",
    "cbmc": "run tools/setup, or install CBMC 6 and put cbmc on PATH",
    "herd7": "run tools/setup, or install herdtools7 and put herd7 on PATH",
}


def end_with(main: Callable[[], int]) -> NoReturn:
    """Ends the process with what main returns; quietly when it is interrupted, or when its output is not read."""
    try:
        code = main()
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = 128 + signal.SIGINT
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left goes there
        code = 128 + signal.SIGPIPE
    sys.exit(code)


def cache_home() -> Path:
    """Directory for everything that may be thrown away: tools in a private prefix, results."""
    named = os.environ.get("LADE_CACHE")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "lade"


@lru_cache(maxsize=None)
def find_tool(name: str) -> Optional[str]:
    """The tool on PATH, or the project's private copy, or None."""
    found = shutil.which(name)
    if found:
        return found
    private = cache_home() / "bin" / name
    return str(private) if os.access(private, os.X_OK) else None


@lru_cache(maxsize=None)
def tool_version(path: str) -> str:
    """What the tool reports about itself; part of every cache key."""
    for option in ("--version", "-version"):
        done = run([path, option], timeout=20)
        if done.code == 0 and done.output.strip():
            return done.output.strip()
    return "unknown"


@lru_cache(maxsize=None)
def pkg_config(package: str, what: str) -> Optional[tuple[str, ...]]:
    """Words that pkg-config prints for one option, or None where the package or pkg-config is missing."""
    tool = shutil.which("pkg-config")
    if not tool:
        return None
    done = run([tool, what, package], timeout=20)
    return tuple(done.output.split()) if done.code == 0 else None


@dataclass
class Done:
    """How a process ended. `code` is negative for a signal; `timed_out` when the limit was reached."""

    code: int
    output: str
    seconds: float
    timed_out: bool = False


@lru_cache(maxsize=None)
def _setpriv() -> Optional[str]:
    """util-linux's setpriv, where it can set the signal that a process gets when its parent ends."""
    path = shutil.which("setpriv")
    if not path:
        return None
    done = subprocess.run([path, "--pdeathsig", "TERM", "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return path if done.returncode == 0 else None


def ends_with_us(words: Sequence[str], memory_mb: int = 0) -> list[str]:
    """The command with a limit of memory, ended when this process ends, however that happens.

    The signal does not come if we end before it is set: the shell finds another parent then, and starts nothing.
    """
    script = 'exec "$@"'
    if memory_mb:
        script = f"ulimit -v {memory_mb * 1024}; {script}"
    if _setpriv():
        return [str(_setpriv()), "--pdeathsig", "TERM", "sh", "-c", f'[ "$PPID" = {os.getpid()} ] || exit 1; {script}', "sh", *words]
    return ["sh", "-c", script, "sh", *words] if memory_mb else list(words)


def run(command: Sequence[str], timeout: float, cwd: Optional[Path] = None,
        env: Optional[Mapping[str, str]] = None, memory_mb: int = 0) -> Done:
    """Run a command in a separate session; at the limit the whole group ends, so that no child is left over.

    Output goes to a file and not through a pipe: a grandchild that keeps a pipe open would otherwise hold us up.
    """
    started = time.monotonic()
    words = ends_with_us(command, memory_mb)
    with tempfile.TemporaryFile() as sink:
        child = subprocess.Popen(words, stdout=sink, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd=cwd,
                                 env={**os.environ, "LC_ALL": "C", **(env or {})}, start_new_session=True)
        timed_out = False
        try:
            child.wait(timeout=max(timeout, 0.1))
        except subprocess.TimeoutExpired:
            timed_out = True
        finally:
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
            child.wait()
        sink.seek(0)
        text = sink.read(OUTPUT_LIMIT).decode("utf-8", "replace")
    return Done(child.returncode, text, time.monotonic() - started, timed_out)
