/* SPDX-License-Identifier: MIT */
/*
 * Coroutine switch, x86-64 System V.
 *
 *     word step(void)                                      from the running thread to the engine
 *     void engine_switch(void **save, void *to, word w)    keeps the caller's stack in *save, continues at to, where
 *                                                          the call returns w
 *
 * step adds no frame of its own and leaves exactly the callee-saved registers on the stack, so that the stack of a
 * parked thread is its whole state.
 */
    .text
    .globl step
    .hidden step
    .type step, @function
step:
    mov self(%rip), %rdi
    mov engine_sp(%rip), %rsi
    .globl engine_switch
    .hidden engine_switch
    .type engine_switch, @function
engine_switch:
    push %rbp
    push %rbx
    push %r12
    push %r13
    push %r14
    push %r15
    mov %rsp, (%rdi)
    mov %rsi, %rsp
    mov %rdx, %rax
    mov %rcx, %rdx
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbx
    pop %rbp
    ret
    .size engine_switch, . - engine_switch
    .section .note.GNU-stack, "", @progbits
