#include "proxy/admin/status.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include <catch2/catch.hpp>

#include "proxy/admin/page.hpp"
#include "tests/unit/strategies/dialogue.hpp"

namespace freshet::admin {

namespace {

config::Settings settings() {
  config::Settings out;
  out.partners.emplace_back().name = "partner";
  out.upstreams.emplace_back().name = "upstream";
  out.upstreams.front().partner_name = "partner";
  return out;
}

struct World {
  explicit World(bool masks = false) : mask(masks) {}

  [[nodiscard]] Json status(const StatusQuery& query = {}) const {
    SubscriptionWalk walk(config, talk.engine, mask, query);
    while (walk.step(talk.now)) {
    }
    return status_json({.settings = config,
                        .engine = talk.engine,
                        .metrics = metrics,
                        .activity = activity,
                        .mask = mask,
                        .reload = reload,
                        .version = "1.2.3",
                        .draining = false,
                        .started = {Instant(1000s), WallTime(0s)},
                        .now = {talk.now, WallTime(1'700'000'000'123ms)}},
                       walk);
  }
  void subscribe(const std::string& uri) {
    talk.there[uri] = "text";
    talk.subscribe(ann, uri);
  }

  config::Settings config = settings();
  Dialogue talk;
  Metrics metrics{talk.engine.settings(), "1.2.3"};
  Activity activity{talk.engine.settings()};
  UriMask mask;
  std::optional<ReloadReport> reload;
};

std::string type_of(const Json& value) {
  if (value.is_null()) return "null";
  return value.is_number() ? "number" : value.type_name();
}

// Every member's path with the types that it was seen with.
void collect(const Json& value, const std::string& path, std::map<std::string, std::string>& members) {
  if (value.is_object()) {
    for (const auto& [name, member] : value.items()) collect(member, path.empty() ? name : path + "." + name, members);
  } else if (value.is_array()) {
    for (const Json& item : value) collect(item, path + "[]", members);
  } else {
    std::string& types = members[path];
    if (types.find(type_of(value)) == std::string::npos) types += (types.empty() ? "" : "|") + type_of(value);
  }
}

std::string members_of(const Json& value) {
  std::map<std::string, std::string> members;
  collect(value, "", members);
  std::string out;
  for (const auto& [path, types] : members) out += path + "\t" + types + "\n";
  return out;
}

std::string golden() {
  std::ifstream in(std::filesystem::path(__FILE__).parent_path() / "status.golden");
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("the members of /status and their types are those that were published") {
  World world;
  world.talk.session(ann);
  world.subscribe("r");
  world.activity.observe(PartnerPaused{PartnerId{0}, 5s, true}, {world.talk.now, {}});
  world.activity.observe(ReadJudged{.upstream = {}, .kind = {}, .verdict = Verdict::changed, .age_resolved = {}},
                         {world.talk.now, {}});
  world.activity.observe(ReadJudged{.upstream = {}, .kind = {}, .verdict = Verdict::error, .age_resolved = {}},
                         {world.talk.now, {}});
  world.talk.tell(PartnerHoldAsked{PartnerId{0}, true});
  world.reload = ReloadReport{.at = {}, .changed = {"log.level"}, .errors = {"listen.address: it needs a restart"}};
  CHECK(members_of(world.status()) == golden());
}

TEST_CASE("a subscription that was read is shown with its age and what it was chosen from") {
  World world;
  world.talk.session(ann, {}, {.resources = true, .server_name = "files", .server_version = "2"});
  world.subscribe("r");
  world.talk.pass(7s);
  const Json status = world.status();
  const Json& shown = status["subscriptions"]["items"][0];
  CHECK(shown["uri"] == "r");
  CHECK(shown["state"] == "active");
  CHECK(shown["strategy"] == "poll");
  CHECK(shown["age_s"].get<double>() <= 7.0);
  const Json& declared = status["upstreams"][0]["declared"];
  CHECK(declared["server_name"] == "files");
  CHECK(declared["why"] == "subscribe is not declared");
}

TEST_CASE("a picture that its reads do not renew is overdue, though its bound grows with it") {
  World world;
  world.talk.session(ann);
  world.talk.stream(ann);
  world.subscribe("r");
  world.talk.pass(60s);
  CHECK(world.status()["upstreams"][0]["subscriptions"]["overdue"] == 0);
  world.talk.instead["r"] = Failed{};
  world.talk.pass(300s);
  const Json status = world.status();
  const Json& item = status["subscriptions"]["items"][0];
  CHECK(item["age_s"].get<double>() > item["overdue_after_s"].get<double>());
  CHECK(item["age_s"].get<double>() <= item["bound_s"].get<double>());
  CHECK(status["upstreams"][0]["subscriptions"]["overdue"] == 1);
}

TEST_CASE("an upstream is shown with what it declares, and in which era it is met") {
  World world;
  world.talk.session(ann, {}, {.resources = true, .list_changed = true, .server_name = {}, .server_version = {}});
  world.talk.session(
      bob, {}, {.era = Era::modern, .resources = true, .subscribe = true, .server_name = {}, .server_version = {}});
  const Json upstream = world.status()["upstreams"][0];
  CHECK(upstream["sessions"]["by_era"] == Json({{"legacy", 1}, {"modern", 1}}));
  CHECK(upstream["declared"]["era"] == "modern");
  CHECK(upstream["declared"]["declares"] == "resources, subscribe");
}

TEST_CASE("a page of subscriptions counts all that match and shows those asked for") {
  World world;
  world.talk.session(ann);
  for (const char* uri : {"a1", "a2", "a3", "b1"}) world.subscribe(uri);
  const Json page = world.status({.limit = 1, .offset = 1, .search = "a", .upstream = {}})["subscriptions"];
  CHECK(page["total"] == 4);
  CHECK(page["matched"] == 3);
  CHECK(page["items"].size() == 1);
  CHECK(page["items"][0]["uri"] == "a2");
  CHECK(world.status({.upstream = "another"})["subscriptions"]["matched"] == 0);
}

TEST_CASE("a masked URI is neither shown nor found, and two of them can be told apart") {
  World world(true);
  world.talk.session(ann);
  world.subscribe("note://secret/a");
  world.subscribe("note://secret/b");
  const Json items = world.status()["subscriptions"]["items"];
  CHECK(to_text(items).find("secret") == std::string::npos);
  CHECK(items[0]["uri"].get<std::string>().starts_with("note://#"));
  CHECK(items[0]["uri"] != items[1]["uri"]);
  CHECK(world.status({.search = "secret"})["subscriptions"]["matched"] == 0);
}

TEST_CASE("a partner that the operator holds is paused without an end, and a held budget goes unread") {
  World world;
  world.talk.session(ann);
  world.talk.stream(ann);
  world.subscribe("r");
  world.talk.tell(PartnerHoldAsked{PartnerId{0}, true});
  const std::size_t before = world.talk.reads();
  world.talk.pass(300s);
  CHECK(world.talk.reads() == before);
  const Json paused = world.status()["partners"][0]["paused"];
  CHECK(paused["reason"] == "operator");
  CHECK(paused["seconds_left"].is_null());
  world.talk.tell(PartnerHoldAsked{PartnerId{0}, false});
  world.talk.pass(60s);
  CHECK(world.talk.reads() > before);
  CHECK(world.status()["partners"][0]["paused"].is_null());
}

TEST_CASE("a resource that an operator asks for is read at once, and only that one") {
  World world;
  world.talk.session(ann);
  world.talk.stream(ann);
  world.subscribe("a");
  world.subscribe("b");
  world.talk.pass(1s);
  const std::size_t before = world.talk.reads();
  world.talk.tell(RefreshAsked{UpstreamId{0}, "a"});
  CHECK(world.talk.reads() == before + 1);
}

TEST_CASE("the last reload is shown with what it changed, or why it was refused") {
  World world;
  CHECK(world.status()["last_reload"].is_null());
  world.reload = ReloadReport{.at = WallTime(0s), .changed = {"log.level"}, .errors = {}};
  CHECK(world.status()["last_reload"] == Json({{"at", "1970-01-01T00:00:00.000Z"},
                                               {"result", "applied"},
                                               {"changed", {"log.level"}},
                                               {"errors", Json::array()}}));
  CHECK(reload_event(*world.reload).detail == "changed: log.level");
  world.reload->errors = {"a", "b", "c", "d", "e"};
  CHECK(world.status()["last_reload"]["result"] == "refused");
  const RecentEvent refused = reload_event(*world.reload);
  CHECK(refused.warning);
  CHECK(refused.detail == "what ran before runs on: a; b; c and 2 more");
}

TEST_CASE("bytes of a URI that are no UTF-8 do not break the answer") {
  World world;
  world.talk.session(ann);
  world.subscribe("r\xff");
  CHECK_FALSE(Json::parse(to_text(world.status()), nullptr, false).is_discarded());
}

TEST_CASE("what the server writes into the page is text and never markup") {
  World world;
  world.talk.session(ann);
  world.subscribe("<script>alert('1')</script>");
  const std::string html = page_html("<!-- tables -->", world.status(), {.search = "\"><b>"});
  CHECK(html.find("<script>") == std::string::npos);
  CHECK(html.find("<b>") == std::string::npos);
  CHECK(page_html("<!-- tables -->", world.status(), {}).find("&lt;script&gt;") != std::string::npos);
}

TEST_CASE("the page's policy allows nothing inline, and the page has nothing inline") {
  const std::string_view html = page_file("/").text;
  CHECK(page_policy.find("unsafe") == std::string_view::npos);
  CHECK(html.find("style=") == std::string_view::npos);
  CHECK(html.find("<style") == std::string_view::npos);
  CHECK(html.find("onclick=") == std::string_view::npos);
  CHECK(html.find("://") == std::string_view::npos);
}

}  // namespace freshet::admin
