#include <stdio.h>

int main(void) {
    int total = 40;
    total += 2;
    printf("total %d\n", total); // stop: total is 42
    return 0;
}
