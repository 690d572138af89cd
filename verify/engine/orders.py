# SPDX-License-Identifier: MIT
"""Repair and audit: other memory orders for the atomic calls of a built program, tried by running it.

A slot is one order of one call: (file, line, column, "order" or "failure_order"). An assignment maps slots to orders; slots that
it does not name keep the program's own. A stronger assignment allows fewer executions and orders more of them, so what
passes under an assignment passes under all stronger ones. The search relies on that.
"""
import difflib
import heapq
import itertools
import json
import os
import re
import subprocess
import tempfile
import time

PARTS = {"relaxed": "", "consume": "a", "acquire": "a", "release": "r", "acq_rel": "ar", "seq_cst": "ars"}
COST = {"relaxed": 0, "acquire": 1, "release": 1, "acq_rel": 2, "seq_cst": 3}
KINDS = {"load": ("relaxed", "acquire", "seq_cst"), "store": ("relaxed", "release", "seq_cst")}
ALL = ("relaxed", "acquire", "release", "acq_rel", "seq_cst")  # of everything else
PASSES = ("pass", "weaker")


class Stopped(Exception):
    """No result: a bound, something that is not modelled, too many runs."""


def stronger(a, b):
    """a is b or stronger."""
    return set(PARTS[a]) >= set(PARTS[b])


def below(order, kinds):
    """One step weaker."""
    weaker = [o for o in kinds if o != order and stronger(order, o)]
    return [o for o in weaker if not any(p != o and stronger(p, o) for p in weaker)]


