#include "config/document.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include <catch2/catch.hpp>

#include "config/fields.hpp"
#include "tests/unit/config/sources.hpp"

namespace freshet::config {
namespace {

std::string without_comment_marks(const std::string& yaml) {
  static const std::regex setting("(^|\n)( *)#([a-z_]+:)");
  return std::regex_replace(yaml, setting, "$1$2$3");
}

TEST_CASE("config/freshet.example.yaml is what the table of fields makes") {
  const std::filesystem::path root = std::filesystem::path(__FILE__).parent_path() / "../../..";
  std::ifstream file(root / "config/freshet.example.yaml");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  CHECK(text == example_yaml());
}

TEST_CASE("the example is valid as it stands, and changes nothing but its upstream") {
  const LoadResult example = load_given({{}, {}, example_yaml()});
  CHECK(joined(example.errors).empty());
  CHECK(joined(example.warnings).empty());
  Settings plain = load_given({{"--upstream", "http://127.0.0.1:3000/mcp"}, {}, ""}).settings;
  plain.upstreams.at(0).rules = example.settings.upstreams.at(0).rules;
  CHECK(describe(example.settings) == describe(plain));
}

TEST_CASE("every setting is in the example, and valid there when its comment mark is taken away") {
  const std::string all = without_comment_marks(example_yaml());
  const LoadResult result = load_given({{}, {}, all});
  CHECK(joined(result.errors).empty());
  const std::string shown = describe(result.settings);
  for (const SectionInfo& section : sections()) {
    if (section.path == "upstreams[].rules[]") continue;  // describe leaves out what is inherited
    for (const FieldInfo& field : section.fields) {
      INFO(section.path << " " << field.path);
      CHECK(shown.find(field.path + ": ") != std::string::npos);
    }
  }
}

TEST_CASE("every default and example reads back as it is shown") {
  Problems problems;
  for (const Field<Upstream>& field : upstream_fields()) {
    const std::string& text = field.default_text.empty() ? field.example : field.default_text;
    INFO(field.path << ": " << text);
    Upstream upstream;
    CHECK(field.set(upstream, parse_yaml(text, "", problems), field.path, problems));
    CHECK(field.show(upstream) == text);
  }
  CHECK(problems.sorted().empty());
}

TEST_CASE("every setting has its help, and no flag stands for two") {
  std::set<std::string> flags{"help", "version", config_file_info().flag};
  for (const CommandInfo& command : commands()) {
    for (const CommandOption& option : command.options) flags.insert(option.name);
  }
  for (const SectionInfo& section : sections()) {
    for (const FieldInfo& field : section.fields) {
      INFO(section.path << " " << field.path);
      CHECK_FALSE(field.help.empty());
      if (!field.flag.empty()) CHECK(flags.insert(field.flag).second);
    }
  }
}

TEST_CASE("help and reference name every flag") {
  const std::string help = help_text();
  const std::string reference = reference_markdown();
  for (const SectionInfo& section : sections()) {
    for (const FieldInfo& field : section.fields) {
      if (field.flag.empty()) continue;
      INFO(field.flag);
      CHECK(help.find("  --" + field.flag + " <") != std::string::npos);
      CHECK(reference.find("`--" + field.flag + "`") != std::string::npos);
    }
  }
  CHECK(help_text(Command::Kind::demo).find("--for <duration>") != std::string::npos);
}

}  // namespace
}  // namespace freshet::config
