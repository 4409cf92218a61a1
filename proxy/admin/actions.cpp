#include "proxy/admin/actions.hpp"

#include <algorithm>
#include <array>

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include "proxy/admin/answer.hpp"
#include "proxy/admin/json_values.hpp"
#include "proxy/net/log.hpp"

namespace freshet::admin {

namespace {

std::array<unsigned char, SHA256_DIGEST_LENGTH> sha256(std::string_view text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return digest;
}

// In a time that says neither where they differ nor how long the right one is.
bool equal_secretly(std::string_view a, std::string_view b) {
  const auto x = sha256(a);
  const auto y = sha256(b);
  return CRYPTO_memcmp(x.data(), y.data(), x.size()) == 0;
}

template <class Named>
std::optional<std::uint32_t> place_of(const std::vector<Named>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &Named::name);
  if (found == all.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - all.begin());
}

std::string text_member(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

Actions::Actions(ActionParts parts, std::optional<config::SecretReader> token)
    : parts_(std::move(parts)), token_(std::move(token)) {}

bool Actions::authorized(const codec::RequestHead& head) {
  constexpr std::string_view scheme = "bearer ";
  const auto given = head.fields.find("Authorization");
  if (!given || given->size() <= scheme.size()) return false;
  if (!codec::names_equal(given->substr(0, scheme.size()), scheme)) return false;
  const auto token = token_->current();
  if (!token) {
    log::error("admin_token_unreadable", {{"reason", token.error()}});
    return false;
  }
  return !token->empty() && equal_secretly(*token, given->substr(scheme.size()));
}

net::Task<> Actions::handle(net::ServerExchange& client, std::string_view path) {
  const std::string peer = client.transport().peer_name();
  if (client.head().method != "POST") {
    co_return co_await send(client, {.status = 405, .allow = "POST"}, "only POST\n");
  }
  if (!token_) co_return co_await send(client, {.status = 403}, "actions need the setting admin.token\n");
  if (!authorized(client.head())) {
    log::warn("action_refused", {{"peer", peer}});
    co_return co_await send(client, {.status = 401, .authenticate = "Bearer"}, "the admin token is missing or wrong\n");
  }
  const auto body = co_await client.read_body(body_bytes_max);
  if (!body) co_return co_await send(client, {.status = 413}, "the body is too long or broken\n");
  const Outcome outcome = perform(path, *body, peer);
  const std::string text = outcome.text + "\n";
  co_await send(client, {.status = outcome.status}, text);
}

Actions::Outcome Actions::perform(std::string_view path, std::string_view body, const std::string& peer) {
  const std::string_view action = path.substr(std::string_view("/actions/").size());
  const Json json = Json::parse(body, nullptr, false);
  if (!json.is_object()) return {400, "the body is no JSON object"};
  const std::string upstream = text_member(json, "upstream");
  const std::string partner = text_member(json, "partner");
  const std::string uri = text_member(json, "uri");
  Outcome outcome{404, "there is no such action"};
  if (action == "refresh") outcome = refresh(upstream, uri);
  if (action == "pause" || action == "resume") outcome = hold(partner, action == "pause");
  if (outcome.status != 200) return outcome;
  log::info("operator_action", {{"action", std::string(action)},
                                {"subject", action == "refresh" ? upstream : partner},
                                {"uri", uri},
                                {"peer", peer}});
  parts_.events.add({.kind = "operator_action",
                     .subject = action == "refresh" ? upstream : partner,
                     .uri = {},
                     .detail = outcome.text},
                    parts_.now().wall);
  return outcome;
}

// The page knows a resource by what it is shown; where that is masked, the one meant is looked for.
std::optional<std::string> Actions::uri_of(UpstreamId upstream, const std::string& shown) const {
  std::optional<std::string> found;
  parts_.engine.for_each_subscription(parts_.now().instant, [&](const SubscriptionView& view) {
    if (!found && view.upstream == upstream && parts_.mask.shown(view.uri) == shown) found = std::string(view.uri);
  });
  return found;
}

Actions::Outcome Actions::refresh(const std::string& upstream, const std::string& shown_uri) {
  const auto place = place_of(parts_.settings.upstreams, upstream);
  if (!place) return {404, "there is no such upstream"};
  const UpstreamId id{*place};
  if (shown_uri.empty()) {
    parts_.apply(RefreshAsked{id, {}});
    return {200, "all that is watched there is read again as the budget allows"};
  }
  const auto uri = uri_of(id, shown_uri);
  if (!uri) return {404, "nobody watches this resource"};
  parts_.apply(RefreshAsked{id, *uri});
  return {200, "one resource is read again as the budget allows"};
}

Actions::Outcome Actions::hold(const std::string& partner, bool held) {
  const auto place = place_of(parts_.settings.partners, partner);
  if (!place) return {404, "there is no such partner"};
  parts_.apply(PartnerHoldAsked{PartnerId{*place}, held});
  return {200, held ? "polls are paused until they are resumed" : "polls go on"};
}

}  // namespace freshet::admin
