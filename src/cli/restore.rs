//! `coffer restore`: restores a backup and reports the changes: new wallet indexes, transfers and server orders that
//! are put on hold, and deliveries that are given up.

use super::invocation::{Invocation, option, required, switch};
use super::keeping::Findings;
use super::named_file::passed_file;
use super::output::print_line;
use super::progress::show_progress;
use super::server::public_url;
use crate::clock::Clock;
use crate::domain::wallet::{INDEX_END, find_wallet_chain};
use crate::domain::{TransferStatus, Units};
use crate::service::Error;
use crate::service::backup::{self as copies, RestoreOutcome, RestoreRequest};
use crate::store::StoreError;
use crate::store::backup::{LaterTransfer, NextIndex, WalletIndexChange};
use clap::{ArgAction, Command, ValueHint};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

pub(super) fn restore_command(command: Command) -> Command {
    let from = required("from", "SRC", "The copy to restore").value_hint(ValueHint::FilePath);
    let about_next =
        "Lowest next index of the wallets of a chain, if the replaced file is lost; repeatable";
    command.args([
        from,
        switch("force", "Replace the file even if the audit of the copy has findings"),
        switch("dry-run", "Verify the copy and print what would be done, without a change"),
        option("next-index", "CHAIN=N", about_next).action(ArgAction::Append),
    ])
}

pub(super) fn run_restore(invocation: &Invocation<'_>) -> Result<(), Error> {
    let as_json = invocation.wants_json()?;
    let (to, from) = (invocation.database_path()?, PathBuf::from(invocation.text("from")));
    let next: Vec<String> = invocation.all("next-index");
    let next: Vec<_> = next.iter().map(|text| parse_next_index(text)).collect::<Result<_, _>>()?;
    let public_url = public_url(&invocation.values)?;
    let opened = passed_file(&from).map_err(StoreError::from)?;
    let wanted = RestoreRequest {
        from: &from,
        opened: opened.as_ref(),
        to: &to,
        replace: invocation.has("force"),
        dry_run: invocation.has("dry-run"),
        public_url: public_url.as_deref(),
        next: &next,
        now: Clock::new(0, None).now(),
    };
    let mut findings = Findings::new(as_json);
    let restored =
        copies::restore(&wanted, &mut show_progress, &mut |finding| findings.add(&finding))?;
    if as_json {
        return print_line(&report_json(&wanted, &restored, findings).to_string());
    }
    for line in report_lines(&wanted, &restored) {
        print_line(&line)?;
    }
    Ok(())
}

/// Parses an argument of the form `CHAIN=N`, which sets the next index of a wallet.
fn parse_next_index(text: &str) -> Result<NextIndex, Error> {
    let wrong = |problem: &str| Error::Failed(format!("--next-index {text}: {problem}"));
    let (chain, index) =
        text.split_once('=').ok_or_else(|| wrong("must be CHAIN=N, for example bitcoin=5000"))?;
    let index: Option<u32> = index.parse().ok();
    Ok(NextIndex {
        chain: find_wallet_chain(chain).map_err(|refusal| wrong(&refusal.to_string()))?,
        index: index
            .filter(|index| *index < INDEX_END)
            .ok_or_else(|| wrong("N must be a whole number from 0 to 2147483647"))?,
    })
}

fn report_lines(wanted: &RestoreRequest<'_>, restored: &RestoreOutcome) -> Vec<String> {
    let held = &restored.copy_changes;
    let would = if wanted.dry_run { "would be " } else { "" };
    let wallets = held.indexes.iter();
    let mut lines: Vec<_> =
        wallets.map(|moved| wallet_line(wanted.dry_run, restored, moved)).collect();
    lines.extend(held.later.iter().map(transfer_line));
    if !held.later.is_empty() {
        let about = "continued after the copy: find each on its chain, and send none again";
        lines.push(format!("{} payouts and refunds {about}", held.later.len()));
    }
    for (count, about) in [
        (held.retired, "pool addresses {}retired: import fresh ones"),
        (held.transfers, "payouts and refunds {}held: check whether each was sent, then decide"),
        (held.servers, "server orders {}held: check whether each was created, then decide"),
        (held.deliveries, "deliveries {}given up: they can be sent again"),
        (held.mail, "e-mails {}given up: they may have been sent already"),
    ] {
        lines.push(format!("{count} {}", about.replace("{}", would)));
    }
    let removed = if wanted.dry_run { "would be removed" } else { "is removed" };
    for chain in &held.nodes {
        lines.push(format!(
            "the node of {chain} {removed}: it was entered under another public url; enter it again on the page \
             Chains"
        ));
    }
    let done = if wanted.dry_run { "can be" } else { "is" };
    let (to, from) = (wanted.to.display(), wanted.from.display());
    lines.push(format!("{to} {done} restored from {from}"));
    lines
}

