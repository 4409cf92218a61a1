#include "tests/wire/support/certificates.hpp"

#include <cstdio>

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace freshet::test {

namespace {

void add_extension(X509* certificate, int kind, const std::string& value) {
  auto* extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
  REQUIRE(extension != nullptr);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

X509* make_certificate(EVP_PKEY* key, const char* name, long serial) {
  auto* certificate = X509_new();
  X509_set_version(certificate, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
  return certificate;
}

template <class Write>
void write_file(const std::string& path, Write write) {
  auto* file = std::fopen(path.c_str(), "w");
  REQUIRE(file != nullptr);
  REQUIRE(write(file) == 1);
  std::fclose(file);
}

}  // namespace

Certificates::Certificates(const TemporaryFolder& folder) : folder_(folder), key_(EVP_EC_gen("P-256")) {
  REQUIRE(key_ != nullptr);
  certificate_ = make_certificate(key_, "Test authority", 1);
  X509_set_issuer_name(certificate_, X509_get_subject_name(certificate_));
  add_extension(certificate_, NID_basic_constraints, "critical,CA:TRUE");
  REQUIRE(X509_sign(certificate_, key_, EVP_sha256()) > 0);
  write_file(ca(), [&](std::FILE* file) { return PEM_write_X509(file, certificate_); });
}

Certificates::~Certificates() {
  X509_free(certificate_);
  EVP_PKEY_free(key_);
}

Certificates::Files Certificates::issue(const std::string& subject_alternatives) {
  ++issued_;
  const Files files{folder_.file(std::to_string(issued_) + ".pem"), folder_.file(std::to_string(issued_) + ".key")};
  auto* key = EVP_EC_gen("P-256");
  auto* certificate = make_certificate(key, "Test server", 1 + issued_);
  X509_set_issuer_name(certificate, X509_get_subject_name(certificate_));
  add_extension(certificate, NID_subject_alt_name, subject_alternatives);
  REQUIRE(X509_sign(certificate, key_, EVP_sha256()) > 0);
  write_file(files.certificate, [&](std::FILE* file) { return PEM_write_X509(file, certificate); });
  write_file(files.key,
             [&](std::FILE* file) { return PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr); });
  X509_free(certificate);
  EVP_PKEY_free(key);
  return files;
}

}  // namespace freshet::test
