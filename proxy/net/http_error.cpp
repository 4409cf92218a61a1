#include "proxy/net/http_error.hpp"

#include <string>

namespace freshet::net {

namespace {

class Category final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "freshet.http"; }
  std::string message(int value) const override {
    switch (static_cast<HttpError>(value)) {
      case HttpError::bad_message:
        return "malformed or ambiguous message";
      case HttpError::head_limit:
        return "header section too large";
      case HttpError::body_limit:
        return "body too large";
      case HttpError::unsupported_coding:
        return "transfer coding not implemented";
      case HttpError::bad_version:
        return "HTTP version not supported";
      case HttpError::partial_message:
        return "peer ended inside a message";
    }
    return "unknown";
  }
};

}  // namespace

const boost::system::error_category& http_category() {
  static const Category category;
  return category;
}

}  // namespace freshet::net
