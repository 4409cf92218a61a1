#include "config/command_line.hpp"

#include <algorithm>
#include <utility>

#include <CLI/CLI.hpp>

#include "config/fields.hpp"

namespace freshet::config {
namespace {

std::vector<FieldInfo> flagged_fields() {
  std::vector<FieldInfo> all{config_file_info()};
  for (const SectionInfo& section : sections()) {
    for (const FieldInfo& field : section.fields) {
      if (!field.flag.empty()) all.push_back(field);
    }
  }
  return all;
}

// One command line, given to CLI11. Options take "no or one value", so that CLI11 never stops at a first mistake; what
// is missing is found afterwards.
class Parser {
 public:
  Parser() {
    app_.set_help_flag();
    app_.allow_extras();
    app_.require_subcommand(0, 1);
    help_ = app_.add_flag("-h,--help");
    version_ = app_.add_flag("-V,--version");
    for (FieldInfo& field : flagged_fields()) add_field(std::move(field));
    for (const CommandInfo& info : commands()) {
      if (!info.name.empty()) add_command(info);
    }
  }

  CommandLine parse(std::vector<std::string> arguments, Problems& problems) {
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes a vector
    CommandLine line;
    try {
      app_.parse(std::move(arguments));
    } catch (const CLI::ParseError& error) {
      // Its message may repeat a secret.
      problems.add({}, "", "the command line cannot be read (" + error.get_name() + ")");
    }
    read_command(line, problems);
    read_flags(line, problems);
    report_extras(line.command, problems);
    return line;
  }

 private:
  struct FieldOption {
    FieldInfo field;
    CLI::Option* option;
  };
  struct Subcommand {
    const CommandInfo* info;
    CLI::App* app;
  };

  void add_field(FieldInfo field) {
    CLI::Option* option = app_.add_option("--" + field.flag)->expected(0, 1);
    // Last one wins, except that lists grow.
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    fields_.push_back({std::move(field), option});
  }

  void add_command(const CommandInfo& info) {
    CLI::App* sub = app_.add_subcommand(info.name);
    sub->set_help_flag();
    sub->fallthrough();
    for (const CommandOption& option : info.options) {
      sub->add_option("--" + option.name)->expected(0, 1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    }
    subcommands_.push_back({&info, sub});
  }

  void read_command(CommandLine& line, Problems& problems) {
    for (const Subcommand& sub : subcommands_) {
      if (!sub.app->parsed()) continue;
      line.command.kind = line.command.topic = sub.info->kind;
      for (const CommandOption& option : sub.info->options) {
        const CLI::Option* given = sub.app->get_option("--" + option.name);
        if (given->count() == 0) continue;
        std::string value = given->results().back();
        if (option.value_kind.empty()) {
          if (!value.empty()) problems.add({"--" + option.name}, "", "takes no value");
          value = "true";
        } else if (value.empty()) {
          problems.add({"--" + option.name}, "", "needs a value (" + option.value_kind + ")");
        }
        line.command.options[option.name] = value;
      }
    }
    if (help_->count() > 0) line.command.kind = Command::Kind::help;
    if (version_->count() > 0) line.command.kind = Command::Kind::version;
  }

  void read_flags(CommandLine& line, Problems& problems) {
    for (const FieldOption& entry : fields_) {
      if (entry.option->count() == 0) continue;
      const Place place{"--" + entry.field.flag};
      const std::vector<std::string>& given = entry.option->results();
      const bool list = entry.field.kind.starts_with("list");
      std::string text;
      for (const std::string& one : given) text = list && !text.empty() ? text + "," + one : one;
      if (text.empty() && entry.field.kind == "true|false") text = "true";
      if (text.empty()) {
        problems.add(place, "", "needs a value (" + entry.field.kind + ")");
      } else if (entry.field.flag == config_file_info().flag) {
        line.config_path = text;
      } else {
        line.flags[entry.field.flag] = Value::scalar(text, place);
      }
    }
  }

  void report_extras(const Command& command, Problems& problems) {
    bool value_may_follow = false;  // of an unknown flag: it may be a secret, and says nothing
    for (const std::string& extra : app_.remaining(true)) {
      if (extra.starts_with('-')) {
        const std::string flag = extra.substr(0, extra.find('='));
        const std::string near = nearest(flag, known_flags(command));
        problems.add({flag}, "", "unknown flag" + (near.empty() ? "" : "; did you mean " + near + "?"));
        value_may_follow = flag == extra;
      } else if (!std::exchange(value_may_follow, false)) {
        std::vector<std::string> names;
        for (const CommandInfo& info : commands()) names.push_back(info.name);
        problems.add({}, "", "unknown command \"" + extra + "\"" + suggestion(extra, names));
      }
    }
  }

  std::vector<std::string> known_flags(const Command& command) const {
    std::vector<std::string> known{"--help", "--version"};
    for (const FieldOption& entry : fields_) known.push_back("--" + entry.field.flag);
    for (const CommandOption& option : info_of(command.kind).options) known.push_back("--" + option.name);
    return known;
  }

  CLI::App app_;
  CLI::Option* help_ = nullptr;
  CLI::Option* version_ = nullptr;
  std::vector<FieldOption> fields_;
  std::vector<Subcommand> subcommands_;
};

}  // namespace

const std::vector<CommandInfo>& commands() {
  using Kind = Command::Kind;
  static const std::vector<CommandInfo> all{
      {Kind::run, "", "run the sidecar", true, {}},
      {Kind::check, "check", "validate the configuration without starting", true, {}},
      {Kind::demo,
       "demo",
       "an embedded server without subscribe, the sidecar in front, and a subscriber that prints what it is told",
       false,
       {{"for", "duration", "end after it; otherwise Ctrl-C ends it"}}},
      {Kind::status, "status", "what a running sidecar does", false, {{"json", "", "as JSON, for scripts"}}},
      {Kind::health, "health", "exit 0 if a running sidecar is healthy", false, {}},
      {Kind::plan,
       "plan",
       "price a configuration before it goes live, per partner",
       true,
       {{"json", "", "as JSON, for scripts"}}},
      {Kind::top, "top", "the live figures in a terminal", false, {}},
  };
  return all;
}

const CommandInfo& info_of(Command::Kind kind) {
  for (const CommandInfo& info : commands()) {
    if (info.kind == kind) return info;
  }
  static const CommandInfo without_options;  // help, version
  return without_options;
}

CommandLine parse_command_line(const std::vector<std::string>& arguments, Problems& problems) {
  return Parser().parse(arguments, problems);
}

}  // namespace freshet::config
