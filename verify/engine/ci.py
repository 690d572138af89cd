# SPDX-License-Identifier: MIT
"""Several programs, each explored by itself, for continuous integration: SARIF, JUnit, Markdown, annotations, pictures; and --watch."""
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from xml.sax.saxutils import quoteattr

WORDS = {0: "pass", 2: "not built", 3: "bound", 4: "internal error", 5: "not modelled", 6: "vacuous", 42: "error"}
REPORTS = ("--sarif", "--junit", "--summary", "--pictures")
LIVE = "LADE_EXPLORE_LIVE"  # in the environment with --watch: a page looks whether it has changed
POLL = 0.3  # seconds between two checks of the files


class Row:
    """One program: its result as JSON (empty where there is none), its output, its picture."""

    def __init__(self, file, code, data, text, picture):
        self.file, self.code, self.data, self.text, self.picture = file, code, data, text, picture

    @property
    def verdict(self):
        return self.data.get("verdict") or WORDS.get(self.code, "exit code %d" % self.code)

    @property
    def error(self):
        return (self.data.get("errors") or [None])[0] if self.code == 42 else None

    def line(self, name):
        return next((t[len(name) + 2:] for t in self.text.splitlines() if t.startswith(name + ": ")), "")

    def message(self):
        """What went wrong and what repairs it; of a program without a result, what the wrapper printed last."""
        if not self.error:
            return (self.text.strip().splitlines() or [self.verdict])[-1]
        fix = self.line("fix")
        return "%s: %s%s" % (self.error["kind"], self.error["message"], "; fix: " + fix if fix else "")


def explore(script, options, flags, file, pictures):
    """The row of one program."""
    with tempfile.TemporaryDirectory() as tmp:
        out, picture = tmp + "/result.json", None
        if pictures:
            os.makedirs(pictures, exist_ok=True)
            picture = os.path.join(pictures, re.sub(r"[^\w.-]", "-", os.path.splitext(file)[0]) + ".svg")
        command = [sys.executable, script, *options, "--json", out, *(["--svg", picture] if picture else []), "--", *flags, file]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        data = {}
        if os.path.exists(out):
            with open(out, errors="replace") as f:
                data = json.load(f)
    return Row(file, done.returncode, data, done.stdout, picture if picture and os.path.exists(picture) else None)


def place(file):
    """Relative to where CI has checked out, as its services want it."""
    path = os.path.relpath(file)
    return file if path.startswith("..") else path.replace(os.sep, "/")


def spot(where, text=None):
    out = {"physicalLocation": {"artifactLocation": {"uri": place(where["file"])}, "region": {"startLine": max(where["line"], 1)}}}
    if text:
        out["message"] = {"text": text}
    return out


def sarif(rows):
    results = []
    for row in rows:
        if row.code in (0, 42) and not row.error:
            continue
        where = row.error if row.error and row.error.get("file") else {"file": row.file, "line": 1}
        result = {"ruleId": row.error["kind"] if row.error else row.verdict.replace(" ", "-"), "level": "error" if row.code in (42, 2, 4) else "warning",
                  "message": {"text": row.message()}, "locations": [spot(where)]}
        other = row.error and row.error.get("other")
        if other and other.get("file"):
            result["relatedLocations"] = [spot(other, other.get("text", "the other access"))]
        results.append(result)
    rules = [{"id": name} for name in sorted({r["ruleId"] for r in results})]
    return {"version": "2.1.0", "$schema": "https://json.schemastore.org/sarif-2.1.0.json", 
            "runs": [{"tool": {"driver": {"name": "explore", "rules": rules}}, "results": results}]}


def clean(text):
    return "".join(c for c in text if c in "\n\t" or c >= " ")


