// Words for the tests of config/: what an operator gives, and what comes of it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "config/load.hpp"

namespace freshet::config {

struct Given {
  std::vector<std::string> arguments;
  Environment environment;
  std::string file;  // the text of freshet.yaml; empty: there is none
};

inline LoadResult load_given(Given given) {
  Sources sources{std::move(given.arguments), std::move(given.environment), {}};
  if (!given.file.empty()) sources.arguments.insert(sources.arguments.end(), {"--config", "freshet.yaml"});
  sources.read_file = [text = std::move(given.file)](const std::string& path) -> Parsed<std::string> {
    if (path != "freshet.yaml") return Mistake{"No such file or directory"};
    return text;
  };
  return load(sources);
}

inline std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

inline std::string errors_of(Given given) {
  return joined(load_given(std::move(given)).errors);
}

inline const std::string one_upstream = "upstreams:\n  - url: http://files.example.test/mcp\n";

}  // namespace freshet::config