class Program:
    def __init__(self, path, options, seconds):
        self.path, self.options = path, options
        self.end = time.monotonic() + seconds
        self.kinds = {}  # slot: orders that it may have
        self.own = {}  # slot: its order in the program
        self.several = set()  # (file, line, column) of calls that were executed with more than one order
        self.known = {}

    def run(self, assignment):
        """The result as JSON; new slots are noted."""
        key = frozenset(assignment.items())
        if key in self.known:
            return self.known[key]
        left = self.end - time.monotonic()
        if left <= 0:
            raise Stopped("no time is left")
        calls = {}
        for (file, line, column, which), order in assignment.items():
            calls.setdefault((file, line, column), {})[which] = order
        rules = []
        for (file, line, column), orders in sorted(calls.items()):
            rules += ["--order", "%s:%d:%d=%s%s" % (file, line, column, orders.get("order", ""),
                                                    "," + orders["failure_order"] if "failure_order" in orders else "")]
        with tempfile.TemporaryDirectory() as tmp:
            out = os.path.join(tmp, "result.json")
            r = subprocess.run([self.path, "--quiet", "--timeout", "%.3f" % left] + self.options + rules + ["--json", out],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            if not os.path.exists(out):
                raise Stopped(r.stderr.strip() or "exit code %d" % r.returncode)
            with open(out) as f:
                result = json.load(f)
        if result["verdict"] not in PASSES + ("error",):
            raise Stopped({"bound": "a bound cuts the exploration"}.get(result["verdict"], "the program is " + result["verdict"]))
        for site in result["sites"]:
            self.note(site)
        self.known[key] = result
        return result

    def note(self, site):
        call = (site["file"], site["line"], site["column"])
        if site["several"]:
            self.several.add(call)
        for which in ("order", "failure_order"):
            slot = call + (which,)
            if which not in site or site["weakened"]:
                continue
            order = "acquire" if site[which] == "consume" else site[which]
            if self.own.setdefault(slot, order) != order:
                self.several.add(call)
            if slot not in self.kinds:
                self.kinds[slot] = KINDS["load"] if which == "failure_order" else KINDS.get(site["op"], ALL)

    def passes(self, assignment):
        return self.run(assignment)["verdict"] in PASSES


def strongest(program):
    """Every slot that any run shows with the strongest order; None if that fails too."""
    while True:
        top = {slot: "seq_cst" for slot in program.own}
        if program.passes(top):
            if len(top) == len(program.own):
                return top
        elif len(top) == len(program.own):
            return None


def repair(program):
    """The cheapest assignment, stronger than the program's own, that passes; {} if that passes, None if there is none."""
    if program.passes({}):
        return {}
    top = strongest(program)
    if top is None:
        return None
    slots = sorted(top)
    # With all others at their strongest, this slot needs at least one of these.
    allowed = {s: [o for o in program.kinds[s] if stronger(o, program.own[s]) and program.passes({**top, s: o})] for s in slots}
    least = [[o for o in allowed[s] if not any(p != o and stronger(o, p) for p in allowed[s])] for s in slots]
    failed, seen, heap = [], set(), []

    def add(orders):
        if orders not in seen:
            seen.add(orders)
            heapq.heappush(heap, (sum(COST[o] for o in orders), orders))

    for orders in itertools.product(*least):
        add(orders)
    while heap:
        orders = heapq.heappop(heap)[1]
        if not any(all(stronger(f, o) for f, o in zip(bad, orders)) for bad in failed):
            if program.passes({s: o for s, o in zip(slots, orders) if o != program.own[s]}):
                return {s: o for s, o in zip(slots, orders) if o != program.own[s]}
            failed.append(orders)
        for i, s in enumerate(slots):
            for o in allowed[s]:
                if o != orders[i] and stronger(o, orders[i]):
                    add(orders[:i] + (o,) + orders[i + 1:])
    if len(program.own) > len(slots):
        return repair(program)  # a call that only some of these runs execute
    return None


def cost(program, assignment):
    return sum(COST[assignment.get(s, program.own[s])] for s in program.own)


# ---- what a person sees ----

def name(slot, path=True):
    file, line, column, which = slot
    return "%s:%d:%d%s" % (file if path else os.path.basename(file), line, column, " on failure" if which == "failure_order" else "")


def sentence(program, assignment):
    return "; ".join("%s %s instead of %s" % (name(s, False), o, program.own[s]) for s, o in sorted(assignment.items()))


def arguments(text, start):
    """(from, to) of each argument of the call that begins at start; [] if there is none."""
    m = re.compile(r"[\w.>\-]*\s*\(").match(text, start)
    out, depth, begin = [], 1, m.end() if m else 0
    for i in range(begin, len(text) if m else 0):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if not depth or (depth == 1 and text[i] == ","):
            out.append((begin, i))
            begin = i + 1
        if not depth:
            return out
    return []


TOKEN = re.compile(r"\s*((?:std::)?memory_order(?:_|::)\w+|__ATOMIC_[A-Z_]+)\s*$")
PREFIX = re.compile(r"__ATOMIC_|.*memory_order(?:_|::)")


def change(text, position, slots, assignment):
    """The text with the orders of one call replaced, or None where they are not literal arguments of it."""
    which = [w for w in ("order", "failure_order") if any(s[3] == w for s in slots)]
    literal = [a for a in arguments(text, position) if TOKEN.match(text[a[0]:a[1]])]
    if len(literal) < len(which):
        return None
    for slot in sorted(slots, key=lambda s: s[3]):  # the failure order first: it comes last
        at = literal[-1] if slot[3] == "failure_order" or len(literal) == 1 else literal[-2]
        if slot in assignment:
            old = TOKEN.match(text[at[0]:at[1]])
            prefix = PREFIX.match(old.group(1)).group()
            new = prefix + (assignment[slot].upper() if prefix == "__ATOMIC_" else assignment[slot])
            text = text[:at[0] + old.start(1)] + new + text[at[0] + old.end(1):]
    return text


def edits(program, assignment):
    """{file: (text, text with the orders)}, and a line for each change that cannot be made in the text."""
    texts, rest = {}, []
    for call in sorted({slot[:3] for slot in assignment}, reverse=True):  # from the end, so that positions stay
        file, line, column = call
        if file not in texts:
            try:
                with open(file) as f:
                    texts[file] = (f.read(),) * 2
            except OSError:
                texts[file] = ("", "")
        before, after = texts[file]
        starts = [0] + [m.end() for m in re.finditer("\n", before)]
        slots = [s for s in program.own if s[:3] == call]
        new = change(after, starts[line - 1] + column - 1, slots, assignment) if line <= len(starts) else None
        if new is None:
            rest += ["%s: %s instead of %s\n" % (name(s), assignment[s], program.own[s]) for s in slots if s in assignment]
        else:
            texts[file] = (before, new)
    return texts, rest


def diff(program, assignment):
    """The changes as a unified diff, then those that cannot be made in the text."""
    texts, out = edits(program, assignment)
    for file, (before, after) in sorted(texts.items(), reverse=True):
        out[:0] = difflib.unified_diff(before.splitlines(True), after.splitlines(True), "a/" + file.lstrip("/"), "b/" + file.lstrip("/"))
    return "".join(out)


NOTHING = "no memory order repairs it: it fails with every atomic access seq_cst, too"


def print_repair(program):
    """Prints the repair; returns the exit code."""
    try:
        assignment = repair(program)
    except Stopped as e:
        print("repair: none found: %s" % e)
        return 3
    if assignment is None:
        print("repair: " + NOTHING)
        return 42
    if not assignment:
        print("repair: nothing to repair")
        return 0
    print("repair: " + sentence(program, assignment))
    print(diff(program, assignment), end="")
    return 0


def audit(program):
    """[(slot, own order, weaker order, counterexample or None, why there is no verdict or None)] of every slot that was executed."""
    rows = []
    for slot in sorted(program.own):
        for order in below(program.own[slot], program.kinds[slot]):
            errors, why = [], None
            try:
                errors = program.run({slot: order})["errors"]
            except Stopped as e:
                why = str(e)
            rows.append((slot, program.own[slot], order, errors[0] if errors else None, why))
    return rows


def judgement(error, why):
    if why:
        return "undecided: " + why
    if error:
        return "needed: %s at %s:%d" % (error["kind"], os.path.basename(error["file"] or "?"), error["line"])
    return "not needed by this program"


def print_audit(program, file):
    try:
        if not program.passes({}):
            error = program.run({})["errors"][0]
            print("audit: the program is wrong as it is: %s at %s:%d" % (error["kind"], error["file"], error["line"]))
            return 42
        rows = audit(program)
    except Stopped as e:
        print("audit: %s" % e)
        return 3
    for slot, own, order, error, why in rows:
        print("%-40s %-8s -> %-8s %s" % (name(slot), own, order, judgement(error, why)))
    for call in sorted(program.several):
        print("%s:%d:%d is executed with several orders; audited with the first only" % call)
    undecided = sum(r[4] is not None for r in rows)
    print("audit: %d orders, %d weaker ones tried, %d needed%s" % (
        len(program.own), len(rows), sum(r[3] is not None for r in rows), ", %d undecided" % undecided if undecided else ""))
    if file:
        with open(file, "w") as f:
            json.dump({"audit": [{"file": s[0], "line": s[1], "column": s[2], "which": s[3], "order": own, "weaker": order,
                                  "error": error and error["kind"], "undecided": why} for s, own, order, error, why in rows]}, f, indent=1)
    return 3 if undecided else 0
