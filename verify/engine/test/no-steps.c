/* SPDX-License-Identifier: MIT */
/*
 * A loop without any step that others can see: the watchdog ends it.
 * expect: error livelock
 */
static int x;

int main(void)
{
    for (;;)
        x++;
}
