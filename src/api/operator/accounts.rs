//! Accounts of shops, for operators: `/dashboard/api/accounts`.

use crate::api::operation::{
    Answer, Body, Context, Job, Operation, OperationFn, Outcome, PLAIN, RecentPassword, Success,
};
use crate::api::tag::Tag;
use crate::domain::account::change::ChangeAccount;
use crate::domain::asset::Chain;
use crate::domain::fields::rule::choice;
use crate::domain::fields::text_rule::{name, text};
use crate::domain::fields::{Component, Fields, input};
use crate::domain::{Account, AccountStatus, Mode, Refusal, RefusalCode, Time};
use crate::render::account_settings::{self, AccountSettingsView, PayoutAddressView};
use crate::service::payouts::COOLING_MS;
use crate::service::{Error, Json, Member, Step, accounts as rules, audit_log};
use crate::store::{Reader, Tx, accounts, payout_addresses};
use serde_json::{Value, json};

input! {
    /// A new account.
    pub CreateAccount, checked name; unknown refused {
        /// Name of the merchant.
        required name: String = name(1..=200), "Corner Shop";
    }
}

input! {
    /// New status of an account: pending becomes active or rejected, active becomes suspended, suspended becomes
    /// active.
    pub DecideOnAccount, checked status; unknown refused {
        /// New status of the account.
        required status: AccountStatus = choice(), "active";
    }
}

input! {
    /// Payout address of an account on one chain.
    pub SetPayoutAddress, checked address; unknown refused {
        /// Address on the chain's main network; in the sandbox also on a test network. Contracts and mints of listed
        /// tokens, token programs, burn addresses, and litecoin addresses that start with 3 are refused.
        required address: String = text(1..=128), "4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM";
    }
}

const ACCOUNT_LIST: Component = Component::List {
    name: "AccountSettingsList",
    item: &AccountSettingsView::COMPONENT,
    about: "A list of accounts.",
    about_data: "Items of the list, oldest first.",
};

const ACCOUNT_ANSWER: Answer = Answer::ok("The account.", &AccountSettingsView::COMPONENT);

pub const OPERATIONS: [&Operation; 7] =
    [&LIST, &CREATE, &GET, &CHANGE, &DECIDE, &SET_PAYOUT_ADDRESS, &REMOVE_PAYOUT_ADDRESS];

const LIST: Operation = Operation {
    id: "listAccounts",
    path: "/dashboard/api/accounts",
    tag: Tag::OperatorAccounts,
    summary: "Lists every account, oldest first.",
    answers: &[Answer::ok("The accounts.", &ACCOUNT_LIST)],
    run: OperationFn::Operator(list),
    ..PLAIN
};

const CREATE: Operation = Operation {
    id: "createAccount",
    method: "POST",
    path: "/dashboard/api/accounts",
    tag: Tag::OperatorAccounts,
    summary: "Creates an account, pending.",
    body: Body::required(&CreateAccount::COMPONENT),
    answers: &[Answer::created("The account.", &AccountSettingsView::COMPONENT)],
    run: OperationFn::Operator(create),
    ..PLAIN
};

const GET: Operation = Operation {
    id: "getAccount",
    path: "/dashboard/api/accounts/{account}",
    tag: Tag::OperatorAccounts,
    summary: "Returns an account with its settings.",
    answers: &[ACCOUNT_ANSWER],
    run: OperationFn::Session(get),
    ..PLAIN
};

const CHANGE: Operation = Operation {
    id: "changeAccount",
    method: "PATCH",
    path: "/dashboard/api/accounts/{account}",
    tag: Tag::OperatorAccounts,
    summary: "Changes settings of an account, all of them or none. Only operators change its terms.",
    body: Body::required(&ChangeAccount::COMPONENT),
    answers: &[ACCOUNT_ANSWER],
    recent_password: RecentPassword::ForFields(&ChangeAccount::TERMS),
    run: OperationFn::Session(change_account),
    ..PLAIN
};

const DECIDE: Operation = Operation {
    id: "decideOnAccount",
    method: "POST",
    path: "/dashboard/api/accounts/{account}/status",
    tag: Tag::OperatorAccounts,
    summary: "Approves, rejects, suspends or reactivates an account.",
    body: Body::required(&DecideOnAccount::COMPONENT),
    answers: &[ACCOUNT_ANSWER],
    refusals: &[RefusalCode::InvalidTransition],
    run: OperationFn::Operator(change_status),
    ..PLAIN
};

const SET_PAYOUT_ADDRESS: Operation = Operation {
    id: "setPayoutAddress",
    method: "PUT",
    path: "/dashboard/api/accounts/{account}/payout-addresses/{chain}",
    tag: Tag::OperatorAccounts,
    summary: "Sets the payout address on a chain. Payouts to a new address wait 24 hours.",
    body: Body::required(&SetPayoutAddress::COMPONENT),
    answers: &[ACCOUNT_ANSWER],
    recent_password: RecentPassword::Always,
    run: OperationFn::Session(set_payout_address),
    ..PLAIN
};

const REMOVE_PAYOUT_ADDRESS: Operation = Operation {
    id: "removePayoutAddress",
    method: "DELETE",
    path: "/dashboard/api/accounts/{account}/payout-addresses/{chain}",
    tag: Tag::OperatorAccounts,
    summary: "Removes the payout address on a chain.",
    answers: &[Answer::no_content("Removed.")],
    recent_password: RecentPassword::Always,
    run: OperationFn::Session(remove_payout_address),
    ..PLAIN
};

