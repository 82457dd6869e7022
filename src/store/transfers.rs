//! The table `transfers`: payouts and refunds.

use super::statement::statements;
use super::states::ValueKind;
use super::{PageBounds, Reader, StoreError, Tx, chains};
use crate::domain::asset::Chain;
use crate::domain::{
    Cents, Currency, FeeSource, Mode, Rate, RateBasis, ResourceKind, SendingProgress, TermsSource,
    Time, Transfer, TransferKind, TransferStatus, TransferTerms, Units,
};

statements! {
    row read(
        t.seq, t.id, t.kind, t.account, account_id = "a.id", t.mode, t.invoice: Option<i64>,
        invoice_id: Option<String> = "i.id", t.status, t.currency, t.amount, t.asset, t.to_address, t.destination,
        t.amount_crypto: Option<Units>, t.network_fee: Option<Units>, t.rate: Option<Rate>,
        t.rate_basis: Option<RateBasis>, t.network_fee_from: Option<FeeSource>, t.has_accepted_terms, t.sent_by,
        t.signer_at: Option<Time>, t.signer_amount: Option<Cents>, t.txid, t.reason, t.failure_reason, t.sending, t.requested_at, t.requested_height: Option<u32>,
        t.approved_at, t.finalized_at, t.txid_from, t.handed_over_at, t.sending_reason, t.retry_since: Option<Time>,
        t.retry_at: Option<Time>, t.settled_by, t.settled_reason, t.watched_from, t.approved_height: Option<u32>, t.has_unread_blocks,
        t.has_exact_proposal, t.is_frozen, t.released_at,
    ) -> Transfer {
        let sending_progress = SendingProgress {
            txid_from, handed_over_at, sending_reason, retry: retry_since.zip(retry_at), settled_by,
            settled_reason, watched_from, approved_height, has_unread_blocks,
        };
        let terms_source = rate_basis.zip(network_fee_from).map(|(basis, fee)| {
            TermsSource { basis, fee, is_accepted: has_accepted_terms }
        });
        let terms = rate.zip(network_fee.zip(amount_crypto));
        let terms = terms.map(|(rate, (fee, sent))| TransferTerms { rate, network_fee: fee, amount_crypto: sent });
        Ok(Transfer {
            seq, id, kind, account, account_id, mode, invoice: invoice.zip(invoice_id), status, currency, amount, asset,
            to_address, destination, terms, terms_source, sent_by,
            signer_share: signer_at.zip(signer_amount), txid, reason, failure_reason, sending,
            has_exact_proposal, is_frozen, released_at, requested_at, requested_height, approved_at, finalized_at, sending_progress,
        })
    }

    /// Returns the transfer with this id, whatever its account.
    pub fn by_id(db, id: &str) -> Option<Transfer> =
        select "from transfers t join accounts a on a.seq = t.account \
            left join invoices i on i.seq = t.invoice \
            where t.id = :id";

    fn page_of_account(db, account: i64, mode: Mode, kind: TransferKind, page: PageBounds) -> Vec<Transfer> =
        select "from transfers t join accounts a on a.seq = t.account \
            left join invoices i on i.seq = t.invoice \
            where t.account = :account and t.mode = :mode and t.kind = :kind and t.seq < :before \
            order by t.seq desc limit :limit"
        with { account, mode, kind, before: page.before, limit: page.limit };

    fn page_of_account_by_status(
        db, account: i64, mode: Mode, kind: TransferKind, status: TransferStatus, page: PageBounds
    ) -> Vec<Transfer> =
        select "from transfers t join accounts a on a.seq = t.account \
            left join invoices i on i.seq = t.invoice \
            where t.account = :account and t.mode = :mode and t.kind = :kind and t.status = :status \
            and t.seq < :before order by t.seq desc limit :limit"
        with { account, mode, kind, status, before: page.before, limit: page.limit };

    fn page_of_invoice(db, account: i64, mode: Mode, invoice: &str, query: &TransferQuery<'_>) -> Vec<Transfer> =
        select "from transfers t join accounts a on a.seq = t.account \
            join invoices i on i.seq = t.invoice \
            where i.id = :invoice and t.account = :account and t.mode = :mode and t.kind = :kind and t.seq < :before \
            and (:status is null or t.status = :status) order by t.seq desc limit :limit"
        with {
            account, mode, kind: query.kind, invoice, status: query.status, before: query.page.before,
            limit: query.page.limit,
        };

    fn page_of_all(db, mode: Mode, kind: TransferKind, page: PageBounds) -> Vec<Transfer> =
        select "from transfers t join accounts a on a.seq = t.account \
            left join invoices i on i.seq = t.invoice \
            where t.mode = :mode and t.kind = :kind and t.seq < :before order by t.seq desc limit :limit"
        with { mode, kind, before: page.before, limit: page.limit };

    fn page_of_all_by_status(db, mode: Mode, kind: TransferKind, status: TransferStatus, page: PageBounds)
        -> Vec<Transfer> =
        select "from transfers t join accounts a on a.seq = t.account \
            left join invoices i on i.seq = t.invoice \
            where t.mode = :mode and t.kind = :kind and t.status = :status and t.seq < :before \
            order by t.seq desc limit :limit"
        with { mode, kind, status, before: page.before, limit: page.limit };

    /// Returns live transfers that the signer should send, oldest first.
    ///
    /// These are approved transfers and transfers whose retry is due, unless a payment at the destination waits for a
    /// decision. Only transfers whose `seq` is greater than `after` are returned. The query repeats the condition of the partial index, so that SQLite uses the index.
    pub fn list_sendable(db, now: Time, after: i64, limit: u32) -> Vec<Transfer> =
        select "from transfers t indexed by transfers_approved join accounts a on a.seq = t.account \
            left join invoices i on i.seq = t.invoice \
            where t.status in ('approved', 'processing') and t.mode = 'live' and t.sent_by = 'signer' \
            and (t.status = 'approved' and t.sending is null or t.sending = 'retry' and t.retry_at <= :now) \
            and t.txid is null and t.seq > :after and not t.has_exact_proposal and not exists (select 1 from destinations d \
            where d.seq = t.destination and d.is_overfull) order by t.seq limit :limit";

    /// Returns the next `limit` transfers of all accounts whose `seq` is greater than `after`.
    pub fn list_after(db, after: i64, limit: u32) -> Vec<Transfer> =
        select "from transfers t join accounts a on a.seq = t.account \
            left join invoices i on i.seq = t.invoice \
            where t.seq > :after order by t.seq limit :limit";

    /// Returns the transfer with this `seq`.
    pub fn by_seq(db, seq: i64) -> only Transfer =
        select "from transfers t join accounts a on a.seq = t.account \
            left join invoices i on i.seq = t.invoice \
            where t.seq = :seq"
        else("transfer {seq} is missing");

    /// Returns the transfers to a destination that are not frozen, oldest first.
    pub fn list_at_destination(db, destination: i64) -> Vec<Transfer> =
        select "from transfers t join accounts a on a.seq = t.account \
            left join invoices i on i.seq = t.invoice \
            where t.destination = :destination and not t.is_frozen order by t.seq";

    /// Returns the transfers to which a transaction is attached, oldest first.
    pub fn list_with_attached_txid(db, mode: Mode, chain: Chain, txid: &str) -> Vec<Transfer> =
        select "from transfers t join accounts a on a.seq = t.account \
            left join invoices i on i.seq = t.invoice \
            where t.chain = :chain and t.txid = :txid and t.mode = :mode order by t.seq";

    /// Returns the approved and processing transfers, oldest first.
    pub fn list_being_sent(db, mode: Mode) -> Vec<Transfer> =
        select "from transfers t indexed by transfers_approved join accounts a on a.seq = t.account \
            left join invoices i on i.seq = t.invoice \
            where t.status in ('approved', 'processing') and t.mode = :mode order by t.seq";

    /// Returns a chain's approved and processing live transfers for which no first block to watch is stored, in the
    /// order of approval.
    pub fn list_without_first_block(db, chain: Chain) -> Vec<Transfer> =
        select "from transfers t indexed by transfers_approved join accounts a on a.seq = t.account \
            left join invoices i on i.seq = t.invoice \
            where t.status in ('approved', 'processing') and t.chain = :chain and t.mode = 'live' \
            and t.watched_from is null order by t.approved_at";

    /// Returns the transfers whose signer command is still running, oldest first.
    pub fn list_with_running_command(db) -> Vec<Transfer> =
        select "from transfers t join accounts a on a.seq = t.account \
            left join invoices i on i.seq = t.invoice \
            where t.status = 'processing' and t.sending = 'running' order by t.seq";

    /// Returns `true` if an account has an open payout in any currency.
    pub fn has_open_payout(db, account: i64) -> (found: bool) =
        "select exists (select 1 from transfers \
            where account = :account and kind = 'payout' and status in ('requested', 'approved', 'processing')) \
            as found";

    /// Returns the sum of live payouts in a currency that were requested after `since`. Leaves out failed, rejected
    /// and cancelled ones.
    pub fn sum_of_payouts(db, account: i64, currency: Currency, since: Time) -> (sum: Cents) =
        "select ifnull(sum(amount), 0) as sum from transfers \
            where account = :account and mode = 'live' and kind = 'payout' and currency = :currency \
            and requested_at > :since and status not in ('failed', 'rejected', 'cancelled')";

    /// Returns the sum of an account's transfers that were passed to the signer after `since`. Leaves out `transfer`
    /// itself, and failed, rejected and cancelled transfers.
    pub fn sum_passed_to_signer(db, transfer: &Transfer, since: Time) -> (sum: Cents) =
        "select ifnull(sum(signer_amount), 0) as sum from transfers \
            where account = :account and currency = :currency and signer_at > :since and seq <> :seq \
            and status not in ('failed', 'rejected', 'cancelled')"
        with { account: transfer.account, currency: transfer.currency, since, seq: transfer.seq };

    /// Returns the kind of the oldest transfer to a destination that is not frozen.
    pub fn kind_at_destination(db, destination: i64) -> Option<(kind: TransferKind)> =
        "select kind from transfers where destination = :destination and not is_frozen order by seq limit 1";

    /// Returns the number of approved transfers that wait for the signer.
    pub fn count_waiting_for_signer(db) -> (count: i64) =
        "select count(*) as count from transfers indexed by transfers_approved \
            where status in ('approved', 'processing') and status = 'approved' and sent_by = 'signer'";

    /// Returns the number of requested refunds of an invoice, of any status.
    pub fn count_refunds(db, invoice: i64) -> (count: u32) =
        "select count(*) as count from transfers where invoice = :invoice";

    /// Returns the sum of an invoice's refunds, without failed, rejected and cancelled ones.
    pub fn sum_of_refunds(db, invoice: i64) -> (sum: Cents) =
        "select ifnull(sum(amount), 0) as sum from transfers \
            where invoice = :invoice and status not in ('failed', 'rejected', 'cancelled')";

    /// Returns `true` if a chain has a live transfer with the status `processing`.
    pub fn is_any_processing(db, chain: Chain) -> (found: bool) =
        "select exists (select 1 from transfers \
            where chain = :chain and status = 'processing' and mode = 'live') as found";

    /// Returns the time of the signer's first retry after `now`. Retries that are due already are left out.
    pub fn next_retry_time(db, now: Time) -> (at: Option<Time>) =
        "select min(retry_at) as at from transfers indexed by transfers_approved \
            where status in ('approved', 'processing') and sending = 'retry' and txid is null and retry_at > :now";

    fn insert_row(tx, transfer: &Transfer) -> i64 = insert into transfers {
        id: transfer.id, kind: transfer.kind, account: transfer.account, mode: transfer.mode,
        invoice: transfer.invoice.as_ref().map(|(seq, _)| *seq), status: transfer.status, currency: transfer.currency,
        amount: transfer.amount, asset: transfer.asset.id, chain: transfer.asset.chain,
        to_address: transfer.to_address, destination: transfer.destination, reason: transfer.reason,
        requested_at: transfer.requested_at, requested_height: transfer.requested_height,
    };

    fn update_row(tx, transfer: &Transfer, before: TransferStatus) =
        file "sql/transfers/update.sql"
        with {
            seq: transfer.seq, before, status: transfer.status,
            amount_crypto: transfer.terms.as_ref().map(|terms| terms.amount_crypto),
            network_fee: transfer.terms.as_ref().map(|terms| terms.network_fee),
            rate: transfer.terms.as_ref().map(|terms| terms.rate),
            rate_basis: transfer.terms_source.map(|source| source.basis),
            network_fee_from: transfer.terms_source.map(|source| source.fee),
            has_accepted_terms: transfer.terms_source.is_some_and(|source| source.is_accepted),
            sent_by: transfer.sent_by, signer_at: transfer.signer_share.map(|(at, _)| at),
            signer_amount: transfer.signer_share.map(|(_, counted)| counted), txid: transfer.txid,
            failure_reason: transfer.failure_reason, sending: transfer.sending, approved_at: transfer.approved_at,
            finalized_at: transfer.finalized_at, txid_from: transfer.sending_progress.txid_from,
            handed_over_at: transfer.sending_progress.handed_over_at,
            sending_reason: transfer.sending_progress.sending_reason,
            retry_since: transfer.sending_progress.retry.map(|(since, _)| since),
            retry_at: transfer.sending_progress.retry.map(|(_, at)| at), settled_by: transfer.sending_progress.settled_by,
            settled_reason: transfer.sending_progress.settled_reason, watched_from: transfer.sending_progress.watched_from,
            approved_height: transfer.sending_progress.approved_height,
            has_unread_blocks: transfer.sending_progress.has_unread_blocks,
            has_exact_proposal: transfer.has_exact_proposal, released_at: transfer.released_at,
        }
        else("{} {} is not {before} any more", transfer.kind, transfer.id);

    /// Returns who began to send a transfer last, and when.
    pub fn sending_start(db, seq: i64) -> Option<(by: String, at: Time)> =
        "select started_by as by, started_at as at from transfers where seq = :seq and started_by is not null";

    /// Records who begins to send a transfer, before its status or its state is saved.
    pub fn mark_started(tx, seq: i64, by: &str, at: Time) =
        "update transfers set started_by = :by, started_at = :at, handed_over_at = ifnull(handed_over_at, :at) \
            where seq = :seq";

    /// Marks a transfer as frozen: nothing that happens at its destination changes it any more.
    pub fn freeze(tx, seq: i64) = "update transfers set is_frozen = 1 where seq = :seq";
}

/// Inserts a requested transfer and returns its `seq`.
pub fn insert(tx: &Tx<'_>, transfer: &Transfer) -> Result<i64, StoreError> {
    tx.note_resource_change(Some(transfer.account), transfer.mode, ResourceKind::Transfers);
    let seq = insert_row(tx, transfer)?;
    tx.note_value_change(ValueKind::Transfer, seq);
    Ok(seq)
}

/// Saves the fields of a transfer that can change.
///
/// # Errors
/// [`StoreError`] if the status of the stored transfer is not `before`.
pub fn update(tx: &Tx<'_>, transfer: &Transfer, before: TransferStatus) -> Result<(), StoreError> {
    notify_transfer_change(tx, transfer);
    if transfer.status == TransferStatus::Processing {
        chains::expect_payments(tx, transfer.mode, transfer.asset.chain);
    }
    update_row(tx, transfer, before)?;
    // What is hashed changes only together with the status.
    if transfer.status != before {
        tx.note_value_change(ValueKind::Transfer, transfer.seq);
    }
    Ok(())
}

/// A query for payouts or refunds.
pub struct TransferQuery<'a> {
    /// Whether payouts or refunds are listed.
    pub kind: TransferKind,
    /// Filter: only refunds of the invoice with this id. [`list_all`] ignores it.
    pub invoice: Option<&'a str>,
    /// Filter: only transfers of this status.
    pub status: Option<TransferStatus>,
    /// Bounds of the page.
    pub page: PageBounds,
}

