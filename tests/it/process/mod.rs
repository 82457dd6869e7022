//! The program as a process: its commands, its environment, its end; and what the README and `examples/deploy` show.

pub mod deploy;
mod environment;
mod json;
mod live;
mod nodes;
mod progress;
mod readme;
pub mod serve;
mod stopping;
mod stuck_log;
mod terminal;
mod wall_clock;
