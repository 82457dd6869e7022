//! `coffer pool`: imports live addresses. The command also works while a server is running.
//!
//! Invariant: a file is imported completely or not at all.

use super::invocation::{Invocation, required, verb};
use super::named_file::open_named;
use super::operator::ACTOR;
use super::output::{print_line, print_list};
use super::wallets::print_note_if_unwatched;
use crate::clock::Clock;
use crate::domain::asset::Chain;
use crate::domain::wallet::refuse_secrets;
use crate::domain::{Network, Refusal, RefusalCode, address};
use crate::service::Error;
use crate::service::pools::{self, import, reason_not_to_import};
use clap::Command;
use serde_json::to_string;
use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

/// Maximum bytes read: enough for more than ten thousand addresses.
const INPUT_BYTES_MAX: u64 = 1 << 20;
/// Maximum number of addresses in a file.
const LINES_MAX: usize = 10_000;

pub(super) fn pool_command(command: Command) -> Command {
    let about_import =
        "Adds addresses to the pool of a chain: all of them, or none if one is invalid";
    let import = [
        required("pool", "CHAIN", "The chain: solana"),
        required("addresses", "FILE", "A file with one address a line; - for standard input"),
    ];
    command.subcommand_required(true).subcommands([
        verb("import", about_import, import),
        verb("list", "Lists every pool, with how many addresses are free", []),
    ])
}

pub(super) fn run_pool(invocation: &Invocation<'_>) -> Result<(), Error> {
    // The addresses are validated before the database is created or opened.
    let read = match invocation.verb {
        "import" => {
            let chain = pools::chain_of_imported_pool(&invocation.text("pool"));
            let names: Vec<&str> =
                Chain::with_imported_addresses().map(Chain::address_pool).collect();
            let wrong = |_| Refusal::field("chain", format!("must be one of {}", names.join(", ")));
            let chain = chain.map_err(wrong)?;
            let text = read_input(&invocation.text("addresses"))?;
            Some((chain, parse_addresses(chain, &text)?))
        }
        _ => None,
    };
    let as_json = invocation.wants_json()?;
    let store = invocation.open_store(read.is_some())?;
    let Some((chain, lines)) = read else {
        let all = store.read(pools::list)?;
        return print_list(all.iter().map(|pool| Ok(to_string(pool)?)), as_json);
    };
    let now = Clock::new(0, None).now();
    let (numbers, addresses): (Vec<usize>, Vec<String>) = lines.into_iter().unzip();
    let done = store.write_and_wait(move |tx| {
        let place = |at: usize| format!("line {}", numbers.get(at).copied().unwrap_or_default());
        import(tx, now, ACTOR, chain, &addresses, place)
    })?;
    print_line(done.get())?;
    print_note_if_unwatched(&store, chain)
}

/// Reads a file, or standard input for `-`.
fn read_input(path: &str) -> Result<String, Error> {
    let failed = |why: String| Error::Failed(format!("cannot read {path}: {why}"));
    let mut text = String::new();
    let read = if path == "-" {
        std::io::stdin().lock().take(INPUT_BYTES_MAX).read_to_string(&mut text)
    } else {
        let file = open_named(Path::new(path));
        let file = file.map_err(|problem| Error::Failed(format!("cannot read {problem}")))?;
        file.take(INPUT_BYTES_MAX).read_to_string(&mut text)
    };
    let read = read.map_err(|error| failed(error.to_string()))?;
    if u64::try_from(read).unwrap_or(u64::MAX) >= INPUT_BYTES_MAX {
        return Err(failed(format!("it has {INPUT_BYTES_MAX} bytes or more")));
    }
    Ok(text)
}

/// Returns the addresses in canonical form, each with its line number. Skips blank lines.
fn parse_addresses(chain: Chain, text: &str) -> Result<Vec<(usize, String)>, Error> {
    refuse_secrets("addresses", text)?;
    let lines = (1_usize..).zip(text.lines().map(str::trim));
    let lines = lines.filter(|(_, line)| !line.is_empty());
    let (mut found, mut at): (Vec<(usize, String)>, HashMap<String, usize>) = Default::default();
    for (number, line) in lines {
        let wrong = |problem: String| {
            let message = format!("line {number} {problem}");
            Err(Refusal::for_param(RefusalCode::InvalidRequest, "addresses", message).into())
        };
        let parsed = address::parse_on_any_network(chain, &Network::BOTH, line);
        let address = match parsed {
            Ok((_, address)) => address,
            Err(problem) => return wrong(format!("is {problem}")),
        };
        if let Some(problem) = reason_not_to_import(chain, &address) {
            return wrong(problem);
        }
        if let Some(first) = at.insert(address.clone(), number) {
            return wrong(format!("repeats the address of line {first}"));
        }
        found.push((number, address));
    }
    if !(1..=LINES_MAX).contains(&found.len()) {
        let problem = format!("must be 1 to {LINES_MAX}, one a line");
        return Err(Refusal::field("addresses", problem).into());
    }
    Ok(found)
}
