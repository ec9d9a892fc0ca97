// What compilers and debuggers make of it: `main` begins, for gcc, in the line where it ends; an inner variable has the
// name of an outer one; a signal ends the program.
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  std::vector<std::string> words = {"plum", "fig"};  // begin
  int n = 1;
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
