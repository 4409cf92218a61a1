// A picture on a terminal, byte by byte, and how large that terminal is.
#include "proxy/app/terminal.hpp"

#include <iostream>
#include <sstream>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace freshet::test {
namespace {

// What is written to standard output's stream while it lives.
class Written {
 public:
  Written() : before_(std::cout.rdbuf(text_.rdbuf())) {}
  ~Written() { std::cout.rdbuf(before_); }
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;

  std::string taken() {
    std::string out = text_.str();
    text_.str({});
    return out;
  }

 private:
  std::ostringstream text_;
  std::streambuf* before_;
};

// Standard output is this file while it lives.
class Output {
 public:
  explicit Output(int descriptor) : before_(::dup(STDOUT_FILENO)), descriptor_(descriptor) {
    REQUIRE(descriptor_ >= 0);
    REQUIRE(::dup2(descriptor_, STDOUT_FILENO) >= 0);
  }
  ~Output() {
    ::dup2(before_, STDOUT_FILENO);
    ::close(before_);
    ::close(descriptor_);
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

 private:
  int before_;
  int descriptor_;
};

int new_terminal() {
  return ::posix_openpt(O_RDWR | O_NOCTTY);
}

TEST_CASE("a screen takes the alternate screen without its cursor, and gives both back") {
  Written written;
  {
    const app::Screen screen;
    CHECK(written.taken() == "\x1b[?1049h\x1b[?25l");
  }
  CHECK(written.taken() == "\x1b[?25h\x1b[?1049l");
}

TEST_CASE("a picture is drawn over the last one: each line's rest is cleared, and what is below") {
  Written written;
  app::Screen screen;
  written.taken();
  screen.draw("one\ntwo\n");
  CHECK(written.taken() == "\x1b[Hone\x1b[K\ntwo\x1b[K\n\x1b[J");
}

TEST_CASE("a terminal tells its size, and one that does not know it counts as 24 by 80") {
  Written written;
  const app::Screen screen;
  const int terminal = new_terminal();
  const Output output(terminal);
  CHECK(app::Screen::is_terminal());
  CHECK(screen.size().lines == 24);
  CHECK(screen.size().columns == 80);
  const winsize size{.ws_row = 50, .ws_col = 132, .ws_xpixel = 0, .ws_ypixel = 0};
  REQUIRE(::ioctl(terminal, TIOCSWINSZ, &size) == 0);
  CHECK(screen.size().lines == 50);
  CHECK(screen.size().columns == 132);
}

TEST_CASE("a pipe is no terminal") {
  const Output output(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  CHECK_FALSE(app::Screen::is_terminal());
}

}  // namespace
}  // namespace freshet::test
