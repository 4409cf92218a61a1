// What an operator asks by hand.
#include "strategies/engine.hpp"

namespace freshet {

void Engine::on(const RefreshAsked& e) {
  for (auto& [key, caller] : callers_) {
    if (key.first != e.upstream) continue;
    for (auto& [watch_key, watch] : caller.watches) {
      if (e.uri.empty() || watch_key.uri == e.uri) read_again(watch, now_.instant);
    }
  }
}

void Engine::on(const PartnerHoldAsked& e) {
  partners_[index(e.partner)].held = e.held;
}

}  // namespace freshet
