// Secrets by reference: settings hold where a secret is, never the secret, so that nothing that prints settings can
// print one.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "config/file_identity.hpp"
#include "config/parsed.hpp"

namespace freshet::config {

using Environment = std::map<std::string, std::string>;

struct Secret {
  enum class Source { environment, file };
  Source source = Source::environment;
  std::string name;  // of the variable, or the absolute path of the file
  bool operator==(const Secret&) const = default;
};

// "env:NAME" or "file:/path". The mistake does not repeat the text, which may be a secret written in the wrong place.
[[nodiscard]] Parsed<Secret> parse_secret(std::string_view text);
// The reference, as parse_secret takes it.
[[nodiscard]] std::string to_string(const Secret& secret);

// A file whose contents are read again when it changed.
class SecretFile {
 public:
  static constexpr std::size_t bytes_max = 64 * 1024;

  explicit SecretFile(std::string path) : path_(std::move(path)) {}

  // The contents without trailing line ends. Costs one stat while nothing changed. An unreadable, empty or too large
  // file is a mistake, also where earlier contents were read: a secret that was taken away is not used on.
  [[nodiscard]] Parsed<std::string> read();

 private:
  std::string path_;
  FileIdentity identity_;  // of what was read
  std::string contents_;
};

// One secret, ready to be asked for its present value.
class SecretReader {
 public:
  // Takes what it needs from `environment`, which need not outlive it.
  SecretReader(const Secret& secret, const Environment& environment);

  // A mistake names the reference: an unset variable, an unreadable file, a value with control characters.
  [[nodiscard]] Parsed<std::string> current();

 private:
  Secret secret_;
  Parsed<std::string> from_environment_;
  SecretFile file_;
};

// The value once, for what is read at start-up only.
[[nodiscard]] Parsed<std::string> resolve(const Secret& secret, const Environment& environment);

}  // namespace freshet::config
