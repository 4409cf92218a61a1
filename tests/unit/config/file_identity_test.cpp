#include "config/file_identity.hpp"

#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>
#include <stdlib.h>

namespace freshet::config {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    std::string made = (fs::temp_directory_path() / "freshet-watch-XXXXXX").string();
    REQUIRE(::mkdtemp(made.data()) != nullptr);
    path_ = made;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] fs::path operator/(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

void write(const fs::path& file, const std::string& text) {
  std::ofstream(file) << text;
}

TEST_CASE("a changed file is told of once, when it stood still for a look") {
  const Folder folder;
  write(folder / "f", "a");
  FileWatch watch(folder / "f");
  CHECK_FALSE(watch.changed());
  write(folder / "f", "ab");
  CHECK_FALSE(watch.changed());
  write(folder / "f", "abc");
  CHECK_FALSE(watch.changed());
  CHECK(watch.changed());
  CHECK_FALSE(watch.changed());
}

TEST_CASE("a link that is moved is a change of the file behind it, as a ConfigMap's folder is") {
  const Folder folder;
  for (const std::string version : {"..1", "..2"}) {
    fs::create_directory(folder / version);
    write(folder / version / "f", "same size " + version);
  }
  fs::create_directory_symlink("..1", folder / "..data");
  fs::create_symlink("..data/f", folder / "f");
  FileWatch watch(folder / "f");
  fs::create_directory_symlink("..2", folder / "..data_tmp");
  fs::rename(folder / "..data_tmp", folder / "..data");
  CHECK_FALSE(watch.changed());
  CHECK(watch.changed());
}

TEST_CASE("a file that goes away is a change, and one that comes back another") {
  const Folder folder;
  write(folder / "f", "a");
  FileWatch watch(folder / "f");
  fs::remove(folder / "f");
  CHECK_FALSE(watch.changed());
  CHECK(watch.changed());
  write(folder / "f", "b");
  CHECK_FALSE(watch.changed());
  CHECK(watch.changed());
}

TEST_CASE("what was read meanwhile is no change any more") {
  const Folder folder;
  write(folder / "f", "a");
  FileWatch watch(folder / "f");
  write(folder / "f", "ab");
  watch.know();
  CHECK_FALSE(watch.changed());
  CHECK_FALSE(watch.changed());
}

}  // namespace
}  // namespace freshet::config
