// What the upstream really has, for whom. Knows nothing of how it is watched.
#pragma once

#include <array>
#include <set>
#include <utility>
#include <vector>

#include "script.hpp"
#include "strategies/outcome.hpp"

namespace freshet::sim {

inline constexpr int absent = -1;
inline constexpr int refused = -2;

[[nodiscard]] std::string uri_name(unsigned uri);

class Truth {
 public:
  explicit Truth(const World& world) : world_(world) {}

  // What a client that comes as this principal would see now: a content's number, absent or refused. Contents of
  // different owners have different numbers; in a world that does not revert, later ones of one owner have greater.
  [[nodiscard]] int sees(unsigned client, unsigned principal, unsigned uri) const;
  [[nodiscard]] ReadOutcome read(unsigned client, unsigned principal, unsigned uri) const;
  [[nodiscard]] static int number(const Digest& digest);
  [[nodiscard]] static int number(const std::string& shown);  // as the engine shows a digest
  [[nodiscard]] static unsigned owner_of(int number) { return static_cast<unsigned>(number) % 4; }

  void change(unsigned uri, unsigned owner);
  void revert(unsigned uri, unsigned owner);
  void set_present(unsigned uri, bool present);
  void set_forbidden(unsigned uri, unsigned principal, bool forbidden) { forbidden_[uri][principal] = forbidden; }
  void revoke(unsigned principal) { revoked_[principal] = true; }
  [[nodiscard]] bool revoked(unsigned principal) const { return revoked_[principal]; }
  [[nodiscard]] bool present(unsigned uri) const { return present_[uri]; }
  [[nodiscard]] unsigned owner(unsigned client, unsigned principal) const;

 private:
  static constexpr unsigned owners = principals + 1;  // the last: the first client's own session
  struct Resource {
    int value = 1;
    int last = 1;
    std::vector<int> past{1};
  };
  World world_;
  std::array<std::array<Resource, owners>, uris> resources_;
  std::array<bool, uris> present_{true, true, true};
  std::array<std::array<bool, principals>, uris> forbidden_{};
  std::array<bool, principals> revoked_{};
};

}  // namespace freshet::sim
