//! Features that only the sandbox has: clock, faults, inboxes and account settings. Also its use as a fixture in
//! other tests.

mod account;
mod clock;
mod command_line;
mod fault_answers;
mod faults;
mod fixtures;
mod hosts;
mod inbox;
mod left_behind;
mod stream;
