//! Payouts and refunds in the operator interface: lists them, and shows how to send them from a wallet.
//!
//! Invariant: data for a wallet is shown only if nobody else can be sending the transfer.

use crate::domain::payment_uri::payment_uri;
use crate::domain::{
    ApprovalProposal, Mode, SenderConditions, SendingHold, Time, Transfer, TransferKind,
    TransferStatus,
};
use crate::render::transfers::TransferOnChain;
use crate::service::page::{self, Page, none_if_not_found};
use crate::service::transfers::{find, hold_of_transfer, owned_transfer};
use crate::service::{Error, Member, Scope, Service};
use crate::store::{PageBounds, Reader, transfers};

/// Query for a page of payouts or refunds.
pub struct TransferListFilter {
    /// Kind of the transfers.
    pub kind: TransferKind,
    /// Only refunds of the invoice with this ID. Needs an account.
    pub invoice: Option<String>,
    /// Only transfers with this status.
    pub status: Option<TransferStatus>,
    /// `true`: only transfers that need a review.
    pub needs_review: bool,
    /// Only transfers older than the one with this ID.
    pub before: Option<String>,
    /// Largest number of transfers.
    pub limit: u32,
}

impl TransferListFilter {
    fn query(&self, page: PageBounds) -> transfers::TransferQuery<'_> {
        transfers::TransferQuery {
            kind: self.kind,
            invoice: self.invoice.as_deref(),
            status: self.status,
            page,
        }
    }

    fn matches(&self, transfer: &Transfer) -> bool {
        let invoice = transfer.invoice.as_ref().map(|(_, id)| id);
        transfer.kind == self.kind
            && self.status.is_none_or(|status| status == transfer.status)
            && (self.invoice.is_none() || self.invoice.as_ref() == invoice)
    }
}

/// Data for a wallet that sends a transfer.
pub struct WalletSendingData {
    /// Payment URI for wallets. `None` if no standard defines a URI for this coin.
    pub uri: Option<String>,
    /// Content of the QR code: the URI, or the address if there is no URI.
    pub code: String,
}

/// A transfer with the data of its page.
pub struct TransferDetail {
    /// Transfer that the page shows.
    pub transfer: Transfer,
    pub(crate) chain_state: TransferOnChain,
    /// Data for a wallet, if the transfer is to be sent by hand now.
    pub to_send: Option<WalletSendingData>,
    /// User who started to send the transfer, with the time, if the status is `processing`.
    pub sending_start: Option<(String, Time)>,
    /// Terms that an approval would fix, if the status is `requested` and the member is an operator.
    pub approval: Option<(ApprovalProposal, SenderConditions)>,
}

/// Returns who started to send the transfer and when, or `None` if its status is not `processing`.
fn sending_start(db: &Reader<'_>, transfer: &Transfer) -> Result<Option<(String, Time)>, Error> {
    if transfer.status != TransferStatus::Processing {
        return Ok(None);
    }
    Ok(transfers::sending_start(db, transfer.seq)?)
}

impl Service {
    /// Returns a page of an account's payouts or refunds, with the fields for the operator.
    ///
    /// # Errors
    /// `invalid_request` if `before` is not a transfer of the caller.
    pub fn transfers_for_operator(
        &self,
        now: Time,
        scope: &Scope,
        wanted: &TransferListFilter,
    ) -> Result<Page, Error> {
        self.read(|db| {
            let find = |id: &str| none_if_not_found(owned_transfer(db, scope, wanted.kind, id));
            let before = page::find_page_start(wanted.before.as_deref(), find)?;
            let before = before.map(|transfer| transfer.seq);
            let page = PageBounds::with_one_more_row(before, wanted.limit);
            let (account, mode) = (scope.account(), scope.mode());
            let found = if wanted.needs_review {
                self.page_of_transfers_to_review(db, now, mode, Some(account), wanted, page)?
            } else {
                transfers::list(db, account, mode, &wanted.query(page))?
            };
            self.page_of_transfers(db, now, &found, wanted.limit)
        })
    }

