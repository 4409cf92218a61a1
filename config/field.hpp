// One setting: where it stands, how it is read and shown, and what it is for. The tables of config/fields.hpp are made
// of these, and loading, help, the reference and the example file are made of the tables.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/problem.hpp"
#include "config/types.hpp"
#include "config/value.hpp"

namespace freshet::config {

// From when on a changed setting counts.
enum class Reload {
  live,      // from a reload on
  sessions,  // for sessions and streams that begin after a reload
  restart,   // from the next start on: a reload that would change it is refused
};
[[nodiscard]] std::string to_string(Reload reload);

struct FieldInfo {
  std::string path;  // within its section, parts joined by '.'
  std::string flag;  // without the dashes; empty: in a file only
  std::string kind;
  std::string default_text;  // YAML; empty: unset by default
  std::string example;       // YAML, for what is unset by default
  std::string help;
  Reload reload = Reload::live;
  bool required = false;
  bool common = false;        // help shows its flag first
  bool one_upstream = false;  // says something about one upstream: as a flag it is an error where there are several

  [[nodiscard]] std::string environment_name() const;  // FRESHET_ and the flag in capitals
};

template <class S>
struct Field : FieldInfo {
  [[nodiscard]] const FieldInfo& info() const { return *this; }

  // False, and a problem for `full_path`, if the value does not fit: `section` is then unchanged.
  std::function<bool(S& section, const Value&, const std::string& full_path, Problems&)> set;
  std::function<std::string(const S&)> show;
};

template <class S>
using Fields = std::vector<Field<S>>;

// The member that a chain of member pointers leads to.
template <class First>
auto at(First first) {
  return [first](auto& section) -> auto& { return section.*first; };
}
template <class First, class Second>
auto at(First first, Second second) {
  return [first, second](auto& section) -> auto& { return section.*first.*second; };
}

template <class S, class Access, class T>
Field<S> field(std::string path, Access access, Type<T> type, Reload reload, std::string help) {
  Field<S> made;
  made.path = std::move(path);
  made.kind = type.kind;
  made.default_text = type.show(access(std::as_const(static_cast<const S&>(S{}))));
  made.help = std::move(help);
  made.reload = reload;
  made.set = [access, type](S& section, const Value& value, const std::string& full_path, Problems& problems) {
    problems.set_at(full_path, value.place);
    auto read = type.read(value, full_path, problems);
    if (read) access(section) = std::move(*read);
    return read.has_value();
  };
  made.show = [access, type](const S& section) { return type.show(access(section)); };
  return made;
}

// The fields of a part as fields of the whole, under `prefix` (with its dot).
template <class Whole, class Part, class Access>
Fields<Whole> lifted(const Fields<Part>& fields, const std::string& prefix, Access access) {
  Fields<Whole> whole;
  for (const Field<Part>& part : fields) {
    Field<Whole> made;
    static_cast<FieldInfo&>(made) = part.info();
    made.path = prefix + part.path;
    made.set = [access, set = part.set](Whole& w, const Value& value, const std::string& path, Problems& problems) {
      return set(access(w), value, path, problems);
    };
    made.show = [access, show = part.show](const Whole& w) { return show(access(w)); };
    whole.push_back(std::move(made));
  }
  return whole;
}

// "unknown setting", with the nearest of `known`, or where another section has one of that name.
[[nodiscard]] std::string unknown_setting(const std::string& path, const std::vector<std::string>& known);

// What flags and environment variables set: by the flag's name, the flag before the variable.
using Overrides = std::map<std::string, Value>;

// Sets in `section` what the map `value` holds. Keys that are neither in `fields` nor in `lists` (which the caller
// reads) are problems, with the nearest that is. `full_path` is the section's own, empty for the file's top.
template <class S>
void apply_map(S& section, const Value& value, const Fields<S>& fields, const std::vector<std::string>& lists,
               const std::string& full_path, Problems& problems, const std::string& group = "") {
  if (value.kind == Value::Kind::null) return;
  problems.set_at(full_path, value.place);
  if (value.kind != Value::Kind::map) return problems.add(value.place, full_path, "must hold settings (key: value)");
  const auto is_list = [&](const std::string& path) {
    return std::find(lists.begin(), lists.end(), path) != lists.end();
  };
  for (const Member& member : value.members) {
    const std::string path = group + member.key;
    const std::string member_path = full_path.empty() ? member.key : full_path + "." + member.key;
    if (is_list(path)) continue;
    const auto field = std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.path == path; });
    const auto inside = [&](const auto& f) { return f.path.starts_with(path + "."); };
    if (field != fields.end()) {
      field->set(section, member.value, member_path, problems);
    } else if (std::any_of(fields.begin(), fields.end(), inside)) {
      apply_map(section, member.value, fields, lists, member_path, problems, path + ".");
    } else {
      std::vector<std::string> known = lists;
      for (const Field<S>& f : fields) {
        known.push_back(f.path);
        if (const std::size_t dot = f.path.find('.'); dot != std::string::npos) known.push_back(f.path.substr(0, dot));
      }
      problems.add(member.place, member_path, unknown_setting(path, known));
    }
  }
}

template <class S>
void apply_overrides(S& section, const Overrides& overrides, const Fields<S>& fields, const std::string& full_path,
                     Problems& problems) {
  for (const Field<S>& field : fields) {
    const auto found = field.flag.empty() ? overrides.end() : overrides.find(field.flag);
    if (found == overrides.end()) continue;
    field.set(section, found->second, full_path.empty() ? field.path : full_path + "." + field.path, problems);
  }
}

}  // namespace freshet::config
