// What the README repeats from the sources, and what it tells the reader to write.
// To bring its tables up to date: unit_tests '[write-readme]'
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <catch2/catch.hpp>

#include "config/document.hpp"
#include "metrics/catalogue.hpp"
#include "tests/unit/config/sources.hpp"

namespace freshet {
namespace {

const std::filesystem::path readme = std::filesystem::path(__FILE__).parent_path() / "../../README.md";

std::string text_of_readme() {
  std::ifstream file(readme);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

struct Block {
  std::string begin;
  std::string end;
};
const Block settings{"<!-- settings: from config/fields.cpp -->\n", "<!-- end of settings -->"};
const Block metrics{"<!-- metrics: from metrics/catalogue.cpp -->\n", "<!-- end of metrics -->"};

std::string with_blanks(const std::string& text) {
  return "\n" + text + "\n";
}

std::string inside(const std::string& text, const Block& block) {
  const auto begin = text.find(block.begin);
  REQUIRE(begin != std::string::npos);
  const auto end = text.find(block.end, begin + block.begin.size());
  REQUIRE(end != std::string::npos);
  return text.substr(begin + block.begin.size(), end - begin - block.begin.size());
}

void replace(std::string& text, const Block& block, const std::string& content) {
  const auto begin = text.find(block.begin) + block.begin.size();
  text.replace(begin, inside(text, block).size(), content);
}

TEST_CASE("the README's settings are those of the table of fields") {
  CHECK(inside(text_of_readme(), settings) == with_blanks(config::reference_markdown()));
}

TEST_CASE("the README's metrics are those of the catalogue") {
  CHECK(inside(text_of_readme(), metrics) == with_blanks(catalogue_markdown()));
}

TEST_CASE("the README's configuration file is valid") {
  const std::string yaml = inside(text_of_readme(), {"```yaml\n", "```"});
  const config::LoadResult loaded = config::load_given({{}, {}, yaml});
  CHECK(config::joined(loaded.errors) == "");
  CHECK(config::joined(loaded.warnings) == "");
}

TEST_CASE("the README's tables are written anew", "[.][write-readme]") {
  std::string text = text_of_readme();
  replace(text, settings, with_blanks(config::reference_markdown()));
  replace(text, metrics, with_blanks(catalogue_markdown()));
  std::ofstream(readme) << text;
}

}  // namespace
}  // namespace freshet
