# SPDX-License-Identifier: MIT
"""Interleaved repetitions of measuring programs, and the state of the machine around them."""
import os
import pathlib
import platform
import re
import select
import shutil
import signal
import statistics
import subprocess
import tempfile
import time

# A repetition is disturbed, and repeated, when one of these does not hold. docs/bench.md explains why.
TRIP_FACTOR = 1.5  # line ping-pong before and after it, against the median of the comparison
SPEED_UP = 1.6  # of two null loops on two cores
SHARE = 0.9  # of the wall time in which the threads of a program that never sleeps had a core

BUDGET = (35, 210)  # seconds after which nothing is repeated: quick, full
SECONDS = (0.025, 0.08)  # that a candidate runs in a repetition


class Failure(Exception):
    """Nothing could be measured."""


def spread_of(values):
    """Median, extremes and quartiles."""
    ordered = sorted(values)
    quartiles = statistics.quantiles(ordered, n=4, method="inclusive") if len(ordered) > 1 else ordered * 3
    return {"median": statistics.median(ordered), "spread": [ordered[0], ordered[-1]],
            "quartiles": [quartiles[0], quartiles[2]]}


def promise(table, candidate, values, limit, sense, against=None):
    """The row that shows whether a promise was kept; against: the candidate that the values are ratios to."""
    row = {"case": table.case, "candidate": candidate, "threads": table.candidates[0].threads,
           "unit": "ratio" if against else table.unit, **spread_of(values), "promise": limit, "sense": sense,
           "unsteady": table.unsteady}
    if against:
        row["against"] = against
    row["value"] = row["median"]
    return judged(row)


def judged(row):
    """
    The row with its verdict: kept or missed, by the median. Where the machine was unsteady, a median beyond the limit shows
    something only if no repetition keeps the promise; otherwise the row is undecided.
    """
    least, most = row["spread"]
    at_least = row["sense"] == "at least"
    row["kept"] = row["value"] >= row["promise"] if at_least else row["value"] <= row["promise"]
    possible = most >= row["promise"] if at_least else least <= row["promise"]
    row["verdict"] = "kept" if row["kept"] else "undecided" if row["unsteady"] and possible else "missed"
    return row


def private(group):
    """The folder of a group in the private cache of tools/setup, when it is there."""
    cache = os.environ.get("LADE_CACHE")
    if not cache:
        cache = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "lade")
    folder = pathlib.Path(cache) / group
    return folder if (folder / ".done").exists() else None


class Candidate:
    """
    One program with its arguments. value(amount, seconds) turns its output into the figure that is compared.
    command takes the place of a program of the build folder; a session is a program that runs already.
    """

    def __init__(self, name, program, words, threads, sleeps=False, command=None, session=None):
        self.name, self.program, self.words = name, program, words
        self.threads, self.sleeps, self.command, self.session = threads, sleeps, command, session


