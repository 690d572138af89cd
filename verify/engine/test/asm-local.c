/* SPDX-License-Identifier: MIT */
/*
 * Empty assembly that changes only what no other thread can reach is allowed.
 * expect: pass 1
 */
static int data;

int main(void)
{
    int n = data, *p = &data;
    __asm__ volatile("" : "+r"(n) : "r"(p) : "memory");
    return n;
}
