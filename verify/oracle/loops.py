# SPDX-License-Identifier: MIT
"""Waiting loops: what explore leaves out must not matter. Three kinds of programs.

random: threads of random instructions, some of which are loops that read, fence, exchange or compare-exchange until they
read the wanted values. In a complete execution only the last iteration of such a loop counts, and it reads what is
wanted: the brute-force reference counts those. It also reports whether some execution waits forever.

protocols: locks, handshakes, barriers and chains written with WAIT. As a loop and as an assumption they must have the
same executions and outcomes.

loops whose iterations leave something behind, next to a writer (source): the set of outcomes must be the same whether
waiting loops are blocked when they repeat (the default) or run up to a bound on events (--no-spin).
"""
import itertools

import brute
from program import ORDERS

HEAD = """#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
static atomic_int x, y;
static int r[3];
#define LOAD(p) atomic_load_explicit(&p, memory_order_acquire)
#define STORE(p, v) atomic_store_explicit(&p, v, memory_order_release)
static int get(atomic_int *p) { return atomic_load_explicit(p, memory_order_acquire); }
static void update(int *p) { *p = LOAD(y); }
static void update_some(int *p) { int q = LOAD(y); if (q) *p = q; }
static int wait_for(int v, int *last) { int n; while ((n = LOAD(x)) != v) *last = n; return n; }
"""
WRITERS = ["STORE(x, 1); STORE(y, 1); STORE(x, 2);", "STORE(y, 1); STORE(x, 1); STORE(y, 2); STORE(x, 2);", "STORE(x, 2); STORE(y, 2);"]
LOOPS = [
    "while (LOAD(x) < 2) ; r[0] = LOAD(y);",
    "int a, b; do { a = LOAD(x); b = LOAD(y); } while (a != b); r[0] = a; r[1] = b;",
    "int s, v; do { s = LOAD(x); v = LOAD(y); } while ((s & 1) || s != LOAD(x)); r[0] = s; r[1] = v;",
    "int o; do { o = LOAD(x); } while (!atomic_compare_exchange_weak(&x, &o, o + 10)); r[0] = o;",
    "int p = -1, v; while (1) { v = LOAD(x); if (v == p) break; p = v; } r[0] = v; r[1] = LOAD(y);",
    "int t = 9; while (LOAD(x) < 2) { t = LOAD(y); } r[0] = t;",
    "int a[2] = {9, 9}; while (LOAD(x) < 2) { a[LOAD(y) & 1] = LOAD(y); } r[0] = a[0]; r[1] = a[1];",
    "int last = 9; while (get(&x) != 2) last = get(&y); r[0] = last;",
    "int t = 9; while (LOAD(x) < 2) update(&t); r[0] = t;",
    "int t = 9; while (LOAD(x) < 2) update_some(&t); r[0] = t;",
    "int l = 9; wait_for(2, &l); r[0] = l;",
    "int a = 0, b = 0; for (;;) { a = LOAD(x); if (a == 2) break; if (a == 1) { b = LOAD(y); continue; } } r[0] = a; r[1] = b;",
    "int a = 0, b = 0; for (;;) { int c = LOAD(x); if (c == 2) { r[2] = b; break; } b = a; a = c; } r[0] = a; r[1] = b;",
    "struct { int u, v; } s = {9, 9}, t = {8, 8}; while (LOAD(x) < 2) { t = s; s.u = LOAD(y); } r[0] = s.u; r[1] = t.u; r[2] = t.v;",
    "int q = 5; int *w = &q; while (LOAD(x) < 2) { *w = LOAD(y); } r[0] = q;",
    "int e = 0; while (!atomic_compare_exchange_strong(&x, &e, 7)) { if (e == 2) break; e = 0; } r[0] = e;",
    "int o = LOAD(x); while (!atomic_compare_exchange_weak_explicit(&x, &o, o + 10, memory_order_acq_rel, memory_order_relaxed)) ; r[0] = o;",
    "long k = 0; while (LOAD(x) < 2) { k = (k << 2) | (long)LOAD(y); if (k > 60) break; } r[0] = (int)k;",
    "bool f = false; while (LOAD(x) < 2) { f = LOAD(y) != 0; } r[0] = f;",
    "double d = 1; while (LOAD(x) < 2) { d = LOAD(y) * 0.5; } r[0] = (int)(d * 2);",
    "int i = 0, v[3] = {9, 9, 9}; while (LOAD(x) < 2) { v[i] = LOAD(y); i = (i + 1) % 3; } r[0] = v[0]; r[1] = v[1]; r[2] = i;",
    "unsigned char c = 9; while (LOAD(x) < 2) { c = (unsigned char)LOAD(y); } r[0] = c;",
    "int t = 9; goto in; again: t = LOAD(y); in: if (LOAD(x) < 2) goto again; r[0] = t;",
    "int t = 9, u; while ((u = LOAD(x)) < 2) { switch (u) { case 0: t = LOAD(y); break; case 1: t = 7; break; default: t = 3; } } r[0] = t;",
    "int t = 1; while (LOAD(x) < 2) { t = LOAD(y) ? t : 1 - t; } r[0] = t;",
    "int a = LOAD(y) + LOAD(x) * LOAD(y); while (LOAD(x) < 2) a = LOAD(y) * 10 + LOAD(y); r[0] = a;",
    "int n = 0; while (atomic_exchange(&y, 5) != 5 && n < 3) n++; r[0] = n;",
    "while (atomic_exchange(&y, 2) != 2) ; r[0] = LOAD(x);",
]


