//! Payouts and refunds in the operator interface: listing them, sending them from a wallet, and moving them by hand.
//!
//! What does not live here: what a step does (`service::transfers`). What always holds: a step by hand goes through
//! the same code as every other, and the audit log has the person who asked for it; what a wallet is given to send
//! stands only where nobody else can be sending it.

use crate::domain::asset::Mode;
use crate::domain::payment_uri::payment_uri;
use crate::domain::render::transfers::TransferOnChain;
use crate::domain::time::Time;
use crate::domain::transfer::approval::Proposal;
use crate::domain::transfer::request::MoveRequest;
use crate::domain::transfer::sender::SenderConditions;
use crate::domain::transfer::step::TransferAction;
use crate::domain::transfer::{Transfer, TransferKind, TransferStatus};
use crate::service::events::{self, Page, unknown_before};
use crate::service::transfers::{By, find, noted_as, owned};
use crate::service::{Error, Json, Member, Scope, Service};
use crate::store::{PageBounds, Reader, audit_log, transfers};
use std::sync::Arc;

/// Which page of payouts or refunds is asked for.
pub struct TransfersWanted {
    /// Payouts or refunds.
    pub kind: TransferKind,
    /// Only refunds of the invoice with this id; an account's only.
    pub invoice: Option<String>,
    /// Only those of this status.
    pub status: Option<TransferStatus>,
    /// `true`: only those that a person has to look at.
    pub needs_review: bool,
    /// Only those older than the one with this id.
    pub before: Option<String>,
    /// How many at most.
    pub limit: u32,
}

impl TransfersWanted {
    /// Returns the query for one page.
    fn query(&self, page: PageBounds) -> transfers::TransferQuery<'_> {
        transfers::TransferQuery {
            kind: self.kind,
            invoice: self.invoice.as_deref(),
            status: self.status,
            page,
        }
    }

    /// Returns `true` if a transfer has the kind, the invoice and the status that are asked for.
    fn fits(&self, transfer: &Transfer) -> bool {
        let invoice = transfer.invoice.as_ref().map(|(_, id)| id);
        transfer.kind == self.kind
            && self.status.is_none_or(|status| status == transfer.status)
            && (self.invoice.is_none() || self.invoice.as_ref() == invoice)
    }
}

/// What a wallet is given to send a transfer.
pub struct ToSend {
    /// The payment as wallets read it; nothing where no standard says it.
    pub uri: Option<String>,
    /// What its QR code holds: that, else the address.
    pub code: String,
}

/// A transfer as its page reads it.
pub struct Opened {
    /// The transfer.
    pub transfer: Transfer,
    /// What its chain tells.
    pub(crate) chain_told: TransferOnChain,
    /// How it is sent by hand, where it is to be sent now.
    pub to_send: Option<ToSend>,
    /// Who began to send it and when, while it is being sent.
    pub begun: Option<(String, Time)>,
    /// What an approval would fix, while it is requested and an operator reads it.
    pub approval: Option<(Proposal, SenderConditions)>,
}

/// Who began to send it and when; nothing where it is not being sent.
fn begun(db: &Reader<'_>, transfer: &Transfer) -> Result<Option<(String, Time)>, Error> {
    if transfer.status != TransferStatus::Processing {
        return Ok(None);
    }
    let action = noted_as(transfer.kind, TransferAction::Process.as_str());
    let found = audit_log::last(db, transfer.account, &transfer.id, &action)?;
    Ok(found)
}

impl Service {
    /// A page of an account's payouts or refunds, with what only the operator interface shows.
    ///
    /// # Errors
    /// `invalid_request` where `before` names none of the caller's.
    pub fn transfers_for_operator(
        &self,
        now: Time,
        scope: &Scope,
        wanted: &TransfersWanted,
    ) -> Result<Page, Error> {
        self.read(|db| {
            let before = match &wanted.before {
                None => None,
                Some(id) => Some(events::before(owned(db, scope, wanted.kind, id))?.seq),
            };
            let page = PageBounds::with_one_more(before, wanted.limit);
            let (account, mode) = (scope.account(), scope.mode());
            let found = if wanted.needs_review {
                self.page_to_review(db, now, (mode, Some(account)), (wanted, page))?
            } else {
                transfers::list(db, account, mode, &wanted.query(page))?
            };
            self.transfer_page(db, now, &found, wanted.limit)
        })
    }

