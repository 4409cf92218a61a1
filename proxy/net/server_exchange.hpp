// The server's side of one exchange on one connection.
#pragma once

#include <cstdint>
#include <optional>

#include "proxy/net/http_parser.hpp"
#include "proxy/net/http_server.hpp"
#include "proxy/net/read_buffer.hpp"

namespace freshet::net {

// What the exchanges of a connection share.
struct ServerConnection {
  Transport transport;
  ReadBuffer buffer;
  const HttpServerLimits& limits;
  const ServerConnections& all;
};

class ConnectionExchange final : public ServerExchange {
 public:
  // `request`: its head is done.
  ConnectionExchange(ServerConnection& connection, RequestParser request);

  const codec::RequestHead& head() const override { return request_.head(); }
  Transport& transport() override { return connection_.transport; }
  Task<Result<std::string_view>> read_body_some() override;
  Task<Result<std::string>> read_body(std::size_t bytes_max) override;
  Task<Result<>> respond(codec::ResponseHead head, std::string_view body) override;
  void begin(codec::ResponseHead head) override;
  Task<Result<>> write(std::string_view piece) override;
  Task<Result<>> flush() override;
  Task<Result<>> finish() override;
  bool begun() const override { return response_ != Response::none; }
  Task<bool> peer_ended() override { return connection_.transport.peer_ended(); }

  // After the handler: completes what it left undone. False: the connection ends here.
  Task<bool> settle();

 private:
  enum class Response : std::uint8_t { none, open, complete, failed };
  enum class Delimiting : std::uint8_t { none, length, chunked, close };

  [[nodiscard]] bool body_can_be_drained() const;
  void complete_head(codec::ResponseHead& head);
  Delimiting choose_delimiting(codec::ResponseHead& head);
  Task<Result<>> send(std::span<const std::string_view> pieces);

  ServerConnection& connection_;
  RequestParser request_;
  std::string unsent_head_;
  std::uint64_t length_left_ = 0;  // of a response with Content-Length
  error_code body_error_;
  Response response_ = Response::none;
  Delimiting delimiting_ = Delimiting::none;
  bool bodiless_ = false;
  bool continue_owed_;
  bool keep_alive_;
};

}  // namespace freshet::net