def source():
    """(C text, names of the entry functions): each loop with each writer, the writer first or last"""
    out, names = [HEAD], []
    for (i, loop), (k, writer) in itertools.product(enumerate(LOOPS), enumerate(WRITERS)):
        n = "l%d_%d" % (i, k)
        out.append("static void *%s_w(void *arg)\n{\n    %s\n    return arg;\n}\nstatic void *%s_l(void *arg)\n{\n    %s\n    return arg;\n}\n"
                   % (n, writer, n, loop))
        for first, last in ("wl", "lw"):
            names.append(n + first)
            out.append("int %s(void)\n{\n    pthread_t t, u;\n    pthread_create(&t, NULL, %s_%s, NULL);\n    pthread_create(&u, NULL, %s_%s, NULL);\n"
                       "    pthread_join(t, NULL);\n    pthread_join(u, NULL);\n"
                       '    printf("%%d %%d %%d %%d", r[0], r[1], r[2], LOAD(x));\n    return 0;\n}\n' % (n + first, n, first, n, last))
    out.append("int main(void)\n{\n    return 0;\n}\n")
    return "".join(out), names


# ---- random programs ----

LOCK = 2  # this location is 0 or 1: taken by exchanges and compare-exchanges, given back by stores of 0


def order(rng, kind):
    return rng.choice(ORDERS[kind])


def load(rng, x):
    return ("load", x, order(rng, "load"))


def body_of_loop(rng):
    """(instructions, {which of them: the value it waits for})"""
    x, y, v, u = rng.randrange(2), rng.randrange(2), rng.randint(0, 2), rng.randint(0, 2)
    kind = rng.choices(["load", "both", "side", "fence", "cas", "lock", "test-and-set"], [6, 2, 2, 1, 2, 2, 2])[0]
    if kind == "load":
        return [load(rng, x)], {0: rng.randint(1, 2)}
    if kind == "both":
        return [load(rng, x), load(rng, 1 - x)], {0: v, 1: u}
    if kind == "side":
        return rng.choice([([load(rng, y), load(rng, x)], {1: v}), ([load(rng, x), load(rng, y)], {0: v})])
    if kind == "fence":
        return [load(rng, x), ("fence", order(rng, "fence"))], {0: rng.randint(1, 2)}
    if kind == "cas":
        return [("cas", x, v, 3, order(rng, "rmw"), order(rng, "load"), False)], {0: v}
    if kind == "lock":
        return [("cas", LOCK, 0, 1, order(rng, "rmw"), order(rng, "load"), False)], {0: 0}
    return [("xchg", LOCK, 1, order(rng, "rmw"))], {0: 0}


