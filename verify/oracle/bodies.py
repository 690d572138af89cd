# SPDX-License-Identifier: MIT
"""Random programs with waiting loops and retry loops whose bodies access shared data.

One thread signals. Another one, the reader, waits for the signal, or runs a compare-exchange retry loop; the body of its
loop reads data. It signals back, and then data are stored to or freed. The accesses of an iteration that failed are ordered
before that only if the orders are strong enough. Orders, loops, bodies, further accesses and further threads are random, so
that a third to a half of the programs have an error, many of them only through an iteration that failed.

A statement is a string, or a loop (text before the body, statements of the body, text after it). All variables are declared
in HEADER and at the start of a thread, so that a program compiles whatever statement is left out (smaller()).
"""
import re

HEADER = """#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#define LD(x, o) atomic_load_explicit(&(x), memory_order_##o)
#define ST(x, v, o) atomic_store_explicit(&(x), v, memory_order_##o)
#define XCHG(x, v, o) atomic_exchange_explicit(&(x), v, memory_order_##o)
#define ADD(x, v, o) atomic_fetch_add_explicit(&(x), v, memory_order_##o)
#define CAS(x, e, v, o, f) atomic_compare_exchange_strong_explicit(&(x), &(e), v, memory_order_##o, memory_order_##f)
#define FENCE(o) atomic_thread_fence(memory_order_##o)
static atomic_int x, y, z, w, taken = 1, top = 2; /* top: a stack of nodes 2 and 1 */
static int d, a[2], own[3], ready, next[4] = {0, 0, 1, 2}, r[3][2];
static struct { atomic_int h; int f; } *p;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int look(const int *q) { return *q; }
"""
LOADS, FENCES = ["relaxed", "acquire", "seq_cst"], ["acquire", "release", "acq_rel", "seq_cst"]
FAILURES = {"relaxed": ["relaxed"], "release": ["relaxed"], "acquire": ["relaxed", "acquire"], "acq_rel": ["relaxed", "acquire"],
            "seq_cst": LOADS}
STORED = r"\b(d|a\[1\]|next\[[123]\]) = "


