// Which contents a path leads to, known without reading them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace freshet::config {

struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = -1;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;
  bool operator==(const FileIdentity&) const = default;
};

// Of the file at the end of all symbolic links. None: it cannot be reached, and errno says why.
[[nodiscard]] std::optional<FileIdentity> identity_of(const std::string& path);

// Notices that a path leads to other contents: a file that was written or replaced, or a link that was moved, as
// Kubernetes does with the folder behind a ConfigMap. Costs one stat a look and works on every file system, which
// inotify does not.
class FileWatch {
 public:
  explicit FileWatch(std::string path) : path_(std::move(path)), known_(identity_of(path_)), last_(known_) {}

  // Looks. True once for each change, when two looks in a row saw the same: what is still being written is left alone.
  [[nodiscard]] bool changed();
  // What is there now is known.
  void know() { known_ = last_ = identity_of(path_); }

 private:
  std::string path_;
  std::optional<FileIdentity> known_;
  std::optional<FileIdentity> last_;
};

}  // namespace freshet::config
