//! `coffer setup`: asks for the settings of the installed service, writes them, and starts the service.
//!
//! Invariant: every answer is checked before the first write. Each file is written completely or not at all, so a setup
//! that was killed can be run again.

mod answers;
mod machine;
mod node;
mod plan;
mod print;

use super::installed::InstalledSettings;
use super::invocation::{Invocation, option};
use super::output::print_line;
use crate::service::Error;
use answers::Answers;
use clap::{Command, ValueHint};
use machine::Machine;
use plan::SetupPlan;
use std::path::PathBuf;

pub(super) fn setup_command(command: Command) -> Command {
    let about_answers =
        "Read the answers from a file that only its owner can read, one NAME=ANSWER on each line";
    let answers = option("answers", "FILE", about_answers).value_hint(ValueHint::FilePath);
    let print = option("print", "RECIPE", "Print a file for this machine, and change nothing")
        .value_parser(print::RECIPES.map(|(name, _)| name))
        .conflicts_with("answers");
    command.args([answers, print]).after_help(answers::help())
}

pub(super) fn run_setup(invocation: &Invocation<'_>) -> Result<(), Error> {
    let settings = InstalledSettings::read()?;
    if let Some(name) = invocation.optional::<String>("print") {
        return print::print_recipe(&name, settings.as_ref());
    }
    let Some(machine) = Machine::find()? else {
        return print::print_steps_by_hand(settings.as_ref());
    };
    let file = invocation.optional::<String>("answers").map(PathBuf::from);
    let mut answers = Answers::open(file.as_deref())?;
    let plan = SetupPlan::ask(&mut answers, settings.as_ref(), machine.is_active())?;
    machine.write(&plan)?;
    machine.start()?;
    let link = machine.create_link(plan.email.as_deref())?;
    plan.print_next_step();
    print_line(&link)
}
