# SPDX-License-Identifier: MIT
"""Runs GenMC's own test programs through both checkers and compares.

The tests are not part of this project: DIR is the folder tests/ of a GenMC source tree. A test is a folder with
variants/*.c, and optionally args.rc11.mo.in with one line "checker options | compiler options" per configuration.
"""
import glob
import os
import re
import subprocess
import time

EXPLORE = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "explore")
VACUOUS = 6  # explore: every execution failed an assume, which GenMC calls no errors and no executions
ALIKE = ["--disable-sr", "--disable-ipr", "--disable-bam"]


def run(command, seconds):
    start = time.time()
    try:
        r = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds, errors="replace")
    except subprocess.TimeoutExpired:
        return None, "", seconds
    return r.returncode, r.stdout, time.time() - start


def genmc(source, flags, options, seconds):
    code, out, t = run(["genmc", "--rc11", "--disable-estimation", "--disable-mm-detector"] + options + ["--"] + flags +
                       [source], seconds)
    m = re.search(r"complete executions explored: (\d+)", out)
    return {"code": code, "executions": int(m.group(1)) if m else None, "seconds": t, "out": out}


def explore(source, flags, options, seconds):
    code, out, t = run([EXPLORE, "--timeout", str(seconds)] + options + ["--"] + flags + [source], seconds + 20)
    m = re.search(r"^executions: (\d+)", out, re.M)
    k = re.search(r"^error: ([\w-]+)", out, re.M)
    return {"code": code, "executions": int(m.group(1)) if m else None, "seconds": t, "out": out,
            "kind": k.group(1) if k else None}


def configurations(folder):
    path = os.path.join(folder, "args.rc11.mo.in")
    lines = [line.rstrip("\n") for line in open(path)] if os.path.exists(path) else [""]
    for line in lines or [""]:
        left, _, right = line.partition("|")
        for source in sorted(glob.glob(folder + "/variants/*.c")):
            yield source, left.split(), right.split()


def correct(directory, seconds=20):
    """Yields one row per configuration: name, both results, and whether the counts are equal or cannot be compared."""
    include = os.path.join(os.path.dirname(os.path.realpath(__file__)), "compat")
    for folder in sorted(glob.glob(directory + "/*/")):
        for source, checker, flags in configurations(folder):
            text = " ".join(checker)
            name = os.path.basename(folder[:-1]) + ("" if not flags else " " + " ".join(flags)) + " " + os.path.basename(source)
            row = {"name": name, "skip": None, "equal": False}
            if "race-detection" in text:
                row["skip"] = "race detection off"
            elif "unroll" in text:
                row["skip"] = "cut by --unroll, which explore does not have"
            if row["skip"]:
                yield row
                continue
            flags = [f.replace("./tests", os.path.join(directory, "..", "..")) for f in flags]
            row["genmc"] = g = genmc(source, flags, checker + ALIKE, seconds)
            row["explore"] = e = explore(source, ["-w", "-include", "stdint.h", "-I", include] + flags,
                                         ["--genmc", "--no-leaks", "--no-liveness", "--no-uninit"], seconds)
            if g["code"] is None and e["code"] == 3:
                row["skip"] = "both out of time"
            elif g["code"] is None:
                row["skip"] = "GenMC out of time, explore %s" % e["executions"]
            elif g["code"] not in (0, 42):
                row["skip"] = "GenMC does not take it"
            elif e["code"] in (2, 5) and "__VERIFIER_" in e["out"]:
                row["skip"] = "uses GenMC's own interface"
            elif e["code"] == 5:
                row["skip"] = "explore refuses it: " + (re.findall(r"^error: unsupported: (.*)$", e["out"], re.M) or [""])[0]
            row["equal"] = g["code"] == 0 and e["code"] in (0, VACUOUS) and g["executions"] == e["executions"]
            yield row


# Folders of wrong programs that are about something explore does not have.
OTHER = {"fs": "files", "lkmm": "the Linux kernel's model", "helper": "GenMC's helping annotations", "saver": "GenMC's helping annotations"}


def wrong(directory, seconds=20):
    """Yields (name, what explore reports, is it an error) for each wrong program; None instead where it is not run."""
    include = os.path.join(os.path.dirname(os.path.realpath(__file__)), "compat")
    for folder in sorted(glob.glob(directory + "/*/*/")):
        part, name = folder[:-1].split(os.sep)[-2:]
        for source in sorted(glob.glob(folder + "/variants/*.c")):
            label = "%s/%s %s" % (part, name, os.path.basename(source))
            if part in OTHER:
                yield label, "about " + OTHER[part], None
                continue
            e = explore(source, ["-w", "-include", "stdint.h", "-I", include], ["--genmc", "--no-leaks"], seconds)
            said = e["out"].strip().splitlines()
            yield label, e["kind"] or (said[-1] if e["code"] in (2, 5) and said else "exit code %s" % e["code"]), e["code"] == 42
