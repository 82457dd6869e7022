//! `coffer wallet`: manages the extended public keys of live wallets. The command also works while a server is
//! running.
//!
//! Invariant: a key comes from standard input, never from arguments, which other users can see. Error messages do not
//! repeat the input.

use super::invocation::{Invocation, option, required, switch, verb};
use super::operator::ACTOR;
use super::output::{print_line, print_list, print_text};
use super::progress::show_progress;
use super::terminal::Stream;
use crate::clock::Clock;
use crate::domain::asset::Chain;
use crate::domain::wallet::{
    AddOwnAddress, INDEX_END, NAME_CHARS_MAX, contains_seed_phrase, may_be_seed_phrase_word,
    refuse_secrets, refuse_secrets_in_body, secret_problem,
};
use crate::domain::{Progress, Refusal, ScriptType, WalletNetwork, WalletSecret};
use crate::service::Error;
use crate::service::followed::unwatched_pool_note;
use crate::service::wallets::addresses::{
    ADDRESSES_HEADER, AddressReceipt, list_handed_out_addresses as next_addresses, to_csv,
};
use crate::service::wallets::{self, WalletToAdd, own_addresses};
use crate::store::Store;
use clap::Command;
use serde_json::{Map, Value, json};
use std::ffi::OsString;
use std::io::{BufRead, Cursor, IsTerminal, Read, Write};

const INPUT_BYTES_MAX: u64 = 8192;

/// Adds the subcommands of `coffer wallet`. Clap validates no value, because its error message would print the value.
pub(super) fn wallet_command(command: Command) -> Command {
    let chain = |help| required("chain", "CHAIN", help);
    let scripts = ScriptType::TEXTS.join(", ");
    let networks = WalletNetwork::NAMED.map(WalletNetwork::as_str).join(", ");
    let add = [
        chain("bitcoin, litecoin, dogecoin, evm or tron"),
        option(
            "script",
            "SCRIPT",
            format!("Script of its outputs, if the key does not contain it: {scripts}"),
        ),
        option("network", "NETWORK", format!("Network, if a test key fits several: {networks}")),
        option("next", "N", "First index, if the key was used elsewhere"),
        option("name", "NAME", format!("Name of the wallet, at most {NAME_CHARS_MAX} characters")),
        switch("force", "Accept N even if it is more than 100000 above the wallet's next index"),
        switch("yes", "Add it without confirmation of its first addresses"),
    ];
    let own = [
        chain("bitcoin, litecoin, dogecoin, evm, tron or solana; an EVM chain's own name does too"),
        required("address", "ADDRESS", "The address"),
    ];
    let addresses = [
        option("wallet", "WALLET", "Only those of the wallet with this id"),
        switch("funded", "Only addresses with payments"),
    ];
    let id = required("wallet", "WALLET", "The wallet's id");
    command.subcommand_required(true).subcommands([
        verb(
            "add",
            "Adds a wallet: reads an extended public key or a descriptor from standard input",
            add,
        ),
        verb("list", "Lists every wallet, with its first addresses and the gap limit to set", []),
        verb("retire", "Retires a wallet: it assigns no more addresses, and stays watched", [id]),
        verb("own", "Declares an address as your own: transfers from it are not payments", own),
        verb(
            "addresses",
            "Prints the assigned addresses as CSV: path, address, coin, amount, wallet",
            addresses,
        ),
    ])
}

/// Returns a refusal if an argument contains a private key or a seed phrase. Runs before parsing, because an error of
/// the parser would print the argument.
pub(super) fn find_private_argument(args: &[OsString]) -> Option<Refusal> {
    let texts: Vec<_> = args.iter().map(|arg| arg.to_string_lossy()).collect();
    let is_wallet = texts.iter().skip(1).any(|text| text == "wallet");
    // File names, and tokens of other commands, may look like a private key in hexadecimal.
    let is_name = |at: usize| {
        let before = at.checked_sub(1).and_then(|at| texts.get(at));
        let named = texts.get(at).is_some_and(|text| text.starts_with("--file="));
        named || at == 0 || before.is_some_and(|before| before == "--file")
    };
    let found = texts.iter().enumerate().find_map(|(at, text)| {
        if is_wallet && !is_name(at) {
            return WalletSecret::find_in_text(text);
        }
        WalletSecret::find_in_argument(text).filter(|secret| *secret != WalletSecret::Hex)
    });
    let is_phrase = is_wallet && contains_seed_phrase(texts.iter().map(|text| text.as_ref()));
    let found = found.or_else(|| is_phrase.then_some(WalletSecret::Phrase));
    let problem = secret_problem(found?);
    Some(Refusal::field("an argument", problem))
}

