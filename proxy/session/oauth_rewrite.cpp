#include "proxy/session/oauth_rewrite.hpp"

#include <vector>

#include "proxy/codec/json_string.hpp"
#include "proxy/codec/json_text.hpp"

namespace freshet::session {

namespace {

constexpr std::string_view metadata_path = "/.well-known/oauth-protected-resource";

// The upstream's URL as a client sees it: public origin, and the path under which Freshet serves the endpoint.
std::string public_form(std::string_view url, const Upstream& upstream) {
  const std::string origin = upstream.origin_url();
  if (!url.starts_with(origin)) return std::string(url);
  std::string rest(url.substr(origin.size()));
  if (!rest.empty() && rest.front() != '/' && rest.front() != '?') return std::string(url);  // another host or port
  if (rest == upstream.settings().url.path) rest = upstream.settings().path;
  return upstream.settings().public_url + rest;
}

}  // namespace

bool is_resource_metadata(std::string_view target) {
  return target.starts_with(metadata_path);
}

void rewrite_challenge(codec::Fields& fields, const Upstream& upstream) {
  constexpr std::string_view parameter = "resource_metadata=\"";
  codec::Fields rewritten;
  for (const codec::Field& field : fields) {
    std::string value(field.value);
    const auto at = value.find(parameter);
    if (codec::names_equal(field.name, "WWW-Authenticate") && at != std::string::npos) {
      const auto begin = at + parameter.size();
      const auto end = value.find('"', begin);
      if (end != std::string::npos) {
        value = value.substr(0, begin) + public_form(value.substr(begin, end - begin), upstream) + value.substr(end);
      }
    }
    rewritten.add(field.name, value);
  }
  fields = std::move(rewritten);
}

std::string rewrite_resource(std::string metadata, const Upstream& upstream) {
  codec::Span resource;
  codec::JsonReader reader(metadata);
  if (reader.peek() != codec::JsonKind::object) return metadata;
  reader.members([&](std::string_view name) {
    const bool wanted = codec::token_equals(name, "resource") && reader.peek() == codec::JsonKind::string;
    const codec::Span value = reader.skip();
    if (wanted) resource = value;
  });
  if (!reader.ok() || resource.empty()) return metadata;
  const std::string named = codec::unquote(resource.in(metadata));
  return metadata.replace(resource.begin, resource.size(), codec::quote(public_form(named, upstream)));
}

}  // namespace freshet::session
