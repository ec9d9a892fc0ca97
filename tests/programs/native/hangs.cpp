// Threads that wait, each for something else. The main thread goes on when the kernel says that all of them do, and the busy one runs.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <pthread.h>
#include <string>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

struct Till {
    long coins = 0;
    std::mutex lock;
};

Till till;
std::mutex safe, cellar, attic;
std::atomic<int> holding{0};

void both(std::mutex &first, std::mutex &second) {
    std::lock_guard<std::mutex> one(first);
    holding++;
    while (holding < 2) {
    }
    second.lock();
}

void listen(int descriptor) {
    char byte;
    (void)!read(descriptor, &byte, 1);
}

void wait_for_ever() {
    std::mutex own;
    std::condition_variable rung;
    std::unique_lock<std::mutex> held(own);
    rung.wait(held);
}

template <class Body> std::thread started(const char *name, std::atomic<long> &tid, Body body) {
    return std::thread([name, &tid, body] {
        pthread_setname_np(pthread_self(), name);
        tid = syscall(SYS_gettid);
        body();
    });
}

bool waits(long tid) {
    char call[16] = "running";
    FILE *file = fopen(("/proc/self/task/" + std::to_string(tid) + "/syscall").c_str(), "r");
    if (file == nullptr) return false;
    (void)!fgets(call, sizeof call, file);
    fclose(file);
    return call[0] != 'r' && call[0] != '-';
}

int main() {
    static std::atomic<long> tids[7];
    int ends[2];
    (void)!pipe(ends);
    std::thread([] { attic.lock(); }).join();
    std::vector<std::thread> threads;
    threads.push_back(started("teller", tids[0], [] { both(till.lock, safe); }));
    threads.push_back(started("clerk", tids[1], [] { both(safe, till.lock); }));
    threads.push_back(started("listener", tids[2], [ends] { listen(ends[0]); }));
    threads.push_back(started("waiter", tids[3], [] { wait_for_ever(); }));
    threads.push_back(started("heir", tids[4], [] { attic.lock(); }));
    threads.push_back(started("twice", tids[5], [] {
        cellar.lock();
        cellar.lock();
    }));
    std::atomic<long> runs{0};
    std::thread busy = started("busy", runs, [] {
        for (volatile long turns = 0;; turns = turns + 1) {
        }
    });
    std::thread sleeper = started("sleeper", tids[6], [] { sleep(1000); });
    for (auto &tid : tids)
        while (!waits(tid)) usleep(1000);
    while (!runs) usleep(1000);  // it has its name, then
    puts("all wait");  // all wait
    threads[0].join();
}
