/* Becomes `cubby run --container $BENCH_DIR/container … store.lua PHASE`: the benchmark starts a peer by its name alone. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    const char *folder = getenv("BENCH_DIR");
    char container[4096];
    if (argc != 2 || !folder || setenv("BENCH_DURABILITY", CLASS, 1)) return 64;
    if (snprintf(container, sizeof container, "%s/container", folder) >= (int)sizeof container) return 64;
    execl(PROGRAM, PROGRAM, "run", "--container", container, "--allow-read", "/proc/self", "--durability", CLASS, SCRIPT,
          argv[1], (char *)NULL);
    perror(PROGRAM);
    return 69;
}
