/* SPDX-License-Identifier: MIT */
/*
 * The lab: a small language with threads, explored by the core of verify/explore.
 *
 *     parse.c   text to instructions, and to a C program for verify/explore
 *     program.c instructions run for the core: the second implementation of core/program.h
 *     lab.c     one exploration, as JSON; also a command
 */
#ifndef LADE_LAB_H
#define LADE_LAB_H

#include "engine.h"

enum { MEMORY = 256, CODE = 2048, NAME = 24, VARIABLES = 48, LAB_THREADS = 8, ORDERS = 256, BASE = 4096 };

enum code {
    I_PUSH,
    I_GET,
    I_SET,
    I_PLAIN_LOAD,
    I_PLAIN_STORE,
    I_NEG,
    I_NOT,
    I_BINARY,
    I_JUMP,
    I_JUMP_IF_NOT,
    I_TRUTH,
    I_ATOMIC, /* load, exchange, fetch_OP, store: operands on the stack, address first */
    I_CAS,
    I_FENCE,
    I_ASSERT,
    I_ASSUME,
    I_FREE,
    I_POP,
    I_CREATE,
    I_JOIN,
    I_FINISH,
    I_END
};

struct instruction {
    uint8_t code, op, order, fail_order;
    bool weak;
    int32_t n;  /* value, register, target, variable of an address on the stack */
    int32_t at; /* offset in the text */
};

struct variable {
    char name[NAME];
    int first, count; /* cells of memory */
    int32_t init;
    bool atomic, array;
    bool freed; /* by a statement of the program: not part of the outcome */
};

struct lab_thread {
    int start;
    int registers;
    char reg[REGISTERS][NAME];
};

/* An order in the text. */
struct lab_order {
    int at, length, order; /* index of lab_order_names */
    const char *allowed;   /* letters of those that the operation can have */
    const char *call;
    bool failure; /* the second of a cas */
};

struct lab {
    char text[1 << 14];
    struct instruction code[CODE];
    int codes;
    struct variable variable[VARIABLES];
    int variables, cells;
    struct lab_thread thread[LAB_THREADS + 1]; /* 0: main, which creates and joins the others */
    int threads;
    struct lab_order order[ORDERS];
    int orders;
    char error[160]; /* of the text, with its place */
    int error_at, error_length;
    char c[1 << 16]; /* the same program in C */
    int c_length;
};

extern struct lab lab;
extern const char *const lab_order_names[]; /* by number of the engine */
extern const char lab_order_letters[];

bool lab_parse(void); /* false: lab.error */
void lab_line(int at, int *line, int *column);
const char *lab_orders(void); /* JSON: the orders of a parsed text and what each may be */
void lab_init(void);
bool lab_finished(const char **outcome);            /* main has ended in this run */
const char *lab_run(enum model model, double most); /* JSON; once in a process */

#endif
