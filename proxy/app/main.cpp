// Freshet's manual in short: read the settings, say everything that is wrong with them at once, serve, read them
// again on SIGHUP, and on SIGTERM or SIGINT drain and leave with 0. Other commands are below commands.hpp.
#include <exception>
#include <iostream>

#include "config/load.hpp"
#include "proxy/app/commands.hpp"

extern char** environ;

int main(int argc, char** argv) {
  using namespace freshet;
  try {
    const config::Sources sources = config::process_sources(argc, argv, environ);
    return app::run_command(config::load(sources), sources);
  } catch (const std::exception& e) {
    std::cerr << "freshet: " << e.what() << '\n';
    return 1;
  }
}