class Maker:
    def __init__(self, rng):
        self.rng = rng
        self.strong = rng.choice([1, 1, 1, 0.8, 0.6])  # share of signals and waits that synchronise
        self.calm = rng.random() < 0.75                # few accesses besides those of iterations that fail
        self.frees = rng.random() < 0.4                # else the heap block stays, and plain data change
        self.stores = not self.frees or rng.random() < 0.1
        self.retries = rng.random() < 0.3
        self.data = rng.choice(["d", "d", "a[1]"] + ["next[1]", "next[2]"] * self.retries)
        flags = rng.sample(["x", "y", "z"] + ["p->h"] * (not self.calm or not self.frees), 2)
        self.place = rng.choice([[(flags[0], 1), (flags[1], 1)]] * 3 + [[(flags[0], 2), (flags[1], 1)], [("x", 1), ("x", 2)]])
        self.kind = [rng.choices(["flag", "lock", "mutex"], [10, 1, 0.5])[0] for _ in range(2)]

    def maybe(self, share):
        return self.rng.random() < share

    def acquires(self):
        return self.rng.choice(["acquire", "acquire", "seq_cst"]) if self.maybe(self.strong) else "relaxed"

    def releases(self):
        return self.rng.choice(["release", "release", "seq_cst"]) if self.maybe(self.strong) else "relaxed"

    def cas(self, x, e, v):
        success = self.rng.choice(["acquire", "acq_rel", "seq_cst"] if self.maybe(self.strong) else ["relaxed", "release"])
        fail = FAILURES[success]
        return "CAS(%s, %s, %s, %s, %s)" % (x, e, v, success, fail[-1] if self.maybe(0.5) else self.rng.choice(fail))

    # ---- accesses ----

    def load(self, to):
        """Mostly of what another thread frees or stores to."""
        if self.maybe(0.7 if self.frees else 0.1):
            return "u = LD(p->h, %s);" % self.rng.choice(LOADS) if self.maybe(0.4) else "%s = p->f;" % to
        return ("%s = look(&%s);" if self.maybe(0.15) else "%s = %s;") % (to, self.data if self.maybe(0.8) else "a[u & 1]")

    def store(self):
        return "%s = %d;" % (self.data, self.rng.randint(1, 2))

    def in_body(self, to):
        kind = self.rng.choices(["load", "if", "other", "same", "fence", "store", "own"], [2, 3, 8, 1, 1, 0.4, 0.4])[0]
        other, o = self.rng.choice(["w", "w", "top", "x"]), self.rng.choice(LOADS)
        if kind == "load":
            return self.load(to)
        if kind == "if":
            return "u = LD(%s, %s); if (u%s) %s" % (other, o, self.rng.choice(["", " == 1", " > 1"]), self.load(to))
        if kind == "other":
            return self.rng.choice(["u = LD(%s, %s);", "(void)LD(%s, %s);", "b[LD(%s, %s) & 1] = u;"]) % (other, o)
        if kind == "same":
            return "u = %s;" % to
        if kind == "fence":
            return "FENCE(%s);" % self.rng.choice(FENCES)
        return self.store() if kind == "store" and self.stores else "own[ID] = u;"

    def body(self, to):
        out = [self.in_body(to) for _ in range(self.rng.choice([0, 1, 1, 2, 2]))]
        return out + [self.load(to)] * self.maybe(0.85)

    def accesses(self):
        return [access for access, share in (
            (self.load("v"), 0.2), (self.store(), 0.06 * self.stores), ("u = LD(w, %s);" % self.rng.choice(LOADS), 0.06),
            ("ST(w, %d, %s);" % (self.rng.randint(1, 2), self.releases()), 0.1)) if self.maybe(share * (0.2 if self.calm else 1))]

    def free(self):
        self.frees = False  # once: GenMC does not notice when two threads free it
        return [self.rng.choice(["", "", "", "if (u) "] + ["if (t == 2) "] * 2 * self.retries) + "free(p);"]

    # ---- signals and loops ----

    def signal(self, number):
        kind, (x, v) = self.kind[number], self.place[number]
        if kind == "mutex":
            return ["pthread_mutex_lock(&m); ready = 1; pthread_mutex_unlock(&m);"]
        o = self.releases()
        if kind == "lock":
            return ["ST(taken, 0, %s);" % o]
        if o == "release" and self.maybe(0.2):
            return ["FENCE(release);", "ST(%s, %d, relaxed);" % (x, v)]
        if self.maybe(0.15):
            return ["%s(%s, %d, %s);" % ("XCHG" if v > 1 else "ADD", x, v, o)]
        early = ["ST(%s, 1, %s);" % (x, self.releases())] * (v == 2 and number == 0)
        return early + ["%sST(%s, %d, %s);" % ("if (t == 2) " if self.retries and self.maybe(0.3) else "", x, v, o)]

    def wait(self, number):
        kind, (x, v) = self.kind[number], self.place[number]
        o, body = self.acquires(), self.body("t")
        if kind == "mutex":
            return [self.rng.choice([("do { pthread_mutex_lock(&m); s = ready;", body, "pthread_mutex_unlock(&m); } while (!s);"),
                                     ("do { pthread_mutex_lock(&m); s = ready; pthread_mutex_unlock(&m);", body, "} while (!s);")])]
        if kind == "lock":
            return [self.rng.choice([("while (XCHG(taken, 1, %s)) {" % o, body, "}"),
                                     ("while (LD(taken, relaxed) || XCHG(taken, 1, %s)) {" % o, body, "}"),
                                     ("while (XCHG(taken, 1, %s)) while (LD(taken, relaxed)) {" % o, body, "}"),
                                     ("do {", body, "} while (XCHG(taken, 1, %s));" % o),
                                     ("e = 0; while (!%s) {" % self.cas("taken", "e", 1), body, "e = 0; }")])]
        fence = o == "acquire" and self.maybe(0.2)
        ld, again = "LD(%s, %s)" % (x, "relaxed" if fence else o), "LD(%s, %s)" % (x, self.rng.choice(LOADS))
        loops = [
            ("while (%s != %d) {" % (ld, v), body, "}"),
            ("while (%s < %d) {" % (ld, v), body, "}"),
            ("for (;;) { s = %s; if (s == %d) break;" % (ld, v), body, "}"),
            ("for (;;) { s = %s; if (s >= %d) break; if (s == %d) {" % (ld, v, v - 1), body, "} }"),
            ("while (%s != %d || LD(w, %s) == 2) {" % (ld, v, self.rng.choice(LOADS)), body, "}"),
            ("while (LD(w, %s) == 2 || %s != %d) {" % (self.rng.choice(LOADS), ld, v), body, "}"),
            ("e = %d; while (!%s) {" % (v, self.cas(x, "e", self.rng.choice([v, v + 4]))), body, "e = %d; }" % v),
            ("while (ADD(%s, 0, %s) < %d) {" % (x, o, v), body, "}"),
            ("do {", body, "} while (%s != %d);" % (ld, v)),
            ("do { s = %s;" % ld, body, "} while (s < %d);" % v),
            ("do { s = %s;" % ld, body, "} while (s < %d || %s != s);" % (v, again)),
        ]
        loop = self.rng.choice(loops[:8] if self.calm else loops)
        return [loop] + ["FENCE(acquire);"] * fence

    def retry(self, _):
        """Takes the top node off the stack, or puts node 3 on it; t is the node."""
        o, after, body = self.acquires(), self.rng.choice(["next[t & 3]"] * 3 + ["p->f"]), self.body("v")
        pop, push = self.cas("top", "t", after), self.cas("top", "t", 3)
        return [self.rng.choice([
            ("t = LD(top, %s); while (t && !%s) {" % (o, pop), body, "}"),
            ("t = LD(top, %s); while (t && !%s) {" % (o, pop), [], "}"),
            ("for (;;) { t = LD(top, %s); if (!t) break; s = %s; if (%s) break;" % (o, after, self.cas("top", "t", "s")), body, "}"),
            ("t = LD(top, %s); while (t && !%s) {" % (o, pop), body, "t = LD(top, %s); }" % self.acquires()),
            ("t = LD(top, %s); do { next[3] = t;" % o, body, "} while (!%s);" % push)])]

    # ---- threads ----

    def conflict(self):
        return self.free() if self.frees else [self.store()]

    def waits(self, number):
        """Mostly a loop; else a look whether the signal is there. Then the conflict."""
        if self.maybe(0.8) or self.kind[number] != "flag":
            return self.wait(number) + self.conflict()
        x, v = self.place[number]
        return ["if (LD(%s, %s) == %d) %s" % (x, self.acquires(), v, " ".join(self.conflict()))]

    def program(self):
        maybe, early = self.maybe, self.stores and self.place[0][1] == 2  # the reader may read data once it sees 1
        reader = (self.retry if self.retries else self.wait)(0) + self.accesses()
        first = [self.store()] * (early and maybe(0.3)) + self.accesses() + (self.retry(0) if self.retries and maybe(0.5) else [])
        first += self.signal(0) + self.accesses()
        if self.calm:
            self.strong = self.rng.choice([1, 1, 0.3])  # what follows the loop
        second = self.waits(1) if self.calm or maybe(0.9) else self.conflict()
        code = [reader, first + second] if maybe(0.6) or (self.calm and self.retries) else [reader, first, second]
        if len(code) < 3 and maybe(0.12):  # the signal does not come from the reader
            code.append(self.signal(1))
        else:
            reader += self.signal(1) + self.accesses()
        if len(code) < 3 and maybe(0.2 if self.calm else 0.4):
            code.append(self.accesses() if maybe(0.5) else self.wait(self.rng.randrange(2)) + self.accesses())
        self.rng.shuffle(code)
        for t in code:
            if maybe(0.05):
                t.append("assert(%s);" % self.rng.choice(["t == 0", "u < 2", "t <= v", "v != 1"]))
            t.append(" ".join("r[ID][%d] = %s;" % (i, x) for i, x in enumerate(self.rng.sample("stuv", 2)) if maybe(0.8)))
        return [[s for s in t if s] for t in code]


