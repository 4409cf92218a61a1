// The demo's client: subscribes to every resource that a server lists, and reads each again when it is told of a
// change. It knows nothing of Freshet: any MCP server that can notify would do.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <boost/system/result.hpp>

#include "proxy/net/alarm.hpp"
#include "proxy/net/http_client.hpp"
#include "strategies/time.hpp"

namespace freshet::app {

// One resource as the subscriber read it.
struct Reading {
  std::string uri;
  std::string text;
  // Of the notification that caused the read; a first read has none.
  struct Notice {
    net::Clock::time_point received;
    std::optional<Duration> bound;  // how stale the picture may be, as the notification says
  };
  std::optional<Notice> notice;
};

class DemoSubscriber {
 public:
  using OnReading = std::function<void(const Reading&)>;
  struct Failure {
    std::string reason;
  };

  DemoSubscriber(net::Executor executor, net::Origin origin, std::string target, OnReading on_reading);

  // From `initialize` to the session's end. Completes after stop(), or early with the reason. Once.
  net::Task<std::optional<Failure>> run();
  // Ends the session; run() then completes. To be called once at most.
  void stop();

 private:
  template <class T>
  using Outcome = boost::system::result<T, Failure>;
  struct Response {
    codec::ResponseHead head;
    std::string result;  // JSON
  };

  net::Task<std::optional<Failure>> converse();
  net::Task<std::optional<Failure>> open_session();
  net::Task<std::optional<Failure>> subscribe_to_all();
  net::Task<std::optional<Failure>> listen(net::ClientResponse& stream);
  net::Task<std::optional<Failure>> take(std::string data, net::Clock::time_point received);
  net::Task<std::optional<Failure>> read(std::string uri, std::optional<Reading::Notice> notice);
  net::Task<Outcome<Response>> call(std::string method, std::string params);
  net::Task<std::optional<Failure>> tell(std::string notification);
  net::Task<> end_session();
  [[nodiscard]] net::ClientRequest request(std::string method, std::string_view body) const;

  std::string target_;
  OnReading on_reading_;
  net::HttpClient http_;
  std::string session_id_;
  std::string protocol_version_;
  std::uint64_t last_id_ = 0;
  net::ClientResponse* stream_ = nullptr;  // while listen() runs
  bool stopping_ = false;
};

}  // namespace freshet::app
