// The demo's upstream: an MCP server over Streamable HTTP (2025-06-18, 2025-11-25) on a loopback port. Its resources
// change now and then, and it can tell nobody: it declares `resources` without `subscribe`, and offers no stream.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "proxy/app/demo_deployments.hpp"
#include "proxy/codec/jsonrpc.hpp"
#include "proxy/net/listener.hpp"

namespace freshet::app {

class DemoServer {
 public:
  using OnChange = std::function<void(const Deployment&)>;

  // Binds; throws if it cannot. `on_change` is called from the loop for each change.
  DemoServer(net::Executor executor, std::uint64_t seed, OnChange on_change);

  // Serves until stop() completes.
  void start();
  // Changes a resource every few seconds from now on. Once, after start().
  void begin_changes() { tasks_.spawn(change_now_and_then()); }
  net::Task<> stop();

  [[nodiscard]] std::string url() const;
  [[nodiscard]] const Deployments& deployments() const { return deployments_; }
  [[nodiscard]] std::uint64_t reads() const { return reads_; }

 private:
  struct Answer {
    int status = 200;
    std::string body{};        // JSON, or nothing
    std::string session_id{};  // set: a session that begins with this answer
  };

  net::Task<> change_now_and_then();
  net::Task<> handle(net::ServerExchange& client);
  [[nodiscard]] Answer refuse(int status, std::string_view reason) const;
  Answer take(const codec::RequestHead& head, std::string_view body);
  Answer initialize(const codec::Message& message);
  Answer result_of(const codec::Message& message);
  Answer read(const codec::Message& message);

  net::Executor executor_;
  Random random_;
  Deployments deployments_;
  OnChange on_change_;
  net::Listener listener_;
  net::TaskGroup tasks_;
  std::set<std::string, std::less<>> sessions_;
  std::uint64_t reads_ = 0;
};

}  // namespace freshet::app
