//! The table `transfers`: payouts and refunds.

use super::statement::{commands, rows, values};
use super::{Reader, StoreError, Tx, chains};
use crate::domain::asset::Chain;
use crate::domain::asset::Mode;
use crate::domain::money::coin::{Rate, Units};
use crate::domain::money::{Cents, Currency};
use crate::domain::time::Time;
use crate::domain::transfer::terms::TransferTerms;
use crate::domain::transfer::{Dispatch, Transfer, TransferKind, TransferStatus};
use rusqlite::named_params;

rows! {
    fn read(
        t.seq, t.id, t.kind, t.account, account_id = "a.id", t.mode, t.invoice: Option<i64>,
        invoice_id: Option<String> = "i.id", t.status, t.currency, t.amount, t.asset, t.to_address,
        t.amount_crypto: Option<Units>, t.network_fee: Option<Units>, t.rate: Option<Rate>, t.network_fee_from, t.sent_by,
        t.signer_at, t.txid, t.reason,
        t.failure_reason, t.sending, t.requested_at, t.approved_at, t.finalized_at, t.txid_from, t.attached_at,
        t.handed_over_at, t.sending_reason, t.retry_since: Option<Time>, t.retry_at: Option<Time>, t.settled_by,
        t.settled_reason, t.watched_from,
    ) -> Transfer {
        let dispatch = Dispatch {
            txid_from, attached_at, handed_over_at, sending_reason, retry: retry_since.zip(retry_at), settled_by,
            settled_reason, watched_from,
        };
        let terms = rate.zip(network_fee.zip(amount_crypto));
        let terms = terms.map(|(rate, (fee, sent))| TransferTerms { rate, network_fee: fee, amount_crypto: sent });
        Ok(Transfer {
            seq, id, kind, account, account_id, mode, invoice: invoice.zip(invoice_id), status, currency, amount, asset,
            to_address, terms, fee_source: network_fee_from, sent_by, signer_at, txid, reason, failure_reason, sending, requested_at, approved_at, finalized_at,
            dispatch,
        })
    }

    /// The transfer with this id, whoever's it is: for those who act for no caller.
    pub fn by_id(db, id: &str) -> Option<Transfer> =
        select "from transfers t join accounts a on a.seq = t.account \
            left join invoices i on i.seq = t.invoice \
            where t.id = :id";

    LIST = select "from transfers t join accounts a on a.seq = t.account \
        left join invoices i on i.seq = t.invoice \
        where t.account = :account and t.mode = :mode and t.kind = :kind and t.seq < :before \
        order by t.seq desc limit :limit";

    LIST_BY_STATUS = select "from transfers t join accounts a on a.seq = t.account \
        left join invoices i on i.seq = t.invoice \
        where t.account = :account and t.mode = :mode and t.kind = :kind and t.status = :status and t.seq < :before \
        order by t.seq desc limit :limit";

    /// An invoice has few.
    LIST_OF_INVOICE = select "from transfers t join accounts a on a.seq = t.account \
        join invoices i on i.seq = t.invoice \
        where i.id = :invoice and t.account = :account and t.mode = :mode and t.kind = :kind and t.seq < :before \
        and (:status is null or t.status = :status) order by t.seq desc limit :limit";

    OF_ALL = select "from transfers t join accounts a on a.seq = t.account \
        left join invoices i on i.seq = t.invoice \
        where t.mode = :mode and t.kind = :kind and t.seq < :before order by t.seq desc limit :limit";

    OF_ALL_BY_STATUS = select "from transfers t join accounts a on a.seq = t.account \
        left join invoices i on i.seq = t.invoice \
        where t.mode = :mode and t.kind = :kind and t.status = :status and t.seq < :before \
        order by t.seq desc limit :limit";

    /// Live transfers that the signer is to send, oldest first: approved ones without an arrival of exactly their amount, and those
    /// whose retry is due.
    /// With the words of the index, which SQLite does not find in `= 'approved'` alone.
    pub fn to_send(db, now: Time, limit: u32) -> Vec<Transfer> =
        select "from transfers t indexed by transfers_approved join accounts a on a.seq = t.account \
            left join invoices i on i.seq = t.invoice \
            where t.status in ('approved', 'processing') and t.mode = 'live' and t.sent_by = 'signer' \
            and (t.status = 'approved' and t.sending is null or t.sending = 'retry' and t.retry_at <= :now) and \
            t.txid is null \
            and not exists (select 1 from transfer_proposals p where p.transfer = t.seq and p.dismissed_at is null \
            and p.amount = t.amount_crypto and p.seen_at >= t.approved_at - t.approved_at % 1000) order by t.seq \
            limit :limit";

    /// Approved transfers of which it was not kept who sends them, oldest first.
    /// Approved before it was kept who sends a transfer.
    pub fn without_sender(db) -> Vec<Transfer> =
        select "from transfers t indexed by transfers_approved join accounts a on a.seq = t.account \
            left join invoices i on i.seq = t.invoice \
            where t.status in ('approved', 'processing') and t.status = 'approved' and t.sent_by is null order by \
            t.seq";

    /// The next transfers after this one, whoever's they are.
    pub fn after(db, after: i64, limit: u32) -> Vec<Transfer> =
        select "from transfers t join accounts a on a.seq = t.account \
            left join invoices i on i.seq = t.invoice \
            where t.seq > :after order by t.seq limit :limit";

    BY_SEQ = select "from transfers t join accounts a on a.seq = t.account \
        left join invoices i on i.seq = t.invoice \
        where t.seq = :seq";

    /// Every transfer that leads to an address of a chain, oldest first.
    /// All transfers that lead to an address.
    pub fn to_address(db, mode: Mode, chain: Chain, address: &str) -> Vec<Transfer> =
        select "from transfers t join accounts a on a.seq = t.account \
            left join invoices i on i.seq = t.invoice \
            where t.to_address = :address and t.chain = :chain and t.mode = :mode order by t.seq";

    /// Transfers that a transaction is attached to, oldest first.
    pub fn attached(db, mode: Mode, chain: Chain, txid: &str) -> Vec<Transfer> =
        select "from transfers t join accounts a on a.seq = t.account \
            left join invoices i on i.seq = t.invoice \
            where t.chain = :chain and t.txid = :txid and t.mode = :mode order by t.seq";

    /// Transfers of a mode in `processing`, oldest first.
    pub fn processing(db, mode: Mode) -> Vec<Transfer> =
        select "from transfers t join accounts a on a.seq = t.account \
            left join invoices i on i.seq = t.invoice \
            where t.status = 'processing' and t.mode = :mode order by t.seq";

    /// Live transfers of a chain that are approved or processing and of which it is unknown from which block on they are watched,
    /// by approval.
    pub fn undated(db, chain: Chain) -> Vec<Transfer> =
        select "from transfers t indexed by transfers_approved join accounts a on a.seq = t.account \
            left join invoices i on i.seq = t.invoice \
            where t.status in ('approved', 'processing') and t.chain = :chain and t.mode = 'live' \
            and t.watched_from is null order by t.approved_at";

    /// Transfers that a command was started for and has not answered, oldest first.
    pub fn sending(db) -> Vec<Transfer> =
        select "from transfers t join accounts a on a.seq = t.account \
            left join invoices i on i.seq = t.invoice \
            where t.status = 'processing' and t.sending = 'running' order by t.seq";
}

