// SPDX-License-Identifier: BSD-2-Clause-Patent
// Several programs in one file: it does what the one it is called as does.
#include <cstdio>
#include <cstring>

int main_of_acuity(int count, char** words);
int main_of_cross_backend(int count, char** words);
int main_of_schedule_rows(int count, char** words);
int main_of_video_goldens(int count, char** words);
int main_of_write_pictures(int count, char** words);

int main(int count, char** words) {
  struct Program {
    const char* name;
    int (*run)(int, char**);
  };
  constexpr Program kPrograms[] = {{"acuity", main_of_acuity},
                                   {"cross_backend", main_of_cross_backend},
                                   {"schedule_rows", main_of_schedule_rows},
                                   {"video_goldens", main_of_video_goldens},
                                   {"write_pictures", main_of_write_pictures}};
  const char* slash = count > 0 ? std::strrchr(words[0], '/') : nullptr;
  const char* name = slash != nullptr ? slash + 1 : count > 0 ? words[0] : "";
  for (const Program& program : kPrograms) {
    if (std::strcmp(name, program.name) == 0) return program.run(count, words);
  }
  std::fprintf(stderr, "gpu_programs: there is no program '%s': call it by the name of one of its programs\n", name);
  return 2;
}
