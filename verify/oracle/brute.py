# SPDX-License-Identifier: MIT
"""Brute-force reference for RC11 (Lahav, Vafeiadis, Kang, Hur, Dreyer, PLDI 2017; release sequences of C++20).

Every choice of which compare-exchanges succeed, of reads-from and of modification orders is tried, and the axioms are
checked as they are written. A relation over n events is a list of n bit sets: row a holds the b with (a, b). Nothing is
shared with the engine.
"""
from itertools import permutations, product

READ_ORDERS = {"relaxed": "relaxed", "acquire": "acquire", "release": "relaxed", "acq_rel": "acquire", "seq_cst": "seq_cst"}
WRITE_ORDERS = {"relaxed": "relaxed", "acquire": "relaxed", "release": "release", "acq_rel": "release", "seq_cst": "seq_cst"}


class Event:
    def __init__(self, kind, thread, loc=None, order=None, value=None, ins=None, rmw_read=None):
        self.kind, self.thread, self.loc, self.order, self.value = kind, thread, loc, order, value
        self.ins, self.rmw_read, self.spurious = ins, rmw_read, False


def relation(pairs, n):
    rows = [0] * n
    for a, b in pairs:
        rows[a] |= 1 << b
    return rows


def closure(r):
    r = list(r)
    for k, row in enumerate(r):
        row = r[k]
        for i in range(len(r)):
            if r[i] >> k & 1:
                r[i] |= row
    return r


def compose(p, q):
    out = []
    for row in p:
        got, b = 0, 0
        while row:
            if row & 1:
                got |= q[b]
            row >>= 1
            b += 1
        out.append(got)
    return out


def union(*relations):
    out = list(relations[0])
    for r in relations[1:]:
        for i, row in enumerate(r):
            out[i] |= row
    return out


def irreflexive(r):
    return not any(row >> i & 1 for i, row in enumerate(r))


def only(r, rows=-1, columns=-1):
    return [row & columns if rows >> i & 1 else 0 for i, row in enumerate(r)]


def identity(members, n):
    return [1 << i if members >> i & 1 else 0 for i in range(n)]


def members(events, test):
    return sum(1 << i for i, e in enumerate(events) if test(e))


def by_value(ins):
    """An instruction whose location depends on what an earlier load has read."""
    return ins[0] in ("load", "store") and isinstance(ins[1], tuple)


def locations(program):
    accesses = [i for code in program for i in code if i[0] not in ("fence", "lock", "unlock", "trylock")]
    locs = {i[1] for i in accesses if not by_value(i)} | {x for x in (0, 1) if any(map(by_value, accesses))}
    return sorted(locs) + ["m"] * any(i[0] in ("lock", "trylock") for code in program for i in code)


def settled(program, success, chosen):
    """The program when trylocks go as `success` states and locations are the chosen ones."""
    def settle(t, i, ins):
        if by_value(ins):
            return (ins[0], chosen[t, i]) + ins[2:]
        if ins[0] == "trylock":
            return ("lock",) if success[t, i] else ("load", "m", "relaxed")
        return ("nothing",) if ins[0] == "unlock" and ins[1:] and not success[t, ins[1]] else ins
    return [[settle(t, i, ins) for i, ins in enumerate(code)] for t, code in enumerate(program)]


def as_settled(program, events, success, chosen):
    """Whether the values agree with that."""
    value = {e.ins: e.value for e in events if e.ins}
    return all((value[k] == 0) == success[k] for k in success if program[k[0]][k[1]][0] == "trylock") and \
        all(value[t, program[t][i][1][1]] & 1 == x for (t, i), x in chosen.items())


def events_of(program, success, locs):
    """Events of the program when the compare-exchanges go as `success` states, and program order."""
    events = [Event("W", -1, x, None, 0) for x in locs]
    sb = []
    for t, code in enumerate(program):
        before = list(range(len(locs)))
        for i, ins in enumerate(code):
            new = []
            if ins[0] == "nothing":
                continue
            if ins[0] == "fence":
                new.append(Event("F", t, None, ins[1]))
            elif ins[0] == "load":
                new.append(Event("R", t, ins[1], ins[2], ins=(t, i)))
            elif ins[0] == "store":
                new.append(Event("W", t, ins[1], ins[3], ins[2]))
            elif ins[0] == "unlock":
                new.append(Event("W", t, "m", "release", 0))
            elif ins[0] == "lock":
                new.append(Event("R", t, "m", "acquire", ins=(t, i)))
                new.append(Event("W", t, "m", "relaxed", rmw_read=len(events)))
            elif ins[0] == "cas" and not success[t, i]:
                new.append(Event("R", t, ins[1], ins[5], ins=(t, i)))
            else:
                order = ins[4] if ins[0] == "cas" else ins[3]
                new.append(Event("R", t, ins[1], READ_ORDERS[order], ins=(t, i)))
                new.append(Event("W", t, ins[1], WRITE_ORDERS[order], rmw_read=len(events)))
            for e in new:
                n = len(events)
                events.append(e)
                sb += [(p, n) for p in before]
                before.append(n)
    return events, relation(sb, len(events))


