#include "config/secret.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

namespace freshet::config {
namespace {

constexpr std::string_view env_scheme = "env:";
constexpr std::string_view file_scheme = "file:";

bool is_variable_name(std::string_view name) {
  const auto word = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && std::all_of(name.begin(), name.end(), word) && !(name[0] >= '0' && name[0] <= '9');
}

Parsed<std::string> read_limited(const std::string& path, std::size_t bytes_max) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  if (!file) return Mistake{std::strerror(errno)};
  std::string contents;
  std::array<char, 4096> piece{};
  while (const std::size_t got = std::fread(piece.data(), 1, piece.size(), file.get())) {
    contents.append(piece.data(), got);
    if (contents.size() > bytes_max) return Mistake{"larger than " + std::to_string(bytes_max) + " bytes"};
  }
  if (std::ferror(file.get())) return Mistake{"cannot be read"};
  return contents;
}

Parsed<std::string> environment_value(const Secret& secret, const Environment& environment) {
  if (secret.source != Secret::Source::environment) return std::string();
  const auto found = environment.find(secret.name);
  if (found == environment.end() || found->second.empty()) return Mistake{"the variable is not set"};
  return found->second;
}

}  // namespace

Parsed<Secret> parse_secret(std::string_view text) {
  if (text.starts_with(env_scheme) && is_variable_name(text.substr(env_scheme.size()))) {
    return Secret{Secret::Source::environment, std::string(text.substr(env_scheme.size()))};
  }
  if (text.starts_with(file_scheme) && text.substr(file_scheme.size()).starts_with('/')) {
    return Secret{Secret::Source::file, std::string(text.substr(file_scheme.size()))};
  }
  return Mistake{
      "takes a reference to a secret, env:NAME or file:/absolute/path; the secret itself must not stand here"};
}

std::string to_string(const Secret& secret) {
  return std::string(secret.source == Secret::Source::environment ? env_scheme : file_scheme) + secret.name;
}

Parsed<std::string> SecretFile::read() {
  const std::optional<FileIdentity> now = identity_of(path_);
  if (!now) return Mistake{std::strerror(errno)};
  if (*now == identity_) return contents_;
  identity_ = {};
  Parsed<std::string> contents = read_limited(path_, bytes_max);
  if (!contents) return contents;
  while (contents->ends_with('\n') || contents->ends_with('\r')) contents->pop_back();
  if (contents->empty()) return Mistake{"the file is empty"};
  identity_ = *now;
  contents_ = *contents;
  return contents_;
}

SecretReader::SecretReader(const Secret& secret, const Environment& environment)
    : secret_(secret), from_environment_(environment_value(secret, environment)), file_(secret.name) {}

Parsed<std::string> SecretReader::current() {
  Parsed<std::string> value = secret_.source == Secret::Source::environment ? from_environment_ : file_.read();
  if (!value) return Mistake{to_string(secret_) + ": " + value.error()};
  // It goes into a header field: RFC 9110 §5.5 forbids these, and a line end would smuggle a second field.
  const auto control = [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7f; };
  if (std::any_of(value->begin(), value->end(), control)) {
    return Mistake{to_string(secret_) + ": the value has control characters in it"};
  }
  return value;
}

Parsed<std::string> resolve(const Secret& secret, const Environment& environment) {
  return SecretReader(secret, environment).current();
}

}  // namespace freshet::config
