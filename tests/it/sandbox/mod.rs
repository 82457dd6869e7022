//! What only a sandbox has: its clock, faults, inbox and switches; and running it in other people's tests.

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