values! {
    /// Has the account a payout that is neither sent nor put back, in either currency?
    pub fn has_open_payout(db, account: i64) -> (found: bool) =
        "select exists (select 1 from transfers \
            where account = :account and kind = 'payout' and status in ('requested', 'approved', 'processing')) as \
            found";

    /// Payouts in a currency that were requested after `since` and not put back.
    pub fn paid_out(db, account: i64, currency: Currency, since: Time) -> (sum: Cents) =
        "select ifnull(sum(amount), 0) as sum from transfers \
            where account = :account and mode = 'live' and kind = 'payout' and currency = :currency \
            and requested_at > :since and status not in ('failed', 'rejected', 'cancelled')";

    /// Sum of what the signer was given of an account after `since`, besides this transfer, and that was not put back.
    pub fn given_to_signer(db, transfer: &Transfer, since: Time) -> (sum: Cents) =
        "select ifnull(sum(amount), 0) as sum from transfers \
            where account = :account and currency = :currency and signer_at > :since and seq <> :seq \
            and status not in ('failed', 'rejected', 'cancelled')"
        with { account: transfer.account, currency: transfer.currency, since, seq: transfer.seq };

    /// Count of the approved transfers that the signer is to send.
    pub fn waiting_for_signer(db) -> (count: i64) =
        "select count(*) as count from transfers indexed by transfers_approved \
            where status in ('approved', 'processing') and status = 'approved' and sent_by = 'signer'";

    /// How many refunds of an invoice were requested, whatever became of them.
    pub fn refunds(db, invoice: i64) -> (count: u32) =
        "select count(*) as count from transfers where invoice = :invoice";

    /// Refunds of an invoice that were not put back.
    pub fn refunded(db, invoice: i64) -> (sum: Cents) =
        "select ifnull(sum(amount), 0) as sum from transfers \
            where invoice = :invoice and status not in ('failed', 'rejected', 'cancelled')";
}

