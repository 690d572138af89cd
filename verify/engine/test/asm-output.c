/* SPDX-License-Identifier: MIT */
/*
 * Even empty assembly stores its outputs, which gcc's instrumentation does not see.
 * expect: unsupported
 */
static int data;

int main(void)
{
    __asm__ volatile("" : "=r"(data) : "0"(42));
    return 0;
}
