# SPDX-License-Identifier: MIT
"""Waiting loops: what explore leaves out must not matter.

Each program has a writer and a thread with a loop. The set of outcomes must be the same whether waiting loops are
blocked when they repeat (the default) or run up to a bound on events (--no-spin).
"""
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
    """(C text, names of the entry functions)"""
    out, names = [HEAD], []
    for i, loop in enumerate(LOOPS):
        for k, writer in enumerate(WRITERS):
            n = "l%d_%d" % (i, k)
            names.append(n)
            out.append("static void *%s_w(void *arg)\n{\n    %s\n    return arg;\n}\nstatic void *%s_l(void *arg)\n{\n    %s\n    return arg;\n}\n"
                       % (n, writer, n, loop))
            out.append("int %s(void)\n{\n    pthread_t t, u;\n    pthread_create(&t, NULL, %s_w, NULL);\n    pthread_create(&u, NULL, %s_l, NULL);\n"
                       "    pthread_join(t, NULL);\n    pthread_join(u, NULL);\n"
                       '    printf("%%d %%d %%d %%d", r[0], r[1], r[2], LOAD(x));\n    return 0;\n}\n' % (n, n, n))
    out.append("int main(void)\n{\n    return 0;\n}\n")
    return "".join(out), names
