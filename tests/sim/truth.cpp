#include "truth.hpp"

#include <charconv>

namespace freshet::sim {

namespace {

int combine(int value, std::uint64_t owner) {
  return value * 4 + static_cast<int>(owner);
}

}  // namespace

std::string uri_name(unsigned uri) {
  return "sim://resource/" + std::to_string(uri);
}

unsigned Truth::owner(unsigned client, unsigned principal) const {
  if (world_.per_session && client == 0) return principals;
  return world_.per_principal ? principal : 0;
}

int Truth::sees(unsigned client, unsigned principal, unsigned uri) const {
  if (revoked_[principal] || forbidden_[uri][principal]) return refused;
  if (!present_[uri]) return absent;
  const unsigned who = owner(client, principal);
  return combine(resources_[uri][who].value, who);
}

ReadOutcome Truth::read(unsigned client, unsigned principal, unsigned uri) const {
  static const RefusalPtr why = std::make_shared<const Refusal>();
  if (revoked_[principal]) return Unauthorized{why};
  if (forbidden_[uri][principal]) return Forbidden{why};
  if (!present_[uri]) return NotFound{why};
  const unsigned who = owner(client, principal);
  const int value = resources_[uri][who].value;
  Content content;
  content.digest = Digest{{static_cast<std::uint64_t>(value), 1024 + uri * 16 + who}};
  content.raw = RawDigest{{content.digest.high, content.digest.low}};
  content.result = std::make_shared<const std::string>();
  return content;
}

int Truth::number(const Digest& digest) {
  if (digest == absent_digest) return absent;
  if (digest == refused_digest) return refused;
  return combine(static_cast<int>(digest.high), digest.low % 16);
}

int Truth::number(const std::string& shown) {
  int value = 0;
  std::from_chars(shown.data(), shown.data() + 16, value, 16);
  return combine(value, static_cast<std::uint64_t>(shown.back() - '0'));
}

void Truth::change(unsigned uri, unsigned owner) {
  Resource& r = resources_[uri][owner];
  r.value = ++r.last;
  r.past.push_back(r.value);
}

void Truth::revert(unsigned uri, unsigned owner) {
  Resource& r = resources_[uri][owner];
  if (r.past.size() < 2) return;
  r.value = r.past[r.past.size() - 2];
  r.past.push_back(r.value);
}

void Truth::set_present(unsigned uri, bool present) {
  present_[uri] = present;
}

}  // namespace freshet::sim
