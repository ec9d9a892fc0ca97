// Adds up what is in a shop, reads a line, and exits with 7; with `crash` it crashes after the loop, with `sleep` it sleeps.
#include <cstdio>
#include <cstring>
#include <unistd.h>

struct Item {
    const char *name;
    int price;
};

int add(int total, const Item &item) {
    int sum = total + item.price; // add
    return sum;                   // return
}

int main(int argc, char **argv) {
    Item items[] = {{"pear", 2}, {"fig", 3}, {"kiwi", 4}};
    int total = 0;
    for (int i = 0; i < 3; i++) {
        total = add(total, items[i]); // loop
        printf("item %d %d\n", i, total); // print
        fflush(stdout);
    }
    if (argc > 1 && !strcmp(argv[1], "sleep"))
        sleep(60);
    if (argc > 1) {
        int *nowhere = nullptr;
        *nowhere = total; // crash
    }
    char line[80] = "";
    if (!fgets(line, sizeof line, stdin)) // read
        return 1;
    fprintf(stderr, "read %s", line);
    return 7;
}
