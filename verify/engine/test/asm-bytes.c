/* SPDX-License-Identifier: MIT */
/*
 * Assembly may hide behind directives.
 * expect: unsupported
 */
int main(void)
{
    __asm__ volatile(".byte 0x90");
    return 0;
}
