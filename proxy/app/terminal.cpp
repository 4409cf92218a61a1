#include "proxy/app/terminal.hpp"

#include <iostream>
#include <string>

#include <sys/ioctl.h>
#include <unistd.h>

namespace freshet::app {

namespace {

// ECMA-48 and what every terminal of today takes from xterm.
constexpr std::string_view enter = "\x1b[?1049h\x1b[?25l";
constexpr std::string_view leave = "\x1b[?25h\x1b[?1049l";
constexpr std::string_view home = "\x1b[H";
constexpr std::string_view clear_line_end = "\x1b[K";
constexpr std::string_view clear_below = "\x1b[J";

}  // namespace

Screen::Screen() {
  std::cout << enter << std::flush;
}
Screen::~Screen() {
  std::cout << leave << std::flush;
}

bool Screen::is_terminal() {
  return ::isatty(STDOUT_FILENO) == 1;
}

TextSize Screen::size() const {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return {};
  return {size.ws_row, size.ws_col};
}

void Screen::draw(std::string_view text) {
  // In one write and without clearing first, so that nothing flickers.
  std::string out(home);
  for (const char c : text) {
    if (c == '\n') out += clear_line_end;
    out += c;
  }
  out += clear_below;
  std::cout << out << std::flush;
}

}  // namespace freshet::app
