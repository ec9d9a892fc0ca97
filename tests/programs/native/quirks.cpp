// What compilers and debuggers make of it: `main` begins, for gcc, in the line where it ends; an inner variable has the
// name of an outer one; a vector says, as one does that is not yet made, that it has items without end; a signal ends the
// program.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  std::vector<std::string> words = {"plum", "fig"};  // begin
  int n = 1;
  std::uintptr_t ends[] = {8, UINTPTR_MAX / 2 - 7, UINTPTR_MAX / 2 - 7};
  auto& unmade = reinterpret_cast<std::vector<int>&>(ends);
  static_cast<void>(unmade);
  for (int i = 0; i < 1; i++) {
    int n = 10;
    std::printf("inner %d %s\n", n, words[1].c_str());  // inner
  }
  std::printf("outer %d %d\n", n, argc);
  std::fflush(stdout);
  int* nowhere = nullptr;
  *nowhere = argv[0][0];
  return 0;
}
