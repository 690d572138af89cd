#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lab/test/litmus.py LAB: the classical litmus tests in the lab's language, all orders varied.

Outcomes must equal herd7's under RC11 and SC, where it is there, and executions and outcomes those of verify/oracle/brute.py in all four models.
"""
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "verify/oracle"))
import brute  # noqa: E402
import program as generator  # noqa: E402

W, R = lambda x, v=1: ("store", x, v), lambda x: ("load", x)
TESTS = {
    "SB": [[W(0), R(1)], [W(1), R(0)]],
    "MP": [[W(0), W(1)], [R(1), R(0)]],
    "LB": [[R(0), W(1)], [R(1), W(0)]],
    "IRIW": [[W(0)], [W(1)], [R(0), R(1)], [R(1), R(0)]],
    "2+2W": [[W(0, 1), W(1, 2)], [W(1, 1), W(0, 2)]],
    "R": [[W(0), W(1, 1)], [W(1, 2), R(0)]],
    "S": [[W(0, 2), W(1)], [R(1), W(0, 1)]],
    "WRC": [[W(0)], [R(0), W(1)], [R(1), R(0)]],
    "CoRR": [[W(0, 1)], [R(0), R(0)]],
    "RWC": [[W(0)], [R(0), R(1)], [W(1), R(0)]],
}
WAYS = [("relaxed", "relaxed"), ("release", "acquire"), ("seq_cst", "seq_cst"), ("release", "relaxed"), ("relaxed", "acquire"), ("seq_cst", "acquire")]


def herd():
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    private = os.path.join(cache, "lade", "bin", "herd7")
    return shutil.which("herd7") or (private if os.access(private, os.X_OK) else None)


def with_orders(test, store, load):
    return [[ins + (store if ins[0] == "store" else load,) for ins in code] for code in test]


def as_lab(program):
    lines = ["atomic int %s;" % ", ".join("x%d" % x for x in generator.locations(program))]
    for code in program:
        words = ["store(x%d, %d, %s);" % ins[1:] if ins[0] == "store" else "r%d = load(x%d, %s);" % (i, *ins[1:]) for i, ins in enumerate(code)]
        lines.append("thread { %s }" % " ".join(words))
    return "\n".join(lines) + "\n"


def in_lab(lab, program, model, tmp):
    path = Path(tmp, "p.lab")
    path.write_text(as_lab(program))
    said = json.loads(subprocess.run([lab, model, path], stdout=subprocess.PIPE, text=True, check=True).stdout)
    return said["executions"], {tuple(int(part.split("=")[1]) for part in o["outcome"].split()) for o in said["outcomes"]}


def in_herd(tool, program, model, tmp):
    path = Path(tmp, "p.litmus")
    path.write_text(generator.as_litmus(program, "p"))
    r = subprocess.run([tool, "-model", model + ".cat", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    return generator.litmus_outcomes(program, r.stdout) if "Observation" in r.stdout else r.stdout[-300:]


def main():
    tool, passed, failed, asked = herd(), 0, 0, 0
    with tempfile.TemporaryDirectory() as tmp:
        for (name, test), way in itertools.product(TESTS.items(), WAYS):
            program = with_orders(test, *way)
            for model in ("rc11", "ra", "tso", "sc"):
                got, want = in_lab(sys.argv[1], program, model, tmp), brute.explore(program, None, model)
                good = got == want
                if tool and model in ("rc11", "sc") and way in WAYS[:3]:
                    asked += 1
                    good = good and in_herd(tool, program, model, tmp) == got[1]
                passed, failed = passed + good, failed + (not good)
                if not good:
                    print("%s %s %s: lab %s, reference %s" % (name, way, model, got, want))
    print("%d programs and models equal, %d differ, herd7 asked for %d" % (passed, failed, asked))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
