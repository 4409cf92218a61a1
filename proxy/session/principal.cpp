#include "proxy/session/principal.hpp"

#include <cassert>
#include <stdexcept>

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

namespace freshet::session {

PrincipalKeyer::PrincipalKeyer(std::vector<std::string> further_headers) : headers_(std::move(further_headers)) {
  headers_.insert(headers_.begin(), {"authorization", "x-api-key", "cookie"});
  if (RAND_bytes(key_.data(), static_cast<int>(key_.size())) != 1) {
    throw std::runtime_error("no randomness for the key of principals");
  }
}

Principal PrincipalKeyer::of(const codec::RequestHead& request) const {
  // Lengths stand before the values, so that no two different requests give the same bytes.
  std::string material;
  const auto append = [&](std::string_view name, std::string_view value) {
    material += std::string(name) + ':' + std::to_string(value.size()) + ':';
    material += value;
  };
  for (const std::string& name : headers_) {
    for (const codec::Field& field : request.fields) {
      if (codec::names_equal(field.name, name)) append(name, field.value);
    }
  }
  if (const auto query = request.target.find('?'); query != std::string::npos) {
    append("?", std::string_view(request.target).substr(query + 1));
  }
  Principal principal;
  if (material.empty()) return principal;
  unsigned int size = 0;
  const unsigned char* made = HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()),
                                   reinterpret_cast<const unsigned char*>(material.data()), material.size(),
                                   reinterpret_cast<unsigned char*>(principal.digest.data()), &size);
  assert(made != nullptr && size == principal.digest.size());
  return principal;
}

}  // namespace freshet::session
