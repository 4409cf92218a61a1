// A throw-away certificate authority, made anew for each test.
#pragma once

#include <string>

#include <openssl/evp.h>
#include <openssl/x509.h>

#include "tests/wire/support/temporary_folder.hpp"

namespace freshet::test {

class Certificates {
 public:
  // The authority's own certificate is in ca(); for each call of issue() one more server certificate.
  explicit Certificates(const TemporaryFolder& folder);
  ~Certificates();
  Certificates(const Certificates&) = delete;
  Certificates& operator=(const Certificates&) = delete;

  struct Files {
    std::string certificate;
    std::string key;
  };
  // `subject_alternatives` as OpenSSL writes them: "DNS:localhost,IP:127.0.0.1"
  Files issue(const std::string& subject_alternatives);
  [[nodiscard]] std::string ca() const { return folder_.file("ca.pem"); }

 private:
  const TemporaryFolder& folder_;
  EVP_PKEY* key_;
  X509* certificate_;
  int issued_ = 0;
};

}  // namespace freshet::test
