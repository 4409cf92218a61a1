#include "proxy/session/exchange_answers.hpp"

#include "proxy/codec/jsonrpc.hpp"
#include "proxy/codec/media_type.hpp"
#include "proxy/codec/sse.hpp"

namespace freshet::session {

namespace {

std::string joined_accept(const codec::Fields& fields) {
  std::string joined;
  for (const codec::Field& field : fields) {
    if (codec::names_equal(field.name, "Accept")) joined.append(joined.empty() ? "" : ", ").append(field.value);
  }
  return joined;
}

int status_of(const net::error_code& why) {
  if (why == net::asio::error::timed_out) return 504;
  const bool broke_off = why == net::asio::error::eof || why == net::asio::error::connection_reset ||
                         why == net::asio::error::broken_pipe || why.category() == net::http_category();
  return broke_off ? 502 : 503;
}

}  // namespace

net::Task<bool> answer_message(net::ServerExchange& client, int status, std::string message) {
  codec::ResponseHead head{.status = status};
  const std::string accept = joined_accept(client.head().fields);
  if (codec::accepts(accept, "application/json") || !codec::accepts(accept, "text/event-stream")) {
    head.fields.add("Content-Type", "application/json");
  } else {
    head.fields.add("Content-Type", "text/event-stream");
    message = codec::format_event({}, "message", message);
  }
  const auto written = co_await client.respond(std::move(head), message);
  co_return written.has_value();
}

net::Task<bool> answer_error(net::ServerExchange& client, int status, std::string_view id_json, int code,
                             std::string_view text) {
  co_return co_await answer_message(client, status, codec::error_response(id_json, code, text));
}

net::Task<bool> answer_unavailable(net::ServerExchange& client, std::string_view id_json, const net::error_code& why) {
  const std::string text = "UPSTREAM_UNAVAILABLE: " + why.message();
  co_return co_await answer_error(client, status_of(why), id_json, codec::error_codes::server_error, text);
}

net::Task<bool> answer_text(net::ServerExchange& client, int status, std::string_view text) {
  codec::ResponseHead head{.status = status};
  head.fields.add("Content-Type", "text/plain; charset=utf-8");
  const auto written = co_await client.respond(std::move(head), text);
  co_return written.has_value();
}

}  // namespace freshet::session
