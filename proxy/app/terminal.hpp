// A terminal that one picture at a time is drawn on.
#pragma once

#include <cstddef>
#include <string_view>

namespace freshet::app {

struct TextSize {
  std::size_t lines = 24;
  std::size_t columns = 80;
};

// Takes the alternate screen and gives the old one back at its end.
class Screen {
 public:
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  // Whether standard output is one.
  [[nodiscard]] static bool is_terminal();
  [[nodiscard]] TextSize size() const;
  // Lines beyond the size would scroll: the caller keeps within it.
  void draw(std::string_view text);
};

}  // namespace freshet::app
