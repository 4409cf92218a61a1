#include "proxy/admin/status_query.hpp"

#include <algorithm>
#include <charconv>

#include <boost/url/parse_query.hpp>

namespace freshet::admin {

namespace {

void read_count(std::string_view text, std::size_t& count) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) count = value;
}

}  // namespace

StatusQuery parse_status_query(std::string_view target) {
  StatusQuery query;
  const auto mark = target.find('?');
  if (mark == std::string_view::npos) return query;
  const auto parameters = boost::urls::parse_query(target.substr(mark + 1));
  if (!parameters) return query;
  boost::urls::encoding_opts options;
  options.space_as_plus = true;
  for (const auto& parameter : *parameters) {
    const std::string name = parameter.key.decode(options);
    const std::string value = parameter.value.decode(options);
    if (name == "limit") read_count(value, query.limit);
    if (name == "offset") read_count(value, query.offset);
    if (name == "search") query.search = value;
    if (name == "upstream") query.upstream = value;
  }
  query.limit = std::min(query.limit, StatusQuery::limit_max);
  return query;
}

}  // namespace freshet::admin