def one(rng):
    x = rng.randrange(2)
    kind = rng.choices(["load", "store", "add", "fence"], [3, 6, 1, 1])[0]
    if kind == "load":
        return load(rng, x)
    if kind == "store":
        return ("store", x, rng.randint(1, 2), order(rng, "store"))
    return ("add", x, 1, order(rng, "rmw")) if kind == "add" else ("fence", order(rng, "fence"))


def generate(rng):
    """(program, loops as program.as_c takes them)"""
    threads = rng.choice([2, 2, 3, 3, 4])
    program, loops = [[] for _ in range(threads)], []
    waits = {rng.randrange(threads) for _ in range(rng.randint(1, 3))}
    for t, code in enumerate(program):
        parts = [[one(rng)] for _ in range(rng.randint(0 if t in waits else 1, 2))]
        if t in waits:
            at = rng.randint(0, len(parts))
            instructions, wanted = body_of_loop(rng)
            first = at
            loops.append((t, first, first + len(instructions) - 1, {first + i: v for i, v in wanted.items()}))
            parts.insert(at, instructions)
            if instructions[0][1] == LOCK and rng.random() < 0.9:
                parts.append([("store", LOCK, 0, order(rng, "store"))])
        code += [ins for part in parts for ins in part]
    return program, loops


def iteration_that_fails(ins):
    """A compare-exchange that fails only loads; an exchange that puts back what it read changes nothing."""
    if ins[0] == "cas":
        return ("load", ins[1], ins[5])
    return ("load", ins[1], brute.READ_ORDERS[ins[3]]) if ins[0] == "xchg" else ins


def reference(program, loops, limit, model):
    """(executions, outcomes, can it wait forever), or None when that takes too long."""
    wanted = {(t, i): v for t, _, _, w in loops for i, v in w.items()}
    complete = brute.explore(program, limit, model, wanted=wanted)
    if not complete:
        return None
    for chosen in itertools.product([False, True], repeat=len(loops)):
        if not any(chosen):
            continue
        cut, stuck, rest = list(program), [], dict(wanted)
        for (t, first, last, w), here in zip(loops, chosen):
            if here:
                cut[t] = program[t][:first] + [iteration_that_fails(ins) for ins in program[t][first:last + 1]]
                stuck.append(([(t, i) for i in range(first, last + 1) if cut[t][i][0] == "load"], {(t, i): v for i, v in w.items()}))
                for i in w:
                    del rest[t, i]
        found = brute.explore(cut, limit, model, wanted=rest, stuck=stuck)
        if not found:
            return None
        if found[0]:
            return complete + (True,)
    return complete + (False,)


# ---- protocols ----

