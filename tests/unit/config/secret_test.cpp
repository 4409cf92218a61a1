#include "config/secret.hpp"

#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "config/document.hpp"
#include "tests/unit/config/sources.hpp"

namespace freshet::config {
namespace {

// A file of its own for one test, gone with it.
class TemporaryFile {
 public:
  TemporaryFile() {
    std::string name = (std::filesystem::temp_directory_path() / "freshet-secret-XXXXXX").string();
    const int descriptor = ::mkstemp(name.data());
    REQUIRE(descriptor >= 0);
    ::close(descriptor);
    path = name;
  }
  ~TemporaryFile() { std::filesystem::remove(path); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  // As a mounted secret changes: a new file takes the old one's place.
  void replace(const std::string& text) const {
    const std::string next = path + ".next";
    std::ofstream(next) << text;
    std::filesystem::rename(next, path);
  }

  std::string path;
};

TEST_CASE("a secret is a reference to a variable or a file, and nothing else") {
  CHECK(*parse_secret("env:TOKEN_1") == Secret{Secret::Source::environment, "TOKEN_1"});
  CHECK(*parse_secret("file:/run/secrets/token") == Secret{Secret::Source::file, "/run/secrets/token"});
  for (const char* text : {"", "hunter2", "env:", "env:1A", "env:a b", "file:token", "FILE:/x"}) {
    INFO(text);
    const Parsed<Secret> parsed = parse_secret(text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().find("hunter2") == std::string::npos);
  }
}

TEST_CASE("a secret's file is read again when it changed, without its last line end") {
  const TemporaryFile file;
  SecretFile secret(file.path);
  file.replace("one\r\n");
  CHECK(*secret.read() == "one");
  CHECK(*secret.read() == "one");
  file.replace("two\n");
  CHECK(*secret.read() == "two");
}

TEST_CASE("a secret that was taken away, emptied or blown up is not used on") {
  const TemporaryFile file;
  SecretFile secret(file.path);
  file.replace("one");
  CHECK(secret.read());
  file.replace("\n");
  CHECK_FALSE(secret.read());
  file.replace(std::string(SecretFile::bytes_max + 1, 'x'));
  CHECK_FALSE(secret.read());
  std::filesystem::remove(file.path);
  CHECK_FALSE(secret.read());
  file.replace("back");
  CHECK(*secret.read() == "back");
}

TEST_CASE("a secret that would break a header is refused by its reference, without its value") {
  const Environment environment{{"TOKEN", "hunter2\nX-Evil: 1"}, {"GOOD", "hunter2"}};
  CHECK(*resolve({Secret::Source::environment, "GOOD"}, environment) == "hunter2");
  CHECK(resolve({Secret::Source::environment, "TOKEN"}, environment).error() ==
        "env:TOKEN: the value has control characters in it");
  CHECK(resolve({Secret::Source::environment, "NONE"}, environment).error() == "env:NONE: the variable is not set");
}

TEST_CASE("a credential that is written inline is refused with the way to reference it, and never repeated") {
  const std::string file = R"(admin: {token: hunter2}
upstreams:
  - url: "http://user:hunter2@a.example.test/mcp"
    headers_add:
      - {name: Authorization, value: Bearer hunter2}
      - {name: X-Api-Key, value_from: hunter2}
      - {name: Authorization, prefix: "Bearer hunter2", value_from: env:A}
)";
  const std::string errors = errors_of({{"--upstream-headers-add=X-Token=hunter2"}, {}, file});
  CHECK(errors.find("hunter2") == std::string::npos);
  for (const char* place : {"1:16: admin.token: takes a reference", "3:10: upstreams[0].url: must not hold credentials",
                            "5:38: upstreams[0].headers_add[0].value: the value of Authorization is a credential",
                            "6:39: upstreams[0].headers_add[1].value_from: takes a reference",
                            "7:9: upstreams[0].headers_add[2].prefix: must be one word",
                            "--upstream-headers-add: the value of X-Token is a credential"}) {
    INFO(errors);
    CHECK(errors.find(place) != std::string::npos);
  }
}

TEST_CASE("headers to add hold plain values, references, and a scheme before them") {
  const std::string file = one_upstream + R"(    headers_add:
      - {name: X-Tenant, value: blue}
      - {name: Authorization, prefix: "Bearer ", value_from: env:TOKEN}
)";
  const LoadResult result = load_given({{}, {{"TOKEN", "hunter2"}}, file});
  CHECK(joined(result.errors).empty());
  const std::vector<HeaderAdd>& headers = result.settings.upstreams.at(0).headers_add;
  REQUIRE(headers.size() == 2);
  CHECK(headers[0].value == "blue");
  CHECK(headers[1].prefix == "Bearer ");
  CHECK(headers[1].secret == Secret{Secret::Source::environment, "TOKEN"});
  const std::string shown = describe(result.settings);
  CHECK(shown.find("env:TOKEN") != std::string::npos);
  CHECK(shown.find("hunter2") == std::string::npos);
}

TEST_CASE("headers that frame a message or belong to the protocol cannot be added") {
  for (const char* name : {"Host", "Content-Length", "Mcp-Session-Id", "bad name", ""}) {
    INFO(name);
    CHECK_FALSE(errors_of({{std::string("--upstream-headers-add=") + name + "=x"}, {}, one_upstream}).empty());
  }
}

}  // namespace
}  // namespace freshet::config