def values(program, events, rf, order, wanted):
    """Computes values along program order and reads-from; False when they contradict what was chosen or is wanted."""
    for e in order:
        v = events[e]
        if v.kind == "R":
            v.value = events[rf[e]].value
            ins = program[v.ins[0]][v.ins[1]]
            if ins[0] == "lock" and v.value != 0 or v.value != wanted.get(v.ins, v.value):
                return False
            if ins[0] == "cas":
                writes = e + 1 < len(events) and events[e + 1].rmw_read == e
                equal = v.value == ins[2]
                if writes and not equal or not writes and equal and not ins[6]:
                    return False
                v.spurious = not writes and equal
        elif v.rmw_read is not None:
            r = events[v.rmw_read]
            ins = program[r.ins[0]][r.ins[1]]
            v.value = {"add": lambda: r.value + ins[2], "xchg": lambda: ins[2], "cas": lambda: ins[3], "lock": lambda: 1}[ins[0]]()
    return True


def happens_before(events, sb, rf):
    n = len(events)
    fences = members(events, lambda e: e.kind == "F")
    release = members(events, lambda e: e.order in ("release", "acq_rel", "seq_cst") and e.kind != "R")
    acquire = members(events, lambda e: e.order in ("acquire", "acq_rel", "seq_cst") and e.kind != "W")
    atomic = members(events, lambda e: e.kind == "W" and e.order)
    reads = members(events, lambda e: e.kind == "R")
    step = relation([(rf[e.rmw_read], w) for w, e in enumerate(events) if e.rmw_read is not None], n)
    rs = only(union(identity(atomic, n), closure(step)), atomic)
    head = union(identity(release & ~fences, n), only(sb, release & fences, atomic))
    tail = union(identity(acquire & ~fences, n), only(sb, reads, acquire & fences))
    sw = compose(compose(compose(head, rs), relation([(w, r) for r, w in rf.items()], n)), tail)
    return closure(union(sb, sw))


def coherent_orders(events, loc, hb, rf):
    """All modification orders of one location that satisfy coherence and atomicity, with mo, rb and eco."""
    n = len(events)
    writes = [e for e in range(n) if events[e].kind == "W" and events[e].loc == loc]
    reads = [r for r in rf if events[r].loc == loc]
    for rest in permutations(writes[1:]):
        line = (writes[0],) + rest
        place = {w: i for i, w in enumerate(line)}
        if any(place[w] != place[rf[events[w].rmw_read]] + 1 for w in line if events[w].rmw_read is not None):
            continue
        mo = relation([(a, b) for a in line for b in line if place[a] < place[b]], n)
        rb = relation([(r, w) for r in reads for w in line if place[rf[r]] < place[w]], n)
        eco = closure(union(mo, rb, relation([(rf[r], r) for r in reads], n)))
        if irreflexive(compose(hb, eco)) and irreflexive(eco):
            yield line, mo, rb, eco


def psc_acyclic(events, sb, hb, mo, rb, eco):
    n = len(events)
    sc = members(events, lambda e: e.order == "seq_cst")
    fences = members(events, lambda e: e.order == "seq_cst" and e.kind == "F")
    same = [members(events, lambda f: e.loc is not None and f.loc == e.loc) for e in events]
    other = [row & ~same[i] for i, row in enumerate(sb)]
    scb = union(sb, compose(compose(other, hb), other), [row & same[i] for i, row in enumerate(hb)], mo, rb)
    left = union(identity(sc, n), only(hb, fences))
    right = union(identity(sc, n), only(hb, -1, fences))
    base = compose(compose(left, scb), right)
    between = only(union(hb, compose(compose(hb, eco), hb)), fences, fences)
    return irreflexive(closure(union(base, between)))


def strengthen(program):
    """SC and TSO read every access as acquire and release; fences keep their order."""
    better = {"load": lambda i: i[:2] + ("acquire",), "store": lambda i: i[:3] + ("release",),
              "add": lambda i: i[:3] + ("acq_rel",), "xchg": lambda i: i[:3] + ("acq_rel",),
              "cas": lambda i: i[:4] + ("acq_rel", "acquire") + i[6:]}
    return [[better.get(ins[0], lambda i: i)(ins) for ins in code] for code in program]


