// Resource URIs can be secret. Masked, only the scheme is shown, and a short tag by which two of them can be told
// apart.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace freshet::admin {

class UriMask {
 public:
  // Not masking: URIs are shown as they are. The key of the tags is drawn anew in each process, so that a tag cannot be
  // compared with guesses made elsewhere.
  explicit UriMask(bool masks);

  void set_masks(bool masks) { masks_ = masks; }
  [[nodiscard]] bool masks() const { return masks_; }
  // "note://#1f0c9a3e55d2" where it masks.
  [[nodiscard]] std::string shown(std::string_view uri) const;

 private:
  bool masks_;
  std::array<unsigned char, 32> key_{};
};

}  // namespace freshet::admin
