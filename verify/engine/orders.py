# SPDX-License-Identifier: MIT
"""Repair and audit: other memory orders for the atomic calls of a built program, tried by running it.

A slot is one order of one call: (file, line, column, "order" or "failure_order", callers). The callers are (file, line, column)
of the calls that lead to a call in a wrapper function, innermost first; () in other functions. A wrapper is known by an argument
that the file declares as a memory_order, or by several orders with which its call is executed. An assignment maps slots to
orders; slots that it does not name keep the program's own. A stronger assignment allows fewer executions and orders more of
them, so what passes under an assignment passes under all stronger ones. The search relies on that.
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


DEPTH = 3  # callers that the engine reports (engine.h)
SEVERAL = "several orders through more than %d functions" % DEPTH
UNDECIDED = 7  # exit code of an audit


class Stopped(Exception):
    """No result: a bound, something that is not modelled, too many runs."""


class Split(Exception):
    """A slot has become several: a call with one order so far was executed with another one, by another caller."""


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
        self.several = set()  # slots with more than one order, although they have all callers that are known
        self.sites = {}  # (file, line, column): {callers: {which: orders}}
        self.ops = {}  # (file, line, column): its kind
        self.functions = {}  # (file, line, column): the function that it is in
        self.known = {}
        self.texts = {}

    def run(self, assignment):
        """The result as JSON; new slots are noted."""
        key = frozenset(assignment.items())
        if key in self.known:
            return self.known[key]
        left = self.end - time.monotonic()
        if left <= 0:
            raise Stopped("no time is left")
        with tempfile.TemporaryDirectory() as tmp:
            out = os.path.join(tmp, "result.json")
            r = subprocess.run([self.path, "--quiet", "--timeout", "%.3f" % left] + self.options + rules(assignment) + ["--json", out],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            if not os.path.exists(out):
                raise Stopped(r.stderr.strip() or "exit code %d" % r.returncode)
            with open(out) as f:
                result = json.load(f)
        if result["verdict"] not in PASSES + ("error",):
            raise Stopped({"bound": "a bound cuts the exploration"}.get(result["verdict"], "the program is " + result["verdict"]))
        self.known[key] = result
        for site in result["sites"]:
            self.note(site)
        before = self.own
        self.find_slots()
        if any(slot not in self.own for slot in before):
            raise Split()
        return result

    def note(self, site):
        call = (site["file"], site["line"], site["column"])
        callers = [(c["file"], c["line"], c["column"]) for c in site["callers"]]
        found = self.sites.setdefault(call, {}).setdefault(tuple(callers + [None] * (DEPTH - len(callers))), {})
        self.ops[call], self.functions[call] = site["op"], site["function"]
        for which in ("order", "failure_order"):
            if "own_" + which in site:
                order = site["own_" + which]
                found.setdefault(which, set()).add("acquire" if order == "consume" else order)
                if site["several"]:
                    found[which].add("several")

    def find_slots(self):
        """The slots of all calls that any run has executed, from as few callers as distinguish their orders."""
        self.own, self.several = {}, set()
        for call, chains in self.sites.items():
            for extra in range(DEPTH + 1):
                slots = {}
                for callers, found in chains.items():
                    depth = min(DEPTH, extra + self.passed(call, callers))
                    for which, orders in found.items():
                        slots.setdefault(call + (which, callers[:depth]), set()).update(orders)
                if all(len(orders) == 1 for orders in slots.values()):
                    break
            for slot, orders in slots.items():
                several = len(orders) > 1
                self.several |= {slot} if several else set()
                self.own[slot] = "relaxed" if several else min(orders)
                self.kinds[slot] = ("relaxed", "seq_cst") if several else KINDS["load"] if slot[3] == "failure_order" else KINDS.get(self.ops[call], ALL)

    def text(self, file):
        if file not in self.texts:
            try:
                with open(file, errors="replace") as f:
                    self.texts[file] = f.read()
            except OSError:
                self.texts[file] = ""
        return self.texts[file]

    def passed(self, call, callers):
        """How many of the callers pass the order on, in an argument that is a memory_order by its declaration."""
        for depth, place in enumerate((call,) + callers):
            text = self.text(place[0]) if place else ""
            at = offset(text, place) if place else None
            words = [text[a:b].strip() for a, b in arguments(text, at)] if at is not None else []
            if not any(re.search(r"memory_order\s+%s\b" % w, text) for w in words if re.fullmatch(r"\w+", w)):
                return depth
        return DEPTH

    def wrapped(self, slot):
        """The slots of each caller of a function with no other atomic call; [] where there is only one."""
        call, callers = slot[:3], slot[4]
        function = (slot[0], self.functions[call])
        alone = sum((c[0], f) == function for c, f in self.functions.items()) == 1
        longer = {c[:len(callers) + 1] for c in self.sites[call] if c[:len(callers)] == callers}
        return sorted(slot[:4] + (c,) for c in longer) if alone and len(callers) < DEPTH and len(longer) > 1 and None not in {c[-1] for c in longer} else []

    def settled(self, assignment):
        """The result, whatever it shows about other slots."""
        try:
            return self.run(assignment)
        except Split:
            return self.run(assignment)

    def passes(self, assignment):
        return self.run(assignment)["verdict"] in PASSES


def position(place):
    return "%s:%d:%d" % place if place else ""


def rules(assignment):
    """The options with which the engine changes these orders. It takes the first rule that fits: more callers first."""
    calls, out = {}, []
    for slot, order in assignment.items():
        calls.setdefault((slot[4], slot[:3]), {})[slot[3]] = order
    for (callers, call), orders in sorted(calls.items(), key=lambda c: (-len(c[0][0]), str(c[0]))):
        out += ["--order", "%s=%s%s" % ("<".join(map(position, (call,) + callers)), orders.get("order", ""),
                                        "," + orders["failure_order"] if "failure_order" in orders else "")]
    return out


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
    while True:
        try:
            return cheapest(program)
        except Split:
            pass  # what has been run is known


def cheapest(program):
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
        return cheapest(program)  # a call that only some of these runs execute
    return None


def cost(program, assignment):
    return sum(COST[assignment.get(s, program.own[s])] for s in program.own)


# ---- what a person sees ----

def name(slot, path=True):
    places = [position((p[0] if path else os.path.basename(p[0]),) + p[1:]) if p else "a thread's start" for p in (slot[:3],) + slot[4]]
    return " from ".join(places) + (" on failure" if slot[3] == "failure_order" else "")


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


def offset(text, place):
    """Of a place in the text of its file, or None."""
    starts = [0] + [m.end() for m in re.finditer("\n", text)]
    return starts[place[1] - 1] + place[2] - 1 if place[1] <= len(starts) else None


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
    texts, rest, places = {}, [], {}
    for slot in program.own:
        places.setdefault((slot[4] or (slot[:3],))[-1], []).append(slot)  # where its order is written
    # From the end, so that positions stay.
    for place in sorted((p for p, slots in places.items() if any(s in assignment for s in slots)), key=lambda p: p or ("", 0, 0), reverse=True):
        file, slots = place[0] if place else "", places[place]
        before, after = texts.setdefault(file, (program.text(file),) * 2)
        at = offset(before, place) if place else None
        one = len({s[:3] + s[4:] for s in slots}) == 1  # not several calls that take the order from there
        new = change(after, at, slots, assignment) if one and at is not None else None
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
    """[(slot, own order, weaker order, counterexample or None, why there is no verdict or None)] of every slot that was executed.
    After an order of a wrapper come its callers, each by itself, where the order is needed."""
    program.passes({})
    rows, work = [], []
    for slot in sorted(program.own, key=str):
        work.append((slot, slot))
        work += [(part, slot) for part in program.wrapped(slot)]
    own, kinds, several, needed = program.own, dict(program.kinds), program.several, set()
    for slot, whole in work:  # of the program as it is: what only weakened ones execute is no part of it
        if slot in several:
            rows.append((slot, "several", "weaker", None, SEVERAL))
        for order in below(own[whole], kinds[whole]) if slot not in several and (slot == whole or whole in needed) else []:
            errors, why = [], None
            try:
                errors = program.settled({slot: order})["errors"]
            except Stopped as e:
                why = str(e)
            needed |= {slot} if errors else set()
            rows.append((slot, own[whole], order, errors[0] if errors else None, why))
    return rows


def judgement(error, why):
    if why:
        return "undecided: " + why
    if error:
        return "needed: %s at %s:%d" % (error["kind"], os.path.basename(error["file"] or "?"), error["line"])
    return "not needed by this program"


def entry(row):
    """A row for JSON."""
    slot, own, order, error, why = row
    callers = [dict(zip(("file", "line", "column"), c)) if c else None for c in slot[4]]
    return {"file": slot[0], "line": slot[1], "column": slot[2], "which": slot[3], "callers": callers, "order": own, "weaker": order,
            "error": error and error["kind"], "counterexample": error, "undecided": why}


def print_audit(program, file, show):
    """Prints the rows; or, of the one with this number, only returns its assignment. Otherwise returns the exit code."""
    try:
        if not program.passes({}):
            error = program.run({})["errors"][0]
            print("audit: the program is wrong as it is: %s at %s:%d" % (error["kind"], error["file"], error["line"]))
            return 42
        rows = audit(program)
    except Stopped as e:
        print("audit: %s" % e)
        return 3
    if file:
        with open(file, "w") as f:
            json.dump({"audit": [entry(r) for r in rows]}, f, indent=1)
    if show:
        if not show.isdecimal() or not 0 < int(show) <= len(rows) or not rows[int(show) - 1][3]:
            print("audit: no row %s with a counterexample" % show)
            return 2
        return {rows[int(show) - 1][0]: rows[int(show) - 1][2]}
    for number, (slot, own, order, error, why) in enumerate(rows, 1):
        print("%3d  %-40s %-8s -> %-8s %s" % (number, name(slot), own, order, judgement(error, why)))
    undecided = sum(r[4] is not None for r in rows)
    parts = [r for r in rows if r[0] not in program.own]
    print("audit: %d orders, %d weaker ones tried, %d needed%s%s" % (
        len(program.own), sum(r[0] in program.own and r[0] not in program.several for r in rows),
        sum(r[0] in program.own and r[3] is not None for r in rows),
        "; at single callers %d tried, %d needed" % (len(parts), sum(r[3] is not None for r in parts)) if parts else "",
        ", %d undecided" % undecided if undecided else ""))
    return UNDECIDED if undecided else 0
