/* Writes its stack by glibc, as programs do that handle their own crashes. */
#include <execinfo.h>

static int deep(int n) {
    void *frames[20];
    if (n > 0) return deep(n - 1) + 1; /* deeper */
    backtrace_symbols_fd(frames, backtrace(frames, 20), 1); /* writes */
    return 0;
}

int main(void) { return deep(1) - 1; } /* main */
