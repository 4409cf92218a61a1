#include "config/problem.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace freshet::config {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::string_view last_part(std::string_view path) {
  return path.substr(path.rfind('.') + 1);
}

}  // namespace

std::string to_string(const Problem& problem) {
  std::string text = problem.place.source;
  if (problem.place.line > 0) {
    text += ":" + std::to_string(problem.place.line) + ":" + std::to_string(problem.place.column);
  }
  if (!text.empty()) text += ": ";
  if (!problem.path.empty()) text += problem.path + ": ";
  return text + problem.message;
}

void Problems::add(const Place& place, std::string path, std::string message) {
  Problem problem{place, place.line > 0 || place.source.empty() ? std::move(path) : "", std::move(message)};
  const std::string text = to_string(problem);
  const auto same = [&](const Problem& other) { return to_string(other) == text; };
  if (std::none_of(problems_.begin(), problems_.end(), same)) problems_.push_back(std::move(problem));
}

void Problems::add_at(const std::string& path, std::string message) {
  add(place_of(path), path, std::move(message));
}

void Problems::set_at(const std::string& path, const Place& place) {
  places_[path] = place;
}

bool Problems::has_place(const std::string& path) const {
  return places_.contains(path);
}

Place Problems::place_of(std::string path) const {
  while (!path.empty()) {
    if (const auto found = places_.find(path); found != places_.end()) return found->second;
    const std::size_t cut = path.find_last_of(".[");
    path.resize(cut == std::string::npos ? 0 : cut);
  }
  return {};
}

std::vector<Problem> Problems::sorted() const {
  std::vector<const Problem*> order;
  for (const Problem& problem : problems_) order.push_back(&problem);
  std::sort(order.begin(), order.end(), [](const Problem* a, const Problem* b) {
    return std::tuple(a->place.line == 0, a->place.line, a->place.column, a) <
           std::tuple(b->place.line == 0, b->place.line, b->place.column, b);
  });
  std::vector<Problem> all;
  for (const Problem* problem : order) all.push_back(*problem);
  return all;
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = word.size() < 4 ? 2 : word.size() / 3 + 2;  // exclusive
  for (const std::string& candidate : candidates) {
    std::size_t distance = edit_distance(word, candidate);
    // Right name, wrong group: nearer than any misspelling but an exact neighbour.
    distance = std::min(distance, 1 + edit_distance(last_part(word), last_part(candidate)));
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string near = nearest(word, candidates);
  return near.empty() ? "" : "; did you mean \"" + near + "\"?";
}

}  // namespace freshet::config