def junit(rows):
    bad = [row for row in rows if row.code]
    out = ['<?xml version="1.0" encoding="UTF-8"?>', '<testsuite name="explore" tests="%d" failures="%d">' % (len(rows), len(bad))]
    for row in rows:
        out.append("  <testcase name=%s classname=\"explore\" time=\"%.3f\">" % (quoteattr(row.file), row.data.get("seconds", 0)))
        if row.code:
            out.append("    <failure type=%s message=%s>%s</failure>" % (
                quoteattr(row.verdict), quoteattr(clean(row.message())), quoteattr(clean(row.text))[1:-1]))
        if row.picture:
            out.append("    <properties><property name=\"picture\" value=%s/></properties>" % quoteattr(row.picture))
        out.append("  </testcase>")
    return "\n".join(out + ["</testsuite>", ""])


def cell(text):
    return " ".join(text.split()).replace("|", "\\|")


def summary(rows):
    out = ["| program | verdict | executions | where | what |", "| --- | --- | --- | --- | --- |"]
    for row in rows:
        where = "%s:%d" % (place(row.error["file"]), row.error["line"]) if row.error and row.error.get("file") else ""
        what = row.message() if row.code else ""
        out.append("| %s |" % " | ".join(cell(str(c)) for c in (place(row.file), row.verdict, row.data.get("executions", ""), where, what)))
    return "\n".join(out) + "\n"


def annotation(row):
    """What GitHub turns into a red mark on the line."""
    def escaped(text, more=""):
        for c in "%\r\n" + more:
            text = text.replace(c, "%%%02X" % ord(c))
        return text
    where = row.error if row.error and row.error.get("file") else {"file": row.file, "line": 1}
    return "::error file=%s,line=%d,title=%s::%s" % (escaped(place(where["file"]), ":,"), max(where["line"], 1), escaped("explore: " + row.verdict, ":,"),
                                                     escaped(row.message()))


def each(script, options, args, reports):
    """Explores every FILE among the arguments as a separate program; returns the exit code."""
    files = [a for a in args if a.endswith((".c", ".cc", ".cpp", ".cxx"))]
    flags = [a for a in args if a not in files]
    if not files:
        sys.stderr.write("explore: --each: no FILE.c\n")
        return 2
    rows = []
    for file in files:
        rows.append(explore(script, options, flags, file, reports.get("--pictures")))
        print("%-12s %s%s" % (rows[-1].verdict, file, "  " + rows[-1].message() if rows[-1].code else ""), flush=True)
        if rows[-1].code and os.environ.get("GITHUB_ACTIONS"):
            print(annotation(rows[-1]))
    texts = {"--sarif": lambda: json.dumps(sarif(rows), indent=1) + "\n", "--junit": lambda: junit(rows), "--summary": lambda: summary(rows)}
    for name, make in texts.items():
        target = reports.get(name) or (os.environ.get("GITHUB_STEP_SUMMARY") if name == "--summary" else None)
        if target:
            with open(target, "a" if target == os.environ.get("GITHUB_STEP_SUMMARY") else "w", encoding="utf-8") as f:
                f.write(make())
    print("%d passed, %d failed, 0 skipped" % (sum(not r.code for r in rows), sum(bool(r.code) for r in rows)))
    return 42 if any(r.code == 42 for r in rows) else max(r.code for r in rows)


def sources(compiler, args):
    """The files of the arguments and what they include, but for system headers."""
    files = [a for a in args if os.path.isfile(a)]
    done = subprocess.run([compiler, "-MM", *[a for a in args if not a.startswith(("-l", "-L", "-Wl,"))]], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True)
    return sorted(set(files) | {w for w in re.sub(r"\\\n", " ", done.stdout).split() if os.path.isfile(w)})


def stamps(files):
    return [(f, os.path.exists(f) and os.stat(f).st_mtime_ns) for f in files]


def watch(script, compiler, argv, args, rounds=None):
    """Runs the command again whenever a source changes, until it is interrupted."""
    while rounds is None or rounds > 0:
        files = sources(compiler, args)
        before = stamps(files)
        print("\033[2J\033[H" if sys.stdout.isatty() else "", end="", flush=True)
        subprocess.run([sys.executable, script, *argv], env={**os.environ, LIVE: "1"})
        print("explore: waits for a change of %d files" % len(files), flush=True)
        rounds = rounds and rounds - 1
        while rounds != 0 and stamps(files) == before:
            time.sleep(POLL)
    return 0
