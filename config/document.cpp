#include "config/document.hpp"

#include <algorithm>
#include <string_view>

#include "config/fields.hpp"

namespace freshet::config {
namespace {

constexpr std::size_t width = 100;

// `text` in lines that begin with `indent` and hold at most `width` bytes.
std::string wrapped(std::string_view text, const std::string& indent) {
  std::string lines;
  std::string line = indent;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (line.size() + 1 + word.size() > width && line != indent) {
      lines += line + "\n";
      line = indent;
    }
    line += (line == indent ? "" : " ") + std::string(word);
  }
  return lines + line + "\n";
}

std::string flag_help(const FieldInfo& field) {
  const std::string given = field.default_text.empty() ? "" : " [" + field.default_text + "]";
  return "  --" + field.flag + " <" + field.kind + ">" + given + "\n" + wrapped(field.help, "      ");
}

std::string option_help(const CommandOption& option) {
  const std::string value = option.value_kind.empty() ? "" : " <" + option.value_kind + ">";
  return "  --" + option.name + value + "\n" + wrapped(option.help, "      ");
}

std::string flags_help() {
  std::string text = "Flags that are often used\n" + flag_help(config_file_info());
  std::string others;
  for (const SectionInfo& section : sections()) {
    std::string rest;
    for (const FieldInfo& field : section.fields) {
      if (!field.flag.empty()) (field.common ? text : rest) += flag_help(field);
    }
    if (!rest.empty())
      others += "\n" + section.title + "\n" + (section.about.empty() ? "" : wrapped(section.about, "  ")) + rest;
  }
  return text + others;
}

// Writes the fields of one section as nested YAML, all but the required ones commented out.
class ExampleWriter {
 public:
  explicit ExampleWriter(std::string indent) : indent_(std::move(indent)) {}