def sc_acyclic(events, sb, rf, mo, rb):
    return irreflexive(closure(union(sb, relation([(w, r) for r, w in rf.items()], len(events)), mo, rb)))


def tso_acyclic(events, sb, rf, mo, rb, drains):
    """Program order holds but for a store and a later load, unless the store drains or the load is locked."""
    n = len(events)

    def kept(a, b):
        x, y = events[a], events[b]
        if any(e.kind == "F" and e.order != "seq_cst" for e in (x, y)):
            return False
        locked = b + 1 < n and events[b + 1].rmw_read == b
        return not (x.kind == "W" and y.kind == "R" and not locked and x.rmw_read is None and a not in drains)

    ppo = [sum(1 << b for b in range(n) if sb[a] >> b & 1 and kept(a, b)) for a in range(n)]
    rfe = relation([(w, r) for r, w in rf.items() if events[w].thread != events[r].thread], n)
    return irreflexive(closure(union(ppo, rfe, mo, rb)))


def topological(r):
    n = len(r)
    before = [sum(1 << a for a in range(n) if r[a] >> b & 1) for b in range(n)]
    done, out = 0, []
    while len(out) < n:
        free = [b for b in range(n) if not done >> b & 1 and not before[b] & ~done]
        if not free:
            return None
        out += free
        done |= sum(1 << b for b in free)
    return out


def waits_for_ever(events, rf, lines, stuck):
    """Has each iteration that is stuck read only newest values, and not what it waits for?"""
    newest = {line[-1] for line in lines}
    source = {events[r].ins: w for r, w in rf.items()}
    return all(all(source[i] in newest for i in reads) and any(events[source[i]].value != v for i, v in wanted.items())
               for reads, wanted in stuck)


def explore(program, limit=None, model="rc11", wanted=None, stuck=()):
    """(number of consistent executions, set of outcomes); None when there are more candidates than the limit.
    wanted: {(thread, instruction): value it must read}; stuck: (reads, wanted) of iterations that must not end."""
    wanted = wanted or {}
    where = [(t, i, ins) for t, code in enumerate(program) for i, ins in enumerate(code)]
    cas = [(t, i) for t, i, ins in where if ins[0] in ("cas", "trylock")]
    tried_locks = [(t, i) for t, i, ins in where if ins[0] == "trylock"]
    dependent, locs = [(t, i) for t, i, ins in where if by_value(ins)], locations(program)
    regs = [(t, i) for t, i, ins in where if ins[0] in ("load", "add", "xchg", "cas", "trylock")]
    count, outcomes, tried = 0, set(), 0
    original = program
    if model in ("sc", "tso"):
        program = strengthen(program)
    whole = program
    for flags in product(*[[False, True]] * len(cas), *[[0, 1]] * len(dependent)):
        success, chosen = dict(zip(cas, flags)), dict(zip(dependent, flags[len(cas):]))
        program = settled(whole, success, chosen)
        events, sb = events_of(program, success, locs)
        n = len(events)
        reads = [e for e in range(n) if events[e].kind == "R"]
        sources = [[w for w in range(n) if events[w].kind == "W" and events[w].loc == events[r].loc] for r in reads]
        strict = events_of(settled(original, success, chosen), success, locs)[0]
        drains = {e for e in range(n) if strict[e].kind == "W" and strict[e].order == "seq_cst"}
        size = 1
        for s in sources:
            size *= len(s)
        tried += size
        if limit and tried > limit:
            return None
        for choice in product(*sources):
            rf = dict(zip(reads, choice))
            order = topological(union(sb, relation([(w, r) for r, w in rf.items()], n)))
            if order is None or not values(program, events, rf, order, wanted) or not as_settled(whole, events, success, chosen):
                continue
            hb = happens_before(events, sb, rf)
            if not irreflexive(hb):
                continue
            for lines in product(*[list(coherent_orders(events, x, hb, rf)) for x in locs]):
                mo, rb, eco = (union(*[l[k] for l in lines]) for k in (1, 2, 3))
                if not {"rc11": lambda: psc_acyclic(events, sb, hb, mo, rb, eco), "ra": lambda: True,
                        "sc": lambda: sc_acyclic(events, sb, rf, mo, rb),
                        "tso": lambda: tso_acyclic(events, sb, rf, mo, rb, drains)}[model]():
                    continue
                if stuck and not waits_for_ever(events, rf, [l[0] for l in lines], stuck):
                    continue
                count += 1
                got = {events[r].ins: 100 if events[r].spurious else events[r].value for r in reads}
                got.update((k, int(success[k])) for k in tried_locks)
                outcomes.add(tuple([got[r] for r in regs] + [events[l[0][-1]].value for x, l in zip(locs, lines) if x != "m"]))
    return count, outcomes
