// How the admin side answers: every answer carries the headers that keep a browser from doing more with it than show
// it. No CORS header is ever sent, so no other origin's script can read an answer.
#pragma once

#include <string_view>

#include "proxy/net/http_server.hpp"

namespace freshet::admin {

struct Answer {
  int status = 200;
  std::string_view content_type = "text/plain; charset=utf-8";
  std::string_view policy = "default-src 'none'; frame-ancestors 'none'";  // Content-Security-Policy
  std::string_view allow = "";                                             // of a 405: the methods that would do
  std::string_view authenticate = "";                                      // of a 401: the scheme that would do
};

[[nodiscard]] codec::ResponseHead head_of(const Answer& answer);

// `body` must live until the task completes. A peer that left is nobody's error.
net::Task<> send(net::ServerExchange& client, Answer answer, std::string_view body);

}  // namespace freshet::admin