pub(super) fn run_wallet(invocation: &Invocation<'_>) -> Result<(), Error> {
    // The key is validated before the database is created or opened.
    let added = match invocation.verb {
        "add" => {
            let mut input = open_stdin()?;
            Some((read_wallet(invocation, &mut *input)?, input))
        }
        _ => None,
    };
    let as_json = invocation.wants_json()?;
    let store = invocation.open_store(added.is_some())?;
    let now = Clock::new(0, None).now();
    let done = match (invocation.verb, added) {
        ("add", Some((wanted, mut input))) => {
            let chain = wanted.chain();
            let wanted = wanted.allow_any_next_index(invocation.has("force"));
            confirm_addresses(&store, &wanted, invocation.has("yes"), &mut *input)?;
            let added = store.write_and_wait(move |tx| wallets::add(tx, ACTOR, &wanted, now))?;
            print_line(added.get())?;
            return print_note_if_unwatched(&store, chain);
        }
        ("retire", _) => {
            let id = invocation.text("wallet");
            store.write_and_wait(move |tx| wallets::retire(tx, ACTOR, &id, now))?
        }
        ("own", _) => {
            let fields = ["chain", "address"]
                .map(|name| (name.to_owned(), Value::from(invocation.text(name))));
            let body = Map::from_iter(fields);
            refuse_secrets_in_body(&body)?;
            let body = AddOwnAddress::read(&body)?;
            store.write_and_wait(move |tx| {
                own_addresses::declare_own_address(tx, ACTOR, &body, now)
            })?
        }
        ("addresses", _) => {
            let wallet: Option<String> = invocation.optional("wallet");
            let funded = invocation.has("funded");
            return print_addresses(&store, wallet.as_deref(), funded, as_json);
        }
        _ => {
            let all = store.read(wallets::list)?;
            return print_list(all.iter().map(|wallet| Ok(wallet.get().to_owned())), as_json);
        }
    };
    print_line(done.get())
}

/// Prints a note on standard error if no server has followed the chain yet. Until then, no address of the chain is
/// assigned.
pub(super) fn print_note_if_unwatched(store: &Store, chain: Chain) -> Result<(), Error> {
    let Some(note) = store.read(|db| unwatched_pool_note(db, chain))? else {
        return Ok(());
    };
    // A failed write is ignored, because the change is already stored.
    let _ = writeln!(std::io::stderr().lock(), "{note}");
    Ok(())
}

fn read_wallet(invocation: &Invocation<'_>, input: &mut dyn BufRead) -> Result<WalletToAdd, Error> {
    let text = |name| invocation.optional::<String>(name);
    let mut body = Map::new();
    for name in ["chain", "script", "network", "name"] {
        if let Some(text) = text(name) {
            body.insert(name.to_owned(), Value::from(text));
        }
    }
    if let Some(next) = text("next") {
        let number: u32 = next
            .parse()
            .map_err(|_| Refusal::field("next", "must be a whole number from 0 to 2147483647"))?;
        body.insert("next".to_owned(), Value::from(number));
    }
    let key = read_line(input, true)?;
    if may_be_seed_phrase_word(&key) {
        // The user may have entered a seed phrase with one word on each line. The first word is enough to recognise
        // it.
        return Err(Refusal::field("key", secret_problem(WalletSecret::Phrase)).into());
    }
    body.insert("key".to_owned(), Value::from(key));
    Ok(WalletToAdd::from_body(&body)?)
}

/// Returns standard input. Input from a pipe is read completely, because a seed phrase may be spread over several
/// lines.
fn open_stdin() -> Result<Box<dyn BufRead>, Error> {
    let stdin = std::io::stdin();
    let is_terminal = stdin.is_terminal();
    let mut limited = stdin.lock().take(INPUT_BYTES_MAX);
    if is_terminal {
        return Ok(Box::new(limited));
    }
    let mut whole = String::new();
    let read = limited.read_to_string(&mut whole);
    read.map_err(|_| Error::Failed("standard input holds no text".to_owned()))?;
    refuse_secrets("key", &whole)?;
    Ok(Box::new(Cursor::new(whole)))
}

/// Returns the next line of standard input, trimmed. Skips blank lines if the line is required.
fn read_line(input: &mut dyn BufRead, must_be_given: bool) -> Result<String, Error> {
    let mut line = String::new();
    loop {
        let read = input.read_line(&mut line);
        let read = read.map_err(|_| Error::Failed("standard input holds no text".to_owned()))?;
        if !line.trim().is_empty() || !must_be_given {
            return Ok(line.trim().to_owned());
        }
        if read == 0 {
            return Err(Refusal::field("key", "must be given on standard input").into());
        }
    }
}

