//! The program as a process: commands, environment and exit, and the commands of the README and `examples/deploy`.

mod accounts;
pub mod deploy;
mod environment;
mod json;
mod live_check;
mod nodes;
mod progress;
mod readme;
pub mod serve;
mod stopping;
mod stuck_log;
mod terminal;
mod wall_clock;
