// A program to debug: what it does is its first argument.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

struct Item {
    std::string name;
    int price;
    double weights[2];
};

struct Order {
    int number;
    std::vector<Item> items;
    Item first;
    Order *next;
};

struct OutOfStock : std::runtime_error {
    using std::runtime_error::runtime_error;
};

volatile int ticks = 0;

int add(int total, const Item &item) {
    int sum = total + item.price;  // add
    return sum;
}

int total_of(const Order &order) {
    int total = 0;
    for (int i = 0; i < 3; i++) {
        const Item &item = order.items[i];
        total = add(total, item);  // loop
    }
    return total;  // after the loop
}

void check(const std::string &name) {
    if (name == "fig") throw OutOfStock("no " + name);  // throw
    if (name == "plum") throw std::logic_error("bad " + name);  // throw another
}

void check_all(const Order &order) {
    for (const Item &item : order.items) {
        try {
            check(item.name);
        } catch (const std::exception &error) {
            std::printf("caught %s\n", error.what());  // caught
        }
    }
}

int crash(int *where) {
    return *where;  // crash
}

void talk() {
    char line[100];
    while (std::fgets(line, sizeof line, stdin)) {
        std::printf("heard %s", line);
        std::fflush(stdout);
    }
}

void spin() {
    for (;;) {
        ticks = ticks + 1;
        usleep(2000);  // spin
    }
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    int values[4] = {1, 2, 3, 4};
    Order order = {7, {{"pear", 2, {1.5, 2}}, {"fig", 3, {}}, {"plum", 4, {}}}, {"kiwi", 1, {}}, nullptr};
    int total = total_of(order);  // total
    std::printf("total %d\n", total);
    std::fflush(stdout);
    if (!std::strcmp(mode, "throw")) check_all(order);
    if (!std::strcmp(mode, "uncaught")) check("fig");
    if (!std::strcmp(mode, "crash")) crash(nullptr);
    if (!std::strcmp(mode, "abort")) std::abort();
    if (!std::strcmp(mode, "talk")) talk();
    if (!std::strcmp(mode, "spin")) spin();
    if (!std::strcmp(mode, "threads")) {
        std::thread other(spin);
        spin();
    }
    if (std::getenv("GREETING")) std::printf("%s\n", std::getenv("GREETING"));
    std::fprintf(stderr, "warned\n");
    return values[2] + 4;  // end
}