  void write(const FieldInfo& field) {
    const std::vector<std::string> parts = split(field.path);
    open_groups(parts);
    const std::string indent = indent_ + std::string(2 * (parts.size() - 1), ' ');
    if (!field.help.empty()) text_ += wrapped(field.help + note(field), indent + "# ");
    const std::string& value = field.default_text.empty() ? field.example : field.default_text;
    text_ += indent + (field.required ? "" : "#") + parts.back() + ": " + value + "\n";
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  static std::vector<std::string> split(std::string_view path) {
    std::vector<std::string> parts;
    for (std::size_t dot = 0; (dot = path.find('.')) != std::string_view::npos; path.remove_prefix(dot + 1)) {
      parts.emplace_back(path.substr(0, dot));
    }
    parts.emplace_back(path);
    return parts;
  }

  static std::string note(const FieldInfo& field) {
    std::string note = field.required ? " Required." : "";
    if (field.kind.find('|') != std::string::npos) note += " (" + field.kind + ")";
    return note + (field.reload == Reload::live ? "" : " [" + to_string(field.reload) + "]");
  }

  void open_groups(const std::vector<std::string>& parts) {
    const std::vector<std::string> groups(parts.begin(), parts.end() - 1);
    std::size_t same = 0;
    while (same < groups.size() && same < open_.size() && groups[same] == open_[same]) ++same;
    if (indent_.empty() && (groups.empty() || same == 0)) text_ += "\n";
    for (std::size_t i = same; i < groups.size(); ++i) {
      text_ += indent_ + std::string(2 * i, ' ') + groups[i] + ":\n";
    }
    open_ = groups;
  }

  std::string indent_;
  std::string text_;
  std::vector<std::string> open_;
};

template <class S>
std::string example_section(const Fields<S>& fields, const std::string& indent) {
  ExampleWriter writer(indent);
  for (const Field<S>& field : fields) writer.write(field);
  return writer.text();
}

std::string example_rule() {
  ExampleWriter writer("        ");
  for (const Field<Rule>& each : rule_fields()) {
    FieldInfo field = each.info();
    if (!field.required) field.help.clear();  // they were explained at the upstream
    writer.write(field);
  }
  return writer.text();
}

template <class S>
void describe_section(std::string& text, const S& section, const Fields<S>& fields, const std::string& prefix) {
  for (const Field<S>& field : fields) {
    const std::string shown = field.show(section);
    if (!shown.empty()) text += prefix + field.path + ": " + shown + "\n";
  }
}

// What a rule has from its upstream is not repeated.
void describe_rule(std::string& text, const Upstream& upstream, const Rule& rule, const std::string& prefix) {
  Rule inherited;
  inherited.freshness = upstream.freshness;
  for (const Field<Rule>& field : rule_fields()) {
    const std::string shown = field.show(rule);
    if (shown != field.show(inherited)) text += prefix + field.path + ": " + shown + "\n";
  }
}

std::string cell(std::string text) {
  for (std::size_t i = 0; (i = text.find('|', i)) != std::string::npos; i += 2) text.insert(i, "\\");
  return text;
}

std::string code(const std::string& text) {
  return text.empty() ? "" : "`" + cell(text) + "`";
}

}  // namespace

std::string help_text(Command::Kind topic) {
  std::string text;
  const CommandInfo& info = info_of(topic);
  if (info.name.empty()) {
    text =
        "freshet: makes the resources of any MCP server subscribable\n\n"
        "  freshet --upstream http://127.0.0.1:3000/mcp\n"
        "  freshet --config freshet.yaml\n\nCommands\n";
    for (const CommandInfo& command : commands()) {
      text += "  freshet" + (command.name.empty() ? "" : " " + command.name) + "\n" + wrapped(command.help, "      ");
      for (const CommandOption& option : command.options) text += "    " + option_help(option).substr(2);
    }
  } else {
    text = "freshet " + info.name + ": " + info.help + "\n\n";
    for (const CommandOption& option : info.options) text += option_help(option);
  }
  text += "  --help, --version\n\n";
  text += wrapped(
      "Every flag is an environment variable too: FRESHET_ and its name in capitals, --log-level is FRESHET_LOG_LEVEL. "
      "A flag counts before a variable, a variable before the file, the file before the default [in brackets].",
      "");
  return text + "\n" + flags_help();
}

std::string example_yaml() {
  std::string text =
      "# Every setting of Freshet, with its default, or an example where there is none by default.\n"
      "# Take the # away from what you change. Check a file with: freshet check --config FILE\n"
      "# A flag or a FRESHET_* variable counts before the file. Units: 250ms, 30s, 5m, 1h; 64KiB, 4MiB; 10/s; 10%.\n"
      "# A changed file is read again, as it is on SIGHUP. What is marked [new sessions] counts for those that begin\n"
      "# afterwards; a change of what is marked [restart] is refused, with all others, until a restart.\n";
  text += example_section(global_fields(), "");
  text += "\nupstreams:\n  - # one MCP server; add further ones likewise\n";
  text += example_section(upstream_fields(), "    ");
  text +=
      "    # Resources that are kept otherwise. What a rule leaves out is as freshness says.\n    rules:\n      -\n";
  text += example_rule();
  text += "\n# Who runs the upstreams, and the budget agreed with them.\npartners:\n  -\n";
  return text + example_section(partner_fields(), "    ");
}

std::string reference_markdown() {
  std::string text;
  for (const SectionInfo& section : sections()) {
    text += (text.empty() ? "### " : "\n### ") + section.title +
            (section.path.empty() ? "" : " (`" + section.path + "`)") + "\n\n" +
            (section.about.empty() ? "" : section.about + "\n\n") +
            "| setting | flag | kind | default | a change | what it is |\n| --- | --- | --- | --- | --- | --- |\n";
    for (const FieldInfo& field : section.fields) {
      text += "| " + code(field.path) + " | " + code(field.flag.empty() ? "" : "--" + field.flag) + " | " +
              cell(field.kind) + " | " + (field.required ? "required" : code(field.default_text)) + " | " +
              to_string(field.reload) + " | " + cell(field.help) + " |\n";
    }
  }
  return text;
}

std::string describe(const Settings& settings) {
  std::string text;
  describe_section(text, settings, global_fields(), "");
  for (std::size_t i = 0; i < settings.upstreams.size(); ++i) {
    const Upstream& upstream = settings.upstreams[i];
    const std::string prefix = "upstreams[" + std::to_string(i) + "].";
    describe_section(text, upstream, upstream_fields(), prefix);
    for (std::size_t r = 0; r < upstream.rules.size(); ++r) {
      describe_rule(text, upstream, upstream.rules[r], prefix + "rules[" + std::to_string(r) + "].");
    }
  }
  for (std::size_t i = 0; i < settings.partners.size(); ++i) {
    describe_section(text, settings.partners[i], partner_fields(), "partners[" + std::to_string(i) + "].");
  }
  return text;
}

}  // namespace freshet::config