fn list(context: &Context<'_>, _: &Member) -> Result<Job, Error> {
    let all: Vec<Json> = context.service.read(|db| {
        let all = accounts::all(db)?;
        all.iter().map(|account| account_json(db, account)).collect()
    })?;
    Job::list(&all)
}

fn create(context: &Context<'_>, operator: &Member) -> Result<Job, Error> {
    let CreateAccount { name } = CreateAccount::read(&context.body_fields()?)?;
    let (now, actor) = (context.now, operator.actor());
    Job::write(move |step| {
        let Step { tx, .. } = *step;
        let account = rules::create(tx, &name, now)?;
        record_action(tx, now, &actor, "account.create", &account, &json!({ "name": name }))?;
        Ok(Outcome { success: Success::Created, ..Outcome::resource(account_json(tx, &account)?) })
    })
}

fn get(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let account = context.scope(member)?.account();
    let json = context.service.read(|db| account_json(db, &accounts::by_seq(db, account)?))?;
    Ok(Job::Done(Outcome::resource(json)))
}

fn change_account(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let (account, body) = (context.scope(member)?.account(), context.body_fields()?);
    let fields = Fields::new(&body);
    fields.refuse_unknown(ChangeAccount::NAMES)?;
    let mut terms = ChangeAccount::TERMS.into_iter();
    if let (Some(term), false) = (terms.find(|term| fields.contains(term)), member.is_operator()) {
        let message = format!("{term} is changed by operators only");
        return Err(Refusal::for_param(RefusalCode::Forbidden, term, message).into());
    }
    let input = ChangeAccount::read(&body)?;
    let (now, actor) = (context.now, member.actor());
    Job::write(move |step| {
        let Step { tx, .. } = *step;
        let mut account = accounts::by_seq(tx, account)?;
        input.apply(&mut account);
        accounts::update(tx, &account)?;
        record_action(tx, now, &actor, "account.change", &account, &json!(body))?;
        account_json(tx, &account).map(Outcome::resource)
    })
}

fn change_status(context: &Context<'_>, operator: &Member) -> Result<Job, Error> {
    let account = context.scope(operator)?.account();
    let DecideOnAccount { status } = DecideOnAccount::read(&context.body_fields()?)?;
    let (now, actor) = (context.now, operator.actor());
    Job::write(move |step| {
        let Step { tx, .. } = *step;
        let mut account = accounts::by_seq(tx, account)?;
        rules::change_status(tx, &actor, &mut account, status, now)?;
        account_json(tx, &account).map(Outcome::resource)
    })
}

/// Sets the payout address on a chain. A new address can be used only after 24 hours.
fn set_payout_address(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let (account, body) = (context.scope(member)?.account(), context.body_fields()?);
    let chain = chain_in_path(context)?;
    let input = SetPayoutAddress::read(&body)?;
    context.service.derive_upcoming_addresses()?;
    let (now, actor) = (context.now, member.actor());
    Job::write(move |step| {
        let Step { service, tx, .. } = *step;
        let address = service.external_destination(tx, Mode::Live, chain, &input.address)?;
        let address = address.map_err(|problem| Refusal::field("address", problem))?;
        let account = accounts::by_seq(tx, account)?;
        let existing = payout_addresses::get(tx, account.seq, chain)?;
        if existing.as_ref().is_none_or(|(old, _)| *old != address) {
            payout_addresses::put(tx, account.seq, chain, &address, now)?;
            let before = existing.map(|(old, _)| old);
            let detail = json!({ "chain": chain, "address": address, "before": before });
            record_action(tx, now, &actor, "payout_address.set", &account, &detail)?;
        }
        account_json(tx, &account).map(Outcome::resource)
    })
}

fn remove_payout_address(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let (account, chain) = (context.scope(member)?.account(), chain_in_path(context)?);
    let (now, actor) = (context.now, member.actor());
    Job::write(move |step| {
        let Step { tx, .. } = *step;
        let account = accounts::by_seq(tx, account)?;
        let existing = payout_addresses::get(tx, account.seq, chain)?;
        let (before, _) = existing.ok_or_else(|| Refusal::not_found("payout address"))?;
        payout_addresses::remove(tx, account.seq, chain)?;
        record_action(
            tx,
            now,
            &actor,
            "payout_address.remove",
            &account,
            &json!({ "chain": chain, "before": before }),
        )?;
        Ok(Outcome::NOTHING)
    })
}

/// Returns the chain in the path. Refuses an unknown chain with `not_found`.
fn chain_in_path(context: &Context<'_>) -> Result<Chain, Refusal> {
    let chain = context.second_param().parse();
    chain.map_err(|_| Refusal::not_found("chain"))
}

/// Records an operator's action on an account in the audit log.
fn record_action(
    tx: &Tx<'_>,
    now: Time,
    actor: &str,
    action: &str,
    account: &Account,
    detail: &Value,
) -> Result<(), Error> {
    audit_log::record(tx, now, actor, action, Some(account.seq), Some(&account.id), detail)
}

fn account_json(db: &Reader<'_>, account: &Account) -> Result<Json, Error> {
    let mut addresses = Vec::new();
    for chain in Chain::ALL {
        if let Some((address, at)) = payout_addresses::get(db, account.seq, *chain)? {
            addresses.push(PayoutAddressView {
                chain: *chain,
                address,
                changed_at: at,
                usable_at: at.plus_ms(COOLING_MS),
            });
        }
    }
    Ok(account_settings::account_with_settings(account, &addresses)?)
}
