//! Features of the sandbox only: clock, faults, inboxes and account settings, and its use in other tests.

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
