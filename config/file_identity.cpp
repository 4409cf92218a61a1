#include "config/file_identity.hpp"

#include <utility>

#include <sys/stat.h>

namespace freshet::config {
namespace {

std::int64_t nanoseconds(const timespec& t) {
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

}  // namespace

std::optional<FileIdentity> identity_of(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return FileIdentity{status.st_dev, status.st_ino, status.st_size, nanoseconds(status.st_mtim),
                      nanoseconds(status.st_ctim)};
}

bool FileWatch::changed() {
  const std::optional<FileIdentity> now = identity_of(path_);
  const bool still = now == std::exchange(last_, now);
  if (!still || now == known_) return false;
  known_ = now;
  return true;
}

}  // namespace freshet::config