    /// The same of all accounts: what waits for the operator.
    ///
    /// # Errors
    /// `invalid_request` where `before` names none of the mode.
    pub fn transfers_of_all(
        &self,
        now: Time,
        mode: Mode,
        wanted: &TransfersWanted,
    ) -> Result<Page, Error> {
        self.read(|db| {
            let before = match &wanted.before {
                None => None,
                Some(id) => {
                    let found = events::before(find(db, wanted.kind, id))?;
                    let found = Some(found).filter(|found| found.mode == mode);
                    Some(found.ok_or_else(unknown_before)?.seq)
                }
            };
            let page = PageBounds::with_one_more(before, wanted.limit);
            let found = if wanted.needs_review {
                self.page_to_review(db, now, (mode, None), (wanted, page))?
            } else {
                transfers::list_all(db, mode, &wanted.query(page))?
            };
            self.transfer_page(db, now, &found, wanted.limit)
        })
    }

    /// Transfers of an account, or of all, that a person has to look at, as far as they are asked for, from a place on.
    fn page_to_review(
        &self,
        db: &Reader<'_>,
        now: Time,
        (mode, account): (Mode, Option<i64>),
        (wanted, page): (&TransfersWanted, PageBounds),
    ) -> Result<Vec<Transfer>, Error> {
        let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
        let mut found = self.transfers_to_review(db, now, mode)?;
        found.retain(|transfer| {
            let is_of_account = account.is_none_or(|account| account == transfer.account);
            is_of_account && transfer.seq < page.before && wanted.fits(transfer)
        });
        found.truncate(limit);
        Ok(found)
    }

    /// Transfers as a page; one more than was asked for says that there are more.
    fn transfer_page(
        &self,
        db: &Reader<'_>,
        now: Time,
        found: &[Transfer],
        limit: u32,
    ) -> Result<Page, Error> {
        let rendered = found
            .iter()
            .map(|transfer| Ok((transfer.id.clone(), self.for_operator(db, now, transfer)?)));
        Ok(Page::cut(rendered.collect::<Result<_, Error>>()?, limit))
    }

    /// A payout or refund as the operator sees it, by its id alone.
    #[cfg(test)]
    pub(crate) fn transfer_of_operator(
        &self,
        now: Time,
        kind: TransferKind,
        id: &str,
    ) -> Result<Json, Error> {
        self.read(|db| self.for_operator(db, now, &find(db, kind, id)?))
    }

    /// A payout or a refund, how it is sent by hand where it is to be sent now, and who has begun to.
    ///
    /// # Errors
    /// `not_found` where it is not the caller's.
    pub fn transfer_to_send(
        &self,
        now: Time,
        member: &Member,
        scope: &Scope,
        (kind, id): (TransferKind, &str),
    ) -> Result<Opened, Error> {
        self.read_at_one_moment(|db| {
            let transfer = owned(db, scope, kind, id)?;
            let to_send = self.by_hand(db, &transfer)?;
            let begun = begun(db, &transfer)?;
            let is_asked = member.is_operator() && transfer.status == TransferStatus::Requested;
            let approval = if is_asked {
                let proposal = self.proposal(db, now, &transfer)?;
                Some((proposal, self.sender_conditions(db, now, &transfer)?))
            } else {
                None
            };
            Ok(Opened {
                chain_told: self.on_chain(db, now, &transfer)?,
                transfer,
                to_send,
                begun,
                approval,
            })
        })
    }

    /// What a wallet is given to send it: nothing where it is not being sent by hand, and where nothing real is sent.
    fn by_hand(&self, db: &Reader<'_>, transfer: &Transfer) -> Result<Option<ToSend>, Error> {
        let is_by_hand = transfer.status == TransferStatus::Processing
            && transfer.sending.is_none()
            && transfer.txid.is_none();
        let (asset, chain) = (transfer.asset, transfer.asset.chain);
        let Some(terms) = transfer.terms.as_ref().filter(|_| is_by_hand) else {
            return Ok(None);
        };
        if self.is_simulated(transfer.mode) {
            return Ok(None);
        }
        let network = self.sent_on(db, chain)?;
        let address = transfer.to_address.as_str();
        let uri =
            network.and_then(|network| payment_uri(asset, &network, address, terms.amount_crypto));
        Ok(Some(ToSend {
            code: uri.clone().unwrap_or_else(|| address.to_owned()),
            uri,
        }))
    }

    /// Does a step that the operator asks for. What it lacks is made up where chains are simulated.
    ///
    /// # Errors
    /// `not_found`, `invalid_request`, `invalid_transition`.
    pub async fn move_transfer(
        self: &Arc<Self>,
        now: Time,
        actor: &str,
        kind: TransferKind,
        id: &str,
        request: MoveRequest,
    ) -> Result<Json, Error> {
        if request.action == TransferAction::Approve {
            self.derive_upcoming()?;
        }
        let (actor, id) = (actor.to_owned(), id.to_owned());
        self.write(move |service, tx| {
            let transfer = find(tx, kind, &id)?;
            let after = service.step_by_hand(tx, now, By::Person(&actor), &transfer, request)?;
            service.for_operator(tx, now, &after)
        })
        .await
    }
}