values! {
    /// Watched from approval on, and for a time after the end; a held one also before approval. The last tick is at most now.
    /// A paid one only until its block is at most the last one.
    DESTINATIONS(address: String) = "select to_address as address from transfers t where mode = 'live' and chain = :chain \
        and (status in ('approved', 'processing') or sending = 'restored' or finalized_at > (select last_tick_at from file) - :after_ms \
        and (status <> 'paid' or not exists (select 1 from sent_transactions s where s.mode = 'live' and s.chain = t.chain \
        and s.txid = t.txid and s.state = 'mined' and s.block_height <= :last)))";

    /// Returns `true` if a live transfer of a chain is being sent.
    pub fn is_any_processing(db, chain: Chain) -> (found: bool) =
        "select exists (select 1 from transfers \
            where chain = :chain and status = 'processing' and mode = 'live') as found";

    /// Time of the next retry of the signer after now: one that is due waits for what happens, not for a time.
    pub fn next_retry(db, now: Time) -> (at: Option<Time>) =
        "select min(retry_at) as at from transfers indexed by transfers_approved \
            where status in ('approved', 'processing') and sending = 'retry' and txid is null and retry_at > :now";
}

commands! {
    /// Adds a transfer that was just requested; its `seq`.
    pub fn insert(tx, transfer: &Transfer) -> i64 =
        file "sql/transfers/insert.sql"
        with {
            id: transfer.id, kind: transfer.kind, account: transfer.account, mode: transfer.mode,
            invoice: transfer.invoice.as_ref().map(|(seq, _)| *seq), status: transfer.status,
            currency: transfer.currency, amount: transfer.amount, asset: transfer.asset.id,
            chain: transfer.asset.chain, to_address: transfer.to_address, reason: transfer.reason,
            requested_at: transfer.requested_at,
        };

    UPDATE = file "sql/transfers/update.sql";
}

