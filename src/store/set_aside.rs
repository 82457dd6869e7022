//! The table `set_aside`: transactions and addresses that a node does not give, although it gives everything else.

use super::statement::statements;
use super::{StoreError, Tx};
use crate::domain::asset::Chain;
use crate::domain::{SetAside, SetAsideKind, Time};
use std::collections::HashSet;

statements! {
    row read(kind, id, height, reason) -> SetAside {
        Ok(SetAside { kind, id, height, reason })
    }

    /// Returns what is set aside on a chain, the oldest first.
    pub fn of_chain(db, chain: Chain) -> Vec<SetAside> =
        select "from set_aside where chain = :chain order by since, kind, id";

    fn put(tx, chain: Chain, part: &SetAside, since: Time) =
        "insert into set_aside (chain, kind, id, height, reason, since) \
            values (:chain, :kind, :id, :height, :reason, :since) on conflict (chain, kind, id) \
            do update set height = excluded.height, reason = excluded.reason"
        with { chain, kind: part.kind, id: part.id, height: part.height, reason: part.reason, since };

    fn delete(tx, chain: Chain, kind: SetAsideKind, id: &str) =
        "delete from set_aside where chain = :chain and kind = :kind and id = :id";
}

/// Replaces what is set aside on a chain. Only differences are written.
pub fn replace_all(
    tx: &Tx<'_>,
    chain: Chain,
    parts: &[SetAside],
    now: Time,
) -> Result<(), StoreError> {
    let stays: HashSet<_> = parts.iter().map(|part| (part.kind, part.id.as_str())).collect();
    for gone in
        of_chain(tx, chain)?.iter().filter(|one| !stays.contains(&(one.kind, one.id.as_str())))
    {
        delete(tx, chain, gone.kind, &gone.id)?;
    }
    add_all(tx, chain, parts, now)
}

/// Adds to what is set aside on a chain. Only differences are written.
pub fn add_all(tx: &Tx<'_>, chain: Chain, parts: &[SetAside], now: Time) -> Result<(), StoreError> {
    if parts.is_empty() {
        return Ok(());
    }
    // A stranger can make thousands of transactions that a node does not give.
    let stored: HashSet<SetAside> = of_chain(tx, chain)?.into_iter().collect();
    for part in parts.iter().filter(|part| !stored.contains(part)) {
        put(tx, chain, part, now)?;
    }
    Ok(())
}
