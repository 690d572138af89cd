/* SPDX-License-Identifier: MIT */
/* A program that knows nothing of lade: loads the plugin and calls plugin_run(). */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int count, char **words)
{
    void *plugin = count == 2 ? dlopen(words[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    void *symbol = plugin ? dlsym(plugin, "plugin_run") : NULL;
    int (*run)(void) = NULL;

    if (!symbol) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    memcpy(&run, &symbol, sizeof run);
    int result = run();
    return dlclose(plugin) != 0 || result;
}