class Session:
    """A program that prepares itself for long and then replies to lines with lines, until it is ended."""

    def __init__(self, bench, name, command):
        self.name, self.errors = name, tempfile.TemporaryFile("w+", errors="replace")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
                                        text=True, preexec_fn=bench.privilege)

    def wait(self, limit=80):
        """Until it is prepared. One that is not is ended."""
        try:
            self.answer(limit)
        except Failure:
            self.end()
            raise
        return self

    def answer(self, limit):
        ready, _, _ = select.select([self.process.stdout], [], [], limit)
        line = self.process.stdout.readline() if ready else ""
        if not line:
            self.process.kill()
            self.errors.seek(0)
            raise Failure(f"{self.name}: {self.errors.read().strip()[-300:] or 'it printed nothing'}")
        return line

    def ask(self, words, limit=20):
        try:
            self.process.stdin.write(" ".join(words) + "\n")
            self.process.stdin.flush()
        except OSError as error:
            raise Failure(f"{self.name}: has ended") from error
        return self.answer(limit)

    def end(self):
        """With the processes that it started."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except OSError:
            self.process.kill()
        self.process.communicate()


class Table:
    """A comparison: candidates measured alternately, `wanted` times each."""

    def __init__(self, case, title, unit, candidates, value, higher=True):
        self.case, self.title, self.unit = case, title, unit
        self.candidates, self.value, self.higher = candidates, value, higher
        self.rounds = []
        self.ratios = []  # of candidates' names: reported, not promised
        self.instructions = {}
        self.left_out = {}  # name of a candidate: why
        self.unsteady = ""

    def drop(self, candidate, reason):
        """A candidate that failed is out of the comparison, also of the repetitions that it did."""
        self.candidates = [c for c in self.candidates if c is not candidate]
        self.left_out[candidate.name] = reason
        if not self.candidates:
            raise Failure(reason)

    def used(self):
        """The repetitions that count: the undisturbed ones where there are enough of them, otherwise all."""
        clean = [r for r in self.rounds if not r["disturbed"]]
        return self.rounds if self.unsteady else clean

    def values(self, name):
        return [r["value"][name] for r in self.used()]

    def ratio(self, above, below):
        """Per repetition, above 1 when the first is better."""
        pairs = zip(self.values(above), self.values(below))
        return [a / b if self.higher else b / a for a, b in pairs]

    def best(self, names):
        pick = max if self.higher else min
        return pick(names, key=lambda name: statistics.median(self.values(name)))

    def has(self, name):
        return any(c.name == name for c in self.candidates)

    def state(self):
        return {"before": self.rounds[0]["before"], "after": self.rounds[-1]["after"]}

    def rows(self):
        rows = []
        for c in self.candidates:
            row = {"case": self.case, "candidate": c.name, "threads": c.threads, "unit": self.unit,
                   **spread_of(self.values(c.name)), "repetitions": len(self.used()), "unsteady": self.unsteady}
            row["value"] = row["median"]
            if c.name in self.instructions:
                row["instructions"] = self.instructions[c.name]
            rows.append(row)
        for above, below in self.ratios:
            if self.has(above) and self.has(below):
                row = {"case": self.case, "candidate": f"{above} / {below}", "threads": self.candidates[0].threads,
                       "unit": "ratio", **spread_of(self.ratio(above, below)), "unsteady": self.unsteady}
                row["value"] = row["median"]
                rows.append(row)
        return rows


class Bench:
    """Runs the programs of one folder."""

    def __init__(self, folder, quick, budget=BUDGET, seconds=SECONDS):
        self.folder, self.quick = folder, quick
        self.wanted = 5 if quick else 9
        self.seconds = seconds[0 if quick else 1]
        self.begin = time.monotonic()
        self.budget = budget[0 if quick else 1]
        self.states = []
        if not self.has("machine"):
            raise Failure(f"no measuring programs in {folder}")

    def program(self, name):
        return str(self.folder / ("bench_" + name))

    def has(self, name):
        return os.access(self.program(name), os.X_OK)

    def late(self):
        return time.monotonic() - self.begin > self.budget

    @staticmethod
    def privilege():
        """In the child. Where it is permitted, other programs then disturb less. Linux weighs sessions first."""
        try:
            os.setsid()
            with open("/proc/self/autogroup", "w", encoding="ascii") as file:
                file.write("-20")
        except OSError:
            pass
        try:
            os.setpriority(os.PRIO_PROCESS, 0, -20)
        except OSError:
            pass

    def call(self, command, limit):
        try:
            answer = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False,
                                    preexec_fn=self.privilege)
        except subprocess.TimeoutExpired as error:
            raise Failure(f"{os.path.basename(command[0])} did not end within {limit} s") from error
        if answer.returncode != 0:
            reason = answer.stderr.strip() or f"exit code {answer.returncode}"
            raise Failure(f"{' '.join([os.path.basename(command[0])] + command[1:])}: {reason}")
        return answer

    def state(self):
        trip, speed_up = self.call([self.program("machine")], 20).stdout.split()
        state = {"pingpong_ns": float(trip), "speedup": float(speed_up), "load": round(os.getloadavg()[0], 2)}
        self.states.append(state)
        return state

    def run(self, candidate):
        words = [*candidate.words, str(self.seconds)]
        if candidate.session:
            candidate.session.ask(words)  # not counted: the system takes back the memory of programs that were idle
            answer = candidate.session.ask(words)
        else:
            answer = self.call([*(candidate.command or [self.program(candidate.program)]), *words], 60).stdout
        try:
            amount, seconds, share = answer.split()
        except ValueError as error:
            raise Failure(answer.strip()) from error
        return int(amount), float(seconds), float(share)

    def round(self, table, number):
        """One repetition: each candidate once, beginning with another one each time."""
        before = self.states[-1] if self.states else self.state()
        value, share = {}, 1.0
        shift = number % len(table.candidates)
        order = table.candidates[shift:] + table.candidates[:shift]
        for c in order:
            try:
                amount, seconds, got = self.run(c)
            except Failure as failure:
                table.drop(c, str(failure))
                continue
            value[c.name] = table.value(amount, seconds)
            if not c.sleeps:
                share = min(share, got)
        return {"before": before, "after": self.state(), "value": value, "share": share, "disturbed": ""}

    @staticmethod
    def judge(table):
        """Marks the repetitions in which the machine was not what it was in the others."""
        ends = ("before", "after")
        trip = statistics.median(r[end]["pingpong_ns"] for r in table.rounds for end in ends)
        pair = max(c.threads for c in table.candidates) > 1
        for r in table.rounds:
            factor = max(max(r[end]["pingpong_ns"] / trip, trip / r[end]["pingpong_ns"]) for end in ends)
            r["disturbed"] = ""
            if pair and factor > TRIP_FACTOR:
                r["disturbed"] = "ping-pong changed"
            elif pair and min(r[end]["speedup"] for end in ends) < SPEED_UP:
                r["disturbed"] = "cores not side by side"
            elif pair and r["share"] < SHARE:
                r["disturbed"] = "other programs ran"

    def measure(self, table, wanted=None):
        """Repeats until enough repetitions were undisturbed, or too many were tried."""
        wanted = wanted or self.wanted
        self.state()
        while True:
            table.rounds.append(self.round(table, len(table.rounds)))
            if len(table.rounds) < wanted:
                continue
            self.judge(table)
            disturbed = [r["disturbed"] for r in table.rounds if r["disturbed"]]
            if len(table.rounds) - len(disturbed) >= wanted:
                return
            if len(table.rounds) >= 2 * wanted or self.late():
                table.unsteady = f"{len(disturbed)} of {len(table.rounds)} repetitions disturbed: " + ", ".join(
                    sorted(set(disturbed)))
                return

    def count_instructions(self, table, few=20000, many=60000):
        """Instructions per amount by callgrind: the difference of two runs, so that start and end do not count."""
        if self.quick or not shutil.which("valgrind"):
            return
        for c in table.candidates:
            counts = []
            for amount in (few, many):
                with tempfile.TemporaryDirectory() as folder:
                    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out",
                               self.program(c.program), *c.words, "0", str(amount)]
                    try:
                        found = re.search(r"Collected : (\d+)", self.call(command, 60).stderr)
                    except Failure:
                        found = None
                if found:
                    counts.append(int(found.group(1)))
            if len(counts) == 2:
                table.instructions[c.name] = round((counts[1] - counts[0]) / (many - few), 1)

    def machine(self):
        """What the figures depend on, for the JSON file."""
        model = ""
        try:
            with open("/proc/cpuinfo", encoding="utf-8") as file:
                model = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "")
        except OSError:
            pass
        return {"processor": model, "architecture": platform.machine(), "cores": len(os.sched_getaffinity(0)),
                "system": platform.system() + " " + platform.release(),
                "pingpong_ns": spread_of([s["pingpong_ns"] for s in self.states]),
                "speedup": spread_of([s["speedup"] for s in self.states]), "load": spread_of(
                    [s["load"] for s in self.states]), "states": self.states}
