// A conversation with an upstream that can notify, and one subscriber with its stream.
#pragma once

#include <utility>

#include "dialogue.hpp"

namespace freshet {

struct Native : Dialogue {
  explicit Native(Settings s = one_upstream()) : Dialogue(std::move(s)) {
    there["r"] = "A";
    session(ann, {}, subscribed());
    stream(ann);
  }
  // The answer to the first subscribe of "r", where it was held.
  void upstream_takes() { tell(NativeSubscribeEnded{ann, "r", 1, Accepted{}}); }
  Strategy strategy(SubscriberId s = ann) const { return view(s).strategy; }
  std::optional<StrategyReason> last_move() const {
    const auto moves = facts<StrategyChanged>();
    return moves.empty() ? std::nullopt : std::optional(moves.back().reason);
  }
};

}  // namespace freshet
