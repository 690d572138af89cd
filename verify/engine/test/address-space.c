/* SPDX-License-Identifier: MIT */
/*
 * gcc does not instrument accesses to a named address space.
 * expect: unsupported
 */
int main(void)
{
    int __seg_fs *p = (int __seg_fs *)0;
    return *p == 5;
}