    /// Returns a page of payouts or refunds of all accounts, with the fields for the operator.
    ///
    /// # Errors
    /// `invalid_request` if `before` is not a transfer of the mode.
    pub fn transfers_of_all_accounts(
        &self,
        now: Time,
        mode: Mode,
        wanted: &TransferListFilter,
    ) -> Result<Page, Error> {
        self.read(|db| {
            let find = |id: &str| {
                let found = none_if_not_found(find(db, wanted.kind, id))?;
                Ok::<_, Error>(found.filter(|found| found.mode == mode))
            };
            let before = page::find_page_start(wanted.before.as_deref(), find)?;
            let before = before.map(|transfer| transfer.seq);
            let page = PageBounds::with_one_more_row(before, wanted.limit);
            let found = if wanted.needs_review {
                self.page_of_transfers_to_review(db, now, mode, None, wanted, page)?
            } else {
                transfers::list_all(db, mode, &wanted.query(page))?
            };
            self.page_of_transfers(db, now, &found, wanted.limit)
        })
    }

    /// Returns matching transfers of an account, or of all accounts, that need a review.
    fn page_of_transfers_to_review(
        &self,
        db: &Reader<'_>,
        now: Time,
        mode: Mode,
        account: Option<i64>,
        wanted: &TransferListFilter,
        page: PageBounds,
    ) -> Result<Vec<Transfer>, Error> {
        let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
        let mut found = self.transfers_to_review(db, now, mode)?;
        found.retain(|transfer| {
            let is_of_account = account.is_none_or(|account| account == transfer.account);
            is_of_account && transfer.seq < page.before && wanted.matches(transfer)
        });
        found.truncate(limit);
        Ok(found)
    }

    /// Returns transfers as a page. One transfer more than the limit means that older transfers exist.
    fn page_of_transfers(
        &self,
        db: &Reader<'_>,
        now: Time,
        found: &[Transfer],
        limit: u32,
    ) -> Result<Page, Error> {
        let rendered = found.iter().map(|transfer| {
            Ok((transfer.id.clone(), self.render_for_operator(db, now, transfer)?))
        });
        Page::from_entries(rendered, limit)
    }

    /// Returns a payout or refund by its ID, with the fields for the operator.
    #[cfg(test)]
    pub(crate) fn transfer_for_operator(
        &self,
        now: Time,
        kind: TransferKind,
        id: &str,
    ) -> Result<crate::service::Json, Error> {
        self.read(|db| self.render_for_operator(db, now, &find(db, kind, id)?))
    }

    /// Returns a payout or refund with the data for sending the transfer by hand.
    ///
    /// # Errors
    ///
    /// `not_found` if the transfer does not belong to the caller.
    pub fn transfer_detail(
        &self,
        now: Time,
        member: &Member,
        scope: &Scope,
        kind: TransferKind,
        id: &str,
    ) -> Result<TransferDetail, Error> {
        self.read_snapshot(|db| {
            let transfer = owned_transfer(db, scope, kind, id)?;
            let to_send = self.data_for_wallet(db, now, &transfer)?;
            let begun = sending_start(db, &transfer)?;
            let is_asked = member.is_operator() && transfer.status == TransferStatus::Requested;
            let approval = if is_asked {
                let proposal = self.approval_proposal(db, now, &transfer)?;
                let terms = proposal.default_terms(&transfer);
                let conditions = self.conditions_for_terms(db, now, &transfer, terms)?;
                Some((proposal, conditions))
            } else {
                None
            };
            Ok(TransferDetail {
                chain_state: self.transfer_on_chain(db, now, &transfer)?,
                transfer,
                to_send,
                sending_start: begun,
                approval,
            })
        })
    }

    /// Returns the data for a wallet, or `None` if the transfer is not to be sent by hand, is simulated, or waits for a
    /// decision about payments at its destination.
    fn data_for_wallet(
        &self,
        db: &Reader<'_>,
        now: Time,
        transfer: &Transfer,
    ) -> Result<Option<WalletSendingData>, Error> {
        let is_by_hand = transfer.status == TransferStatus::Processing
            && transfer.sending.is_none()
            && transfer.txid.is_none();
        let (asset, chain) = (transfer.asset, transfer.asset.chain);
        let Some(terms) = transfer.terms.as_ref().filter(|_| is_by_hand) else {
            return Ok(None);
        };
        let hold = hold_of_transfer(db, now, transfer)?;
        let waits = matches!(hold, Some(SendingHold::Decision(_)));
        if self.is_simulated(transfer.mode) || waits {
            return Ok(None);
        }
        let network = self.network_for_sending(db, chain)?;
        let address = transfer.to_address.as_str();
        let uri =
            network.and_then(|network| payment_uri(asset, &network, address, terms.amount_crypto));
        Ok(Some(WalletSendingData { code: uri.clone().unwrap_or_else(|| address.to_owned()), uri }))
    }
}