PROTOCOL_HEAD = """#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdint.h>
void __VERIFIER_assume(_Bool);
#ifdef ASSUME
#define WAIT(c) __VERIFIER_assume(c)
#else
#define WAIT(c) while (!(c))
#endif
static atomic_int x, y, z, f[8];
static int r[8], plain;
#define ACQ(p) atomic_load_explicit(&p, memory_order_acquire)
#define RLX(p) atomic_load_explicit(&p, memory_order_relaxed)
#define REL(p, v) atomic_store_explicit(&p, v, memory_order_release)
#define SET(p, v) atomic_store_explicit(&p, v, memory_order_relaxed)
static inline int cas(atomic_int *p, int e, int d)
{
    return atomic_compare_exchange_strong_explicit(p, &e, d, memory_order_acquire, memory_order_relaxed);
}
"""
# Name, does it ever wait forever, then what each thread does; id is its number.
PROTOCOLS = [
    ("ticket", False, 4, "int m = atomic_fetch_add_explicit(&x, 1, memory_order_relaxed); WAIT(ACQ(y) == m); r[m] = id; plain++; REL(y, m + 1);"),
    ("ticket_twice", False, 2, "for (int i = 0; i < 2; i++) { int m = atomic_fetch_add_explicit(&x, 1, memory_order_relaxed); "
     "WAIT(ACQ(y) == m); r[m] = id; plain++; REL(y, m + 1); }"),
    ("ticket_lost", True, 3, "int m = atomic_fetch_add_explicit(&x, 1, memory_order_relaxed); WAIT(ACQ(y) == m); r[m] = id; if (id) REL(y, m + 1);"),
    ("up", False, 4, "WAIT(ACQ(x) == id); r[id] = RLX(y); SET(y, id + 5); REL(x, id + 1);"),
    ("down", False, 4, "WAIT(ACQ(x) == 3 - id); r[id] = RLX(y); SET(y, id + 5); REL(x, 4 - id);"),
    ("flags_up", False, 4, "if (id) WAIT(ACQ(f[id - 1])); r[id] = RLX(x); SET(x, id + 1); REL(f[id], 1);"),
    ("flags_down", False, 4, "if (id < 3) WAIT(ACQ(f[id + 1])); r[id] = RLX(x); SET(x, id + 1); REL(f[id], 1);"),
    ("flags_relaxed", False, 3, "if (id) WAIT(RLX(f[id - 1])); r[id] = RLX(x); SET(x, id + 1); SET(f[id], 1);"),
    ("flags_relaxed_down", False, 3, "if (id < 2) WAIT(RLX(f[id + 1])); r[id] = RLX(x); SET(x, id + 1); SET(f[id], 1);"),
    ("ring", True, 3, "WAIT(ACQ(f[(id + 2) % 3])); REL(f[id], 1);"),
    ("ping", False, 2, "for (int i = 0; i < 3; i++) { WAIT(ACQ(x) == 2 * i + id); r[id] = r[id] * 10 + RLX(y); SET(y, 2 * i + id); REL(x, 2 * i + id + 1); }"),
    ("values", True, 4, "if (id < 2) SET(x, id + 1); else { WAIT(RLX(x) == id - 1); r[id] = RLX(x); }"),
    ("values_down", True, 4, "if (id > 1) SET(x, id); else { WAIT(RLX(x) == id + 2); r[id] = RLX(x); }"),
    ("any_value", False, 4, "if (id < 2) SET(x, id + 1); else { int v = 0; WAIT((v = RLX(x)) != 0); r[id] = v; }"),
    ("any_value_down", False, 4, "if (id > 1) SET(x, id + 1); else { int v = 0; WAIT((v = RLX(x)) != 0); r[id] = v; }"),
    ("passing", True, 2, "if (id) WAIT(RLX(x) == 1); else { SET(x, 1); SET(x, 2); } r[id] = RLX(x);"),
    ("passing_down", True, 2, "if (!id) WAIT(RLX(x) == 1); else { SET(x, 1); SET(x, 2); } r[id] = RLX(x);"),
    ("at_least", False, 3, "if (id) SET(x, id); else WAIT(RLX(x) >= 1); r[id] = RLX(x);"),
    ("all_of", False, 3, "if (id == 1) { int a = 0, b = 0; WAIT((a = RLX(f[0]), b = RLX(f[2]), a && b)); } SET(f[id], 1); r[id] = RLX(f[0]) + 2 * RLX(f[1]) + 4 * RLX(f[2]);"),
    ("equal", True, 3, "if (id == 1) { int a = 0, b = 0; WAIT((a = RLX(x), b = RLX(y), a == b)); r[1] = a; } else { SET(x, id + 1); SET(y, id + 1); }"),
    ("barrier", False, 4, "atomic_fetch_add_explicit(&x, 1, memory_order_acq_rel); WAIT(ACQ(x) == 4); r[id] = RLX(y); SET(y, id + 1);"),
    ("sense", False, 3, "SET(f[id], 1); if (atomic_fetch_add_explicit(&x, 1, memory_order_acq_rel) == 2) REL(y, 1); else WAIT(ACQ(y)); "
     "r[id] = RLX(f[0]) + RLX(f[1]) + RLX(f[2]);"),
    ("cas_lock", False, 3, "WAIT(cas(&x, 0, 1)); r[id] = ++plain; REL(x, 0);"),
    ("cas_lock_twice", False, 2, "for (int i = 0; i < 2; i++) { WAIT(cas(&x, 0, 1)); r[id] = ++plain; REL(x, 0); }"),
    ("cas_lock_kept", True, 3, "WAIT(cas(&x, 0, 1)); r[id] = ++plain; if (id) REL(x, 0);"),
    ("cas_turns", False, 3, "WAIT(cas(&x, 2 - id, 3 - id)); r[id] = RLX(y); SET(y, id + 1);"),
    ("tas_lock", False, 3, "WAIT(!atomic_exchange_explicit(&x, 1, memory_order_acquire)); r[id] = ++plain; REL(x, 0);"),
    ("tas_lock_kept", True, 3, "WAIT(!atomic_exchange_explicit(&x, 1, memory_order_acquire)); r[id] = ++plain; if (id) REL(x, 0);"),
    ("ttas_lock", False, 2, "WAIT(!RLX(x) && cas(&x, 0, 1)); r[id] = ++plain; REL(x, 0);"),
    ("wanted", True, 3, "if (id == 0) SET(y, 1); else if (id == 1) { SET(x, 1); SET(x, 2); } else { plain = 1 + RLX(y); WAIT(RLX(x) == plain); r[2] = plain; }"),
    ("prints", False, 2, 'if (id) SET(x, 1); else WAIT((printf("."), RLX(x)));'),
    ("prints_down", False, 2, 'if (!id) SET(x, 1); else WAIT((printf("."), RLX(x)));'),
    ("fenced", False, 3, "if (id) { WAIT(RLX(x)); atomic_thread_fence(memory_order_acquire); r[id] = plain; } else { plain = 7; "
     "atomic_thread_fence(memory_order_release); SET(x, 1); }"),
    ("fenced_down", False, 3, "if (id < 2) { WAIT(RLX(x)); atomic_thread_fence(memory_order_acquire); r[id] = plain; } else { plain = 7; "
     "atomic_thread_fence(memory_order_release); SET(x, 1); }"),
    ("peterson", False, 2, "atomic_store(&f[id], 1); atomic_store(&x, 1 - id); int a = 0, b = 0; WAIT((a = atomic_load(&f[1 - id]), "
     "b = atomic_load(&x), !a || b == id)); r[id] = ++plain; atomic_store(&f[id], 0);"),
    ("dekker_stuck", True, 2, "atomic_store(&f[id], 1); WAIT(!atomic_load(&f[1 - id])); r[id] = 1;"),
    ("writers", True, 4, "if (id == 3) { WAIT(ACQ(x) == 3); r[3] = RLX(y); } else { SET(y, id + 1); REL(x, id + 1); }"),
    ("writers_down", True, 4, "if (id == 0) { WAIT(ACQ(x) == 3); r[0] = RLX(y); } else { SET(y, id); REL(x, id); }"),
    ("middle", True, 4, "if (id == 1 || id == 2) { WAIT(ACQ(x) == 3); r[id] = RLX(y); } else { SET(y, id + 1); REL(x, id ? 3 : 1); }"),
]


def protocols():
    """One text for explore (with --entry) and GenMC (with -DMAIN=), as loops or with -DASSUME as assumptions."""
    out = [PROTOCOL_HEAD]
    for name, _, threads, text in PROTOCOLS:
        out.append("static void *%s_t(void *arg)\n{\n    int id = (int)(intptr_t)arg;\n    %s\n    return NULL;\n}\n" % (name, text))
        out.append("int %s(void)\n{\n    pthread_t t[%d];\n    for (intptr_t i = 0; i < %d; i++)\n        pthread_create(&t[i], NULL, %s_t, (void *)i);\n"
                   "    for (int i = 0; i < %d; i++)\n        pthread_join(t[i], NULL);\n"
                   '    printf("%%d %%d %%d %%d %%d %%d", r[0], r[1], r[2], r[3], RLX(x), RLX(y));\n    return 0;\n}\n'
                   % (name, threads, threads, name, threads))
    out.append("int main(void)\n{\n    return MAIN();\n}\n")
    return "".join(out)