/// Saves what can change of a transfer that was `before`.
pub fn update(tx: &Tx<'_>, transfer: &Transfer, before: TransferStatus) -> Result<(), StoreError> {
    tx.note(|changes| changes.transfers = true);
    let (terms, dispatch) = (transfer.terms.as_ref(), &transfer.dispatch);
    let params = named_params! {
        ":seq": transfer.seq,
        ":before": before,
        ":status": transfer.status,
        ":amount_crypto": terms.map(|terms| terms.amount_crypto),
        ":network_fee": terms.map(|terms| terms.network_fee),
        ":rate": terms.map(|terms| terms.rate),
        ":network_fee_from": transfer.fee_source,
        ":sent_by": transfer.sent_by,
        ":signer_at": transfer.signer_at,
        ":txid": transfer.txid,
        ":failure_reason": transfer.failure_reason,
        ":sending": transfer.sending,
        ":approved_at": transfer.approved_at,
        ":finalized_at": transfer.finalized_at,
        ":txid_from": dispatch.txid_from,
        ":attached_at": dispatch.attached_at,
        ":handed_over_at": dispatch.handed_over_at,
        ":sending_reason": dispatch.sending_reason,
        ":retry_since": dispatch.retry.map(|(since, _)| since),
        ":retry_at": dispatch.retry.map(|(_, at)| at),
        ":settled_by": dispatch.settled_by,
        ":settled_reason": dispatch.settled_reason,
        ":watched_from": dispatch.watched_from,
    };
    if transfer.status == TransferStatus::Processing {
        chains::expect(tx, transfer.mode, transfer.asset.chain);
    }
    UPDATE.change_one(tx, params, || {
        format!("{} {} is not {before} any more", transfer.kind, transfer.id)
    })
}

/// Which transfers are asked for.
pub struct Wanted<'a> {
    /// Payouts or refunds.
    pub kind: TransferKind,
    /// Only refunds of the invoice with this id; an account's only.
    pub invoice: Option<&'a str>,
    /// Only those of this status.
    pub status: Option<TransferStatus>,
    /// Only those before this `seq`.
    pub before: i64,
    /// How many at most.
    pub limit: u32,
}

/// The newest transfers of an account that fit.
pub fn list(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    wanted: &Wanted<'_>,
) -> Result<Vec<Transfer>, StoreError> {
    let mut params = named_params! {
        ":account": account, ":mode": mode, ":kind": wanted.kind, ":before": wanted.before, ":limit": wanted.limit,
    }
    .to_vec();
    let query = match (&wanted.invoice, &wanted.status) {
        (Some(_), _) => {
            params.push((":invoice", &wanted.invoice));
            params.push((":status", &wanted.status));
            LIST_OF_INVOICE
        }
        (None, Some(status)) => {
            params.push((":status", status));
            LIST_BY_STATUS
        }
        (None, None) => LIST,
    };
    query.all(db, params.as_slice())
}

/// The newest transfers of all accounts that fit.
pub fn of_all(
    db: &Reader<'_>,
    mode: Mode,
    wanted: &Wanted<'_>,
) -> Result<Vec<Transfer>, StoreError> {
    let mut params = named_params! {
        ":mode": mode, ":kind": wanted.kind, ":before": wanted.before, ":limit": wanted.limit,
    }
    .to_vec();
    let query = match &wanted.status {
        Some(status) => {
            params.push((":status", status));
            OF_ALL_BY_STATUS
        }
        None => OF_ALL,
    };
    query.all(db, params.as_slice())
}

/// Has the destination of a live transfer watched from the commit on.
pub fn watch_destination(tx: &Tx<'_>, chain: Chain, address: &str) {
    tx.note(|changes| changes.addresses.push((chain, address.to_owned())));
}

/// Tells workers and open pages, with the commit, that something about transfers has changed.
pub fn note_change(tx: &Tx<'_>) {
    tx.note(|changes| changes.transfers = true);
}

/// The transfer with this `seq`.
pub fn by_seq(db: &Reader<'_>, seq: i64) -> Result<Transfer, StoreError> {
    let found = BY_SEQ.first(db, named_params! { ":seq": seq })?;
    found.ok_or_else(|| StoreError::Failed(format!("transfer {seq} is missing")))
}

/// Destinations of live transfers of a chain that are watched; those that ended longer ago are not.
pub fn each_destination(
    db: &Reader<'_>,
    chain: Chain,
    (after_ms, last): (i64, u32),
    each: impl FnMut(String),
) -> Result<(), StoreError> {
    DESTINATIONS.each(
        db,
        named_params! { ":chain": chain, ":after_ms": after_ms, ":last": last },
        each,
    )
}
