// What can be wrong with an HTTP message, as error codes that travel beside the socket's own.
#pragma once

#include <boost/system/error_code.hpp>

namespace freshet::net {

enum class HttpError {
  bad_message = 1,     // breaks the grammar or its framing is ambiguous (RFC 9112 §2.2, §6.3): 400
  head_limit,          // the head is larger than the limit (RFC 6585 §5): 431
  body_limit,          // the body is larger than the reader accepts: 413
  unsupported_coding,  // a Transfer-Encoding other than chunked (RFC 9112 §6.1): 501
  bad_version,         // neither HTTP/1.0 nor HTTP/1.1: 505
  partial_message,     // the peer ended inside a message (RFC 9112 §8)
};

[[nodiscard]] const boost::system::error_category& http_category();

[[nodiscard]] inline boost::system::error_code make_error_code(HttpError error) {
  return {static_cast<int>(error), http_category()};
}

}  // namespace freshet::net

template <>
struct boost::system::is_error_code_enum<freshet::net::HttpError> : std::true_type {};
