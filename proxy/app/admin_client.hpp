// The commands that ask a running sidecar through its own admin address, taken from the same settings.
#pragma once

#include <string>

#include "config/settings.hpp"
#include "proxy/net/http_client.hpp"

namespace freshet::app {

struct AdminAnswer {
  int status = 0;
  std::string body;
};

// The admin address as a client of this machine dials it: an unspecified address is the loopback one.
[[nodiscard]] net::Origin admin_origin(const config::Address& address);

// One GET, within a few seconds. `client` has the admin address for its origin.
net::Task<net::Result<AdminAnswer>> ask_admin(net::HttpClient& client, std::string target);

// `freshet health`: 0 if the sidecar takes traffic, 1 if it drains or does not answer.
[[nodiscard]] int health(const config::Settings& settings);
// `freshet status`: for people, or what /status says.
[[nodiscard]] int status(const config::Settings& settings, bool json);
// `freshet top`: redrawn each second until Ctrl-C; once where the output is no terminal.
[[nodiscard]] int top(const config::Settings& settings);

}  // namespace freshet::app
