# SPDX-License-Identifier: MIT
"""explore(): every execution of a C11 program under a weak memory model. It runs verify/explore, which the package has inside."""

import html
import json
import os
import subprocess
import sys
import tempfile

from ._errors import Error, InvalidError

_PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "verify", "explore")
_TOOLS = {"gcc": "gcc", "objcopy": "binutils", "nm": "binutils"}
# Exit codes after which there is a result: nothing wrong, a bound, no complete execution, an error.
_RESULTS = (0, 3, 6, 42)


class Exploration:
    """What explore() found.

    verdict         "pass", "error", or what else kept the program from passing, as "bound"
    errors          a list of dicts: kind, file, line, message, why, and the events of an execution that shows it
    outcomes        what complete executions print, each with the number of executions
    executions      how many were complete
    text            all that the command printed: with the execution, one column per thread, and what would repair it
    data            the whole result

    bool() is whether nothing is wrong. A notebook shows the picture of the error.
    """

    def __init__(self, data, text, picture):
        self.data, self.text, self._picture = data, text, picture
        self.verdict, self.executions, self.errors = data["verdict"], data["executions"], data["errors"]
        self.outcomes = {o["outcome"]: o["executions"] for o in data.get("outcomes", ())}

    def __bool__(self):
        return self.verdict == "pass"

    def __repr__(self):
        error = f", error={self.errors[0]['kind']!r}" if self.errors else ""
        return f"<Exploration verdict={self.verdict!r}, executions={self.executions}{error}>"

    def __str__(self):
        return self.text

    def _repr_svg_(self):
        return self._picture

    def _repr_html_(self):
        return f"<div><pre>{html.escape(self.text)}</pre>{self._picture or ''}</div>"


def _missing():
    from shutil import which

    return [f"{tool} (package {package})" for tool, package in _TOOLS.items() if not which(tool)]


def _call(arguments):
    return subprocess.run([sys.executable, _PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace")


def _picture(report, folder):
    target = os.path.join(folder, "picture.svg")
    if _call(["--from", report, "--svg", target]).returncode or not os.path.exists(target):
        return None
    with open(target, encoding="utf-8") as file:
        return file.read()


def _refuse(result):
    text = result.stderr.strip() or result.stdout.strip()
    raise (InvalidError if result.returncode in (2, 5) else Error)(text or f"explore ended with {result.returncode}")


def explore(program, *flags, model="rc11", options=()):
    """Tries every execution of a C11 program with threads and atomics that the memory model allows, and returns an
    Exploration.

    program         the text of a C program, the path of one (an os.PathLike, or text that ends in .c), or a list of paths
    flags           for the compiler, as "-DN=2"
    model           "rc11" (C11), "tso", "sc"; docs/explore.md has all
    options         of the command, as ("--search", "--seconds", "5")

    Needs gcc and binutils on x86-64 Linux. The engine is compiled once, into the user's cache. Exceptions: InvalidError, with
    the messages of the compiler, and where the program does what is not modelled; ctrl-C ends the exploration.
    """
    missing = _missing()
    if missing:
        raise Error(f"explore needs {', '.join(missing)}; on Debian: apt-get install gcc binutils")
    with tempfile.TemporaryDirectory(prefix="lade-explore-") as folder:
        if isinstance(program, (list, tuple)):
            files = [os.fspath(path) for path in program]
        elif isinstance(program, str) and not program.endswith(".c"):
            files = [os.path.join(folder, "program.c")]
            with open(files[0], "w", encoding="utf-8") as file:
                file.write(program)
        else:
            files = [os.fspath(program)]
        report = os.path.join(folder, "report.json")
        result = _call(["--outcomes", "--json", report, "--model", model, *options, "--", *flags, *files])
        if result.returncode not in _RESULTS or not os.path.exists(report):
            _refuse(result)
        with open(report, encoding="utf-8", errors="replace") as file:
            data = json.load(file)
        return Exploration(data, result.stdout.replace(folder + "/", ""), _picture(report, folder) if data["errors"] else None)