def generate(rng):
    """A list of threads, each a list of statements; at least one has a loop."""
    while True:
        program = Maker(rng).program()
        if all(program) and any(isinstance(s, tuple) for t in program for s in t):
            return program


def lines(statements, indent):
    for s in statements:
        if isinstance(s, str):
            yield indent + s
        else:
            yield indent + s[0]
            yield from lines(s[1], indent + "    ")
            yield indent + s[2]


def as_c(program, name):
    """A function `name` that runs the program and prints what the threads read; it goes after HEADER."""
    out, text = [], repr(program)
    for t, code in enumerate(program):
        out.append("static void *%s_t%d(void *arg)\n{\n    int s = 0, t = 0, u = 0, v = 0, e = 0, b[2] = {0, 0};" % (name, t))
        out += [line.replace("ID", str(t)) for line in lines(code, "    ")]
        out.append("    return arg;\n}")
    out.append("int %s(void)\n{\n    pthread_t t[3];\n    p = malloc(sizeof *p);\n    atomic_init(&p->h, 0);\n    p->f = 1;" % name)
    out += ["    pthread_create(&t[%d], NULL, %s_t%d, NULL);" % (t, name, t) for t in range(len(program))]
    out += ["    pthread_join(t[%d], NULL);" % t for t in range(len(program))]
    out.append('    printf("out %d %d %d %d %d %d %d\\n", r[0][0], r[0][1], r[1][0], r[1][1], r[2][0], r[2][1], LD(top, relaxed));')
    out.append("%s    return 0;\n}" % ("" if "free" in text else "    free(p);\n"))
    return "\n".join(out) + "\n"


def kinds(program):
    """The kinds of errors that the program may have: with one only, judges must agree on it."""
    return [k for k, sign in (("memory", "free"), ("assertion", "assert"), ("race", STORED)) if re.search(sign, repr(program))]


def events(program, rounds):
    """How many events a thread, or main, has at most when loops run this often."""
    def count(statements):
        return sum(len(re.findall(r"(LD|ST|FENCE|unlock)\(", s)) + 2 * len(re.findall(r"(XCHG|ADD|CAS|_lock)\(", s)) if isinstance(s, str)
                   else rounds * count([s[0], s[2]] + s[1]) for s in statements)
    return max([2 * len(program) + 4] + [count(code) + 3 for code in program])


def smaller(program):
    """Each program with one statement less."""
    for t, code in enumerate(program):
        for i, s in enumerate(code):
            yield program[:t] + [code[:i] + code[i + 1:]] + program[t + 1:]
            for k in range(len(s[1]) if isinstance(s, tuple) else 0):
                yield program[:t] + [code[:i] + [(s[0], s[1][:k] + s[1][k + 1:], s[2])] + code[i + 1:]] + program[t + 1:]