/// Shows the first addresses of a new wallet and asks whether they match the owner's wallet.
fn confirm_addresses(
    store: &Store,
    wanted: &WalletToAdd,
    is_sure: bool,
    input: &mut dyn BufRead,
) -> Result<(), Error> {
    let (found, before, fresh_from) = store.read(|db| {
        let found: Value = serde_json::from_str(wallets::preview(db, wanted)?.get())?;
        let known = found.get("wallet").and_then(Value::as_str);
        let known = known.map(|id| wallets::find(db, id)).transpose()?;
        let before = known.map(|row| row.next_index);
        Ok::<_, Error>((found, before, wallets::first_index_of_new_wallet(db)?))
    })?;
    let mut said = "the first addresses of this wallet:\n".to_owned();
    let addresses = found.get("addresses").and_then(Value::as_array);
    let addresses = addresses.into_iter().flatten();
    for (index, address) in addresses.enumerate() {
        said.push_str(&format!("  m/0/{index}  {}\n", address.as_str().unwrap_or_default()));
    }
    let next = found.get("nextIndex").and_then(Value::as_u64);
    let next = next.and_then(|next| u32::try_from(next).ok()).unwrap_or(INDEX_END);
    let known = found.get("wallet").and_then(Value::as_str);
    if let Some(known) = known {
        said.push_str(&format!("it is known as {known} and goes on from index {next}\n"));
    }
    if let Some(before) = before.filter(|before| *before != next) {
        said.push_str(&format!("next index {before} -> {next}\n"));
    }
    if next >= INDEX_END {
        said.push_str(
            "no index of it is left, so it hands out nothing: add the key of another account\n",
        );
    } else if next.saturating_add(1) == INDEX_END {
        said.push_str(&format!(
            "{next} is its last index: nothing is left to hand out behind it\n"
        ));
    }
    if known.is_none() && fresh_from > 0 {
        said.push_str(&format!(
            "it begins with index {next}: this file is a copy that was restored, and may not know what this wallet \
             handed out since the copy\n"
        ));
    }
    if !is_sure {
        said.push_str("compare them with your own wallet: are they the same? yes or no: ");
    }
    let mut out = std::io::stderr().lock();
    // A failed write is ignored: a user who does not see the addresses does not confirm them.
    let _ = out.write_all(said.as_bytes()).and_then(|()| out.flush());
    if is_sure {
        return Ok(());
    }
    match read_line(input, false)?.to_ascii_lowercase().as_str() {
        "yes" | "y" => Ok(()),
        _ => Err(Error::Failed(
            "the wallet was not added: answer yes once its addresses are those of your own wallet, or say --yes".to_owned(),
        )),
    }
}

/// Prints the addresses of one wallet or of all.
fn print_addresses(
    store: &Store,
    wallet: Option<&str>,
    funded: bool,
    as_json: bool,
) -> Result<(), Error> {
    let rows = store.read(|db| match wallet {
        Some(id) => Ok(vec![wallets::find(db, id)?]),
        None => wallets::all(db),
    })?;
    // The progress line is shown only if the addresses are not printed on the terminal.
    let is_shown = !Stream::Out.is_terminal();
    let of = rows.iter().map(|row| u64::from(row.next_index)).sum();
    let mut before = 0_u64;
    let (mut all, mut is_read) = (Vec::new(), true);
    if !as_json {
        is_read = print_text(&format!("{}\n", ADDRESSES_HEADER.trim_end()))?;
    }
    for row in rows {
        let mut from = 0;
        while is_read
            && let Some((next, behind)) = store.read(|db| next_addresses(db, &row, funded, from))?
        {
            if as_json {
                all.extend(next.iter().map(|one| Ok(address_view(&row.id, one))));
            } else {
                is_read = print_text(&to_csv(&row, &next).replace('\r', ""))?;
            }
            from = behind;
            let done = before.saturating_add(u64::from(behind));
            if is_shown {
                let part = "addresses read";
                show_progress(Progress::Done { part, done, of });
            }
        }
        before = before.saturating_add(u64::from(row.next_index));
    }
    if as_json {
        print_list(all.into_iter(), true)?;
    }
    Ok(())
}

fn address_view(wallet: &str, one: &AddressReceipt) -> String {
    let came = one.received.as_ref();
    let view = json!({
        "path": format!("m/0/{}", one.index), "address": one.address, "coin": came.map(|(coin, _)| coin),
        "amount": came.map(|(_, amount)| amount), "wallet": wallet,
    });
    view.to_string()
}
