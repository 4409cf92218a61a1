#include "proxy/admin/answer.hpp"

namespace freshet::admin {

namespace {

std::string_view reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 413:
      return "Content Too Large";
    case 503:
      return "Service Unavailable";
    default:
      return "";
  }
}

}  // namespace

codec::ResponseHead head_of(const Answer& answer) {
  codec::ResponseHead head;
  head.status = answer.status;
  head.reason = reason_of(answer.status);
  head.fields.add("Content-Type", answer.content_type);
  head.fields.add("Content-Security-Policy", answer.policy);
  head.fields.add("X-Content-Type-Options", "nosniff");
  head.fields.add("X-Frame-Options", "DENY");
  head.fields.add("Referrer-Policy", "no-referrer");
  head.fields.add("Cross-Origin-Resource-Policy", "same-origin");
  head.fields.add("Cache-Control", "no-store");
  if (!answer.allow.empty()) head.fields.add("Allow", answer.allow);
  if (!answer.authenticate.empty()) head.fields.add("WWW-Authenticate", answer.authenticate);
  return head;
}

net::Task<> send(net::ServerExchange& client, Answer answer, std::string_view body) {
  co_await client.respond(head_of(answer), body);
}

}  // namespace freshet::admin