fn wallet_line(dry_run: bool, restored: &RestoreOutcome, moved: &WalletIndexChange) -> String {
    let (go, is) = if dry_run { ("would go", "would be") } else { ("go", "is") };
    let WalletIndexChange { mode, pool, id, next_index, copied, replaced } = moved;
    let known = match (copied, replaced) {
        (Some(copied), Some(replaced)) => {
            format!("{copied} in the copy, {replaced} in the replaced file")
        }
        (Some(copied), None) => format!("{copied} in the copy"),
        (None, Some(replaced)) => format!("{replaced} in the replaced file"),
        (None, None) => String::new(),
    };
    match find_gap_limit(restored, id.as_ref()) {
        Some((id, _)) if copied.is_none() => format!(
            "{mode} {pool} wallet {id} is not in the copy: it {is} retired, and goes on from index {next_index} once it is \
             added again ({known})"
        ),
        Some((id, limit)) => format!(
            "{mode} {pool} addresses {go} on from index {next_index} of wallet {id}, which must scan with a gap limit of \
             {limit} ({known})"
        ),
        None => format!("{mode} {pool} addresses {go} on from index {next_index} ({known})"),
    }
}

/// Describes a transfer that progressed after the backup.
fn transfer_line(transfer: &LaterTransfer) -> String {
    let coin = transfer.asset;
    let amount_crypto = transfer
        .amount_crypto
        .map(|amount| format!(", {} {}", coin.format_units(amount), coin.symbol));
    let txid = transfer.txid.as_deref();
    format!(
        "{kind} {id} is {status} in the replaced file and {copied}: {mode} {amount} {currency}{amount_crypto} to {to}, {txid}",
        kind = transfer.kind,
        id = transfer.id,
        status = transfer.status,
        copied = transfer
            .copied
            .map_or("not in the copy".to_owned(), |status| format!("{status} in the copy")),
        mode = transfer.mode,
        amount = transfer.amount,
        currency = transfer.currency,
        amount_crypto = amount_crypto.unwrap_or_else(|| format!(" in {}", coin.id)),
        to = transfer.to_address,
        txid = txid.map_or("no txid".to_owned(), |txid| format!("txid {txid}")),
    )
}

/// Returns the id and the gap limit of a wallet. The gap limit is the number of consecutive unused addresses that the
/// wallet software of the owner must scan.
fn find_gap_limit<'a>(
    restored: &'a RestoreOutcome,
    id: Option<&String>,
) -> Option<&'a (String, u32)> {
    let mut limits = restored.gap_limits.iter();
    limits.find(|(of, _)| Some(of) == id)
}

fn report_json(
    wanted: &RestoreRequest<'_>,
    restored: &RestoreOutcome,
    findings: Findings,
) -> Value {
    let held = &restored.copy_changes;
    let indexes = held.indexes.iter().map(|moved| {
        let limit = find_gap_limit(restored, moved.id.as_ref()).map(|(_, limit)| limit);
        json!({
            "mode": moved.mode, "pool": moved.pool, "nextIndex": moved.next_index, "wallet": moved.id, "gapLimit": limit,
            "copyIndex": moved.copied, "replacedIndex": moved.replaced,
        })
    });
    let shown = |path: &Path| path.display().to_string();
    json!({
        "findings": findings.kept, "findingCount": findings.count, "indexes": indexes.collect::<Vec<_>>(),
        "addressesRetired": held.retired, "transfersHeld": held.transfers, "serversHeld": held.servers,
        "deliveriesGivenUp": held.deliveries, "nodesRemoved": held.nodes,
        "mailGivenUp": held.mail,
        "transfersAfterCopy": held.later.iter().map(transfer_view).collect::<Vec<_>>(),
        "warnings": held.warnings, "file": shown(wanted.to), "from": shown(wanted.from), "dryRun": wanted.dry_run,
    })
}

/// Renders a transfer that progressed after the backup as JSON.
fn transfer_view(transfer: &LaterTransfer) -> Value {
    let amount_crypto = |amount: Units| transfer.asset.format_units(amount);
    json!({
        "id": transfer.id, "kind": transfer.kind.as_str(), "mode": transfer.mode, "status": transfer.status.as_str(),
        "copyStatus": transfer.copied.map(TransferStatus::as_str), "amount": transfer.amount,
        "currency": transfer.currency, "asset": transfer.asset.id,
        "amountCrypto": transfer.amount_crypto.map(amount_crypto), "toAddress": transfer.to_address,
        "txid": transfer.txid,
    })
}
