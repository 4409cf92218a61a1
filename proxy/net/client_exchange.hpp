// The client's side of one exchange on one connection: writes a request, reads the response's head and body.
#pragma once

#include <memory>
#include <optional>

#include "proxy/net/connection_pool.hpp"
#include "proxy/net/http_client.hpp"
#include "proxy/net/http_parser.hpp"
#include "proxy/net/read_buffer.hpp"

namespace freshet::net {

class ClientExchange {
 public:
  ClientExchange(ConnectionPool& pool, ConnectionPool::Slot slot, const HttpClientLimits& limits);

  // Writes the request and reads the response's head. `origin_name` is the Host field.
  Task<Result<>> run(Transport transport, ClientRequest& request, std::string_view origin_name);
  // Any byte of a response came.
  [[nodiscard]] bool answered() const { return answered_; }

  [[nodiscard]] const codec::ResponseHead& head() const { return response_->head(); }
  Task<Result<std::string_view>> read_some();
  [[nodiscard]] const ResponseParser& response() const { return *response_; }
  void close();

 private:
  Task<Result<>> write_request(const ClientRequest& request, std::string_view origin_name);
  Task<Result<>> write_streamed(const ClientRequest& request, std::string head);
  Task<Result<>> read_head(bool to_head, Clock::time_point until);
  void end_of_body();

  ConnectionPool& pool_;
  std::optional<ConnectionPool::Slot> slot_;
  const HttpClientLimits& limits_;
  std::optional<Transport> transport_;
  ReadBuffer buffer_;
  std::optional<ResponseParser> response_;  // the final one, once run() is done
  Lifetime lifetime_ = Lifetime::call;
  bool answered_ = false;
  bool reusable_ = true;
};

}  // namespace freshet::net
