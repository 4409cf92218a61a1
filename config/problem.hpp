// What is wrong with a configuration, and where: collected, so that an operator sees every mistake at once.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace freshet::config {

// Where a value was written. `line` and `column` count from 1; line 0: not in a file, `source` is then "--flag" or
// the name of an environment variable.
struct Place {
  std::string source;
  int line = 0;
  int column = 0;
};

struct Problem {
  Place place;
  std::string path;     // of the setting, e.g. upstreams[0].url; empty where the place says it
  std::string message;  // a sentence without a full stop; never holds a secret
};

// "file:line:column: path: message", or "--flag: message".
[[nodiscard]] std::string to_string(const Problem& problem);

class Problems {
 public:
  // A problem that was added before, word for word, is not added again (one flag applies to many upstreams).
  void add(const Place& place, std::string path, std::string message);
  // A problem of a setting, wherever it was set; where it was not, its nearest enclosing group is the place.
  void add_at(const std::string& path, std::string message);
  // Remembers where a setting stands, for add_at.
  void set_at(const std::string& path, const Place& place);
  [[nodiscard]] bool has_place(const std::string& path) const;
  // Where the setting stands, or its nearest enclosing group.
  [[nodiscard]] Place place_of(std::string path) const;

  // The file's in the order of their lines, then the others in the order in which they were found.
  [[nodiscard]] std::vector<Problem> sorted() const;

 private:
  std::vector<Problem> problems_;
  std::map<std::string, Place> places_;
};

// The candidate with the smallest edit distance to `word`, or empty if none is close enough to be what was meant. A
// candidate whose last part (after '.') is the word is close whatever stands before it.
[[nodiscard]] std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

// `; did you mean "x"?`, or nothing.
[[nodiscard]] std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace freshet::config
