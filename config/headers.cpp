// Headers to add towards an upstream. A credential is a reference, never a value.
#include <algorithm>
#include <array>

#include "config/types.hpp"

namespace freshet::config {
namespace {

constexpr std::string_view inline_secret =
    "is a credential and must not stand here; put it into an environment variable or a file and give "
    "value_from: env:NAME or value_from: file:/path";

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

// Errs on the safe side: whoever adds "X-Token-Count" may give it by reference.
bool names_credential(std::string_view header) {
  constexpr std::array<std::string_view, 10> marks{"auth",   "token",    "secret",     "key",     "cookie",
                                                   "passwd", "password", "credential", "session", "signature"};
  const std::string name = lower(header);
  return std::any_of(marks.begin(), marks.end(), [&](auto mark) { return name.find(mark) != std::string::npos; });
}

// Framing, routing and the protocol's own: these are Freshet's to write.
bool is_reserved(std::string_view header) {
  constexpr std::array<std::string_view, 15> names{"host",           "connection",
                                                   "keep-alive",     "transfer-encoding",
                                                   "content-length", "te",
                                                   "trailer",        "upgrade",
                                                   "expect",         "content-encoding",
                                                   "accept",         "content-type",
                                                   "mcp-session-id", "mcp-protocol-version",
                                                   "last-event-id"};
  const std::string name = lower(header);
  return std::find(names.begin(), names.end(), name) != names.end();
}

// "Bearer ", "sid=": a scheme or a cookie's name. Anything longer could be the credential.
bool is_short_prefix(std::string_view prefix) {
  constexpr std::size_t bytes_max = 24;
  if (prefix.empty()) return true;
  if (prefix.size() > bytes_max || (prefix.back() != ' ' && prefix.back() != '=')) return false;
  return std::all_of(prefix.begin(), prefix.end() - 1,
                     [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' || c == '_'; });
}

bool is_field_value(std::string_view value) {  // RFC 9110 §5.5
  return std::none_of(value.begin(), value.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
  });
}

class Reader {
 public:
  Reader(const Value& value, std::string path, Problems& problems)
      : value_(value), path_(std::move(path)), problems_(problems) {}

  std::optional<HeaderAdd> read() {
    if (value_.kind == Value::Kind::scalar) {
      read_text();
    } else if (value_.kind == Value::Kind::map) {
      for (const Member& member : value_.members) read_member(member);
    } else {
      fail(value_.place, "", "must be a map with name and value_from");
    }
    if (ok_) check();
    return ok_ ? std::optional(std::move(header_)) : std::nullopt;
  }

 private:
  void fail(const Place& place, const std::string& key, std::string message) {
    ok_ = false;
    problems_.add(place, key.empty() ? path_ : path_ + "." + key, std::move(message));
  }

  void read_member(const Member& member) {
    const std::vector<std::string> known{"name", "value_from", "prefix", "value"};
    if (std::find(known.begin(), known.end(), member.key) == known.end()) {
      fail(member.place, member.key, "unknown setting" + suggestion(member.key, known));
    } else if (member.value.kind != Value::Kind::scalar) {
      fail(member.value.place, member.key, "must be one value");
    } else if (member.key == "name") {
      header_.name = member.value.text;
    } else if (member.key == "prefix") {
      header_.prefix = member.value.text;
    } else if (member.key == "value") {
      header_.value = member.value.text;
      value_place_ = member.value.place;
    } else {
      read_secret(member.value, "value_from", member.value.text);
    }
  }

  void read_secret(const Value& value, const std::string& key, std::string_view reference) {
    const Parsed<Secret> parsed = parse_secret(reference);
    if (parsed) {
      header_.secret = *parsed;
    } else {
      fail(value.place, key, parsed.error());
    }
  }

  // "Name=env:VAR", "Name=Bearer file:/path", "Name=plain".
  void read_text() {
    const std::string_view text = value_.text;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) {
      return fail(value_.place, "", "must be Name=env:VARIABLE or Name=file:/path");
    }
    header_.name = text.substr(0, equals);
    const std::string_view value = text.substr(equals + 1);
    const std::size_t word = value.find_last_of(' ') + 1;
    if (const Parsed<Secret> parsed = parse_secret(value.substr(word)); parsed) {
      header_.secret = *parsed;
      header_.prefix = value.substr(0, word);
    } else {
      header_.value = value;
      value_place_ = value_.place;
    }
  }

  void check() {
    Problems unused;
    const Value name = Value::scalar(header_.name, {});
    if (!header_name().read(name, "", unused)) return fail(value_.place, "name", "must be the name of a header");
    if (is_reserved(header_.name)) return fail(value_.place, "name", header_.name + " is written by Freshet itself");
    if (!header_.secret && !value_place_) return fail(value_.place, "", "needs value_from");
    if (header_.secret && value_place_) return fail(*value_place_, "value", "stands beside value_from; give one");
    if (value_place_ && names_credential(header_.name)) {
      return fail(*value_place_, "value", "the value of " + header_.name + " " + std::string(inline_secret));
    }
    if (names_credential(header_.name) && !is_short_prefix(header_.prefix)) {
      return fail(value_.place, "prefix",
                  "must be one word such as \"Bearer \"; the secret itself comes from value_from");
    }
    if (!is_field_value(header_.value) || !is_field_value(header_.prefix)) {
      fail(value_.place, "value", "must not hold control characters");
    }
  }

  const Value& value_;
  std::string path_;
  Problems& problems_;
  HeaderAdd header_;
  std::optional<Place> value_place_;
  bool ok_ = true;
};

std::string show(const HeaderAdd& header) {
  std::string text = "{name: " + yaml_text(header.name);
  if (!header.prefix.empty()) text += ", prefix: " + yaml_text(header.prefix);
  if (header.secret) return text + ", value_from: " + yaml_text(to_string(*header.secret)) + "}";
  return text + ", value: " + yaml_text(header.value) + "}";
}

}  // namespace

Type<HeaderAdd> header_add() {
  auto read = [](const Value& value, const std::string& path, Problems& problems) {
    return Reader(value, path, problems).read();
  };
  return {"header", read, show};
}

}  // namespace freshet::config
