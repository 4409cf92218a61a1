#include "proxy/codec/http_fields.hpp"

#include <catch2/catch.hpp>

namespace freshet::codec {

namespace {

Fields fields_of(std::initializer_list<Field> lines) {
  Fields fields;
  for (const auto& line : lines) fields.add(line.name, line.value);
  return fields;
}

std::string names_in(const Fields& fields) {
  std::string out;
  for (const auto& field : fields) out += std::string(field.name) + ' ';
  return out;
}

}  // namespace

TEST_CASE("a field is found whatever the case of its name", "[http_fields]") {
  const auto fields = fields_of({{"Content-TYPE", "a"}, {"content-type", "b"}});
  CHECK(fields.find("Content-Type") == "a");
  CHECK(fields.count("CONTENT-TYPE") == 2);
  CHECK_FALSE(fields.contains("Content-Typ"));
}

TEST_CASE("set puts one line in the place of the first and drops the others", "[http_fields]") {
  auto fields = fields_of({{"A", "1"}, {"Host", "x"}, {"B", "2"}, {"HOST", "y"}});
  fields.set("Host", "z");
  CHECK(names_in(fields) == "A Host B ");
  CHECK(fields.find("host") == "z");
  fields.set("C", "3");
  CHECK(names_in(fields) == "A Host B C ");
}

TEST_CASE("a head is serialised in the order received, its empty line included", "[http_fields]") {
  RequestHead request{"POST", "/mcp?x=1", 1, fields_of({{"Host", "u"}, {"X", "1"}, {"X", "2"}})};
  CHECK(serialize(request) == "POST /mcp?x=1 HTTP/1.1\r\nHost: u\r\nX: 1\r\nX: 2\r\n\r\n");
  CHECK(serialize(ResponseHead{204, "", 1, {}}) == "HTTP/1.1 204 \r\n\r\n");
}

TEST_CASE("what Connection names does not travel on, nor do the hop-by-hop fields (B87)", "[http_fields]") {
  auto fields = fields_of({{"Host", "p.example.test"},
                           {"Connection", "keep-alive, X-Secret, MCP-Session-Id"},
                           {"X-Secret", "1"},
                           {"MCP-Session-Id", "s1"},
                           {"Proxy-Authorization", "Basic eA=="},
                           {"TE", "trailers"},
                           {"Upgrade", "h2c"},
                           {"Keep-Alive", "timeout=5"},
                           {"Transfer-Encoding", "chunked"},
                           {"Expect", "100-continue"},
                           {"Trailer", "X-Sum"},
                           {"Accept", "*/*"}});
  remove_hop_by_hop(fields);
  CHECK(names_in(fields) == "Host Accept ");
}

TEST_CASE("every Connection line counts", "[http_fields]") {
  auto fields = fields_of({{"connection", "close"}, {"CONNECTION", " ,x-a,"}, {"X-A", "1"}, {"X-B", "2"}});
  remove_hop_by_hop(fields);
  CHECK(names_in(fields) == "X-B ");
}

}  // namespace freshet::codec