/// Returns a page of an account's transfers that match a query, newest first.
pub fn list(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    query: &TransferQuery<'_>,
) -> Result<Vec<Transfer>, StoreError> {
    match (query.invoice, query.status) {
        (Some(invoice), _) => page_of_invoice(db, account, mode, invoice, query),
        (None, Some(status)) => {
            page_of_account_by_status(db, account, mode, query.kind, status, query.page)
        }
        (None, None) => page_of_account(db, account, mode, query.kind, query.page),
    }
}

/// Returns a page of all accounts' transfers that match a query, newest first.
pub fn list_all(
    db: &Reader<'_>,
    mode: Mode,
    query: &TransferQuery<'_>,
) -> Result<Vec<Transfer>, StoreError> {
    match query.status {
        Some(status) => page_of_all_by_status(db, mode, query.kind, status, query.page),
        None => page_of_all(db, mode, query.kind, query.page),
    }
}

/// After the commit, tells the follower of a chain to watch the destination of a live transfer.
pub fn watch_destination(tx: &Tx<'_>, chain: Chain, address: &str) {
    tx.record_change(|changes| changes.addresses.push((chain, address.to_owned())));
}

/// After the commit, tells workers and open pages that a transfer has changed.
pub fn notify_transfer_change(tx: &Tx<'_>, transfer: &Transfer) {
    tx.record_change(|changes| changes.transfers = true);
    tx.note_resource_change(Some(transfer.account), transfer.mode, ResourceKind::Transfers);
}
