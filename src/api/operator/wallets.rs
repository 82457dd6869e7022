//! Wallets: extended public keys from which live addresses are derived. `/dashboard/api/wallets`.

use crate::api::operation::{
    Answer, Body, Context, Job, Operation, OperationFn, Outcome, PLAIN, RecentPassword,
};
use crate::api::tag::Tag;
use crate::domain::fields::Component;
use crate::domain::wallet::AddWallet;
use crate::render::wallets::{WalletCheckView, WalletView};
use crate::service::wallets::{self, WalletToAdd};
use crate::service::{Error, Member};

const WALLET_LIST: Component = Component::List {
    name: "WalletList",
    item: &WalletView::COMPONENT,
    about: "Wallets, oldest first.",
    about_data: "Items of the list.",
};

pub const OPERATIONS: [&Operation; 4] = [&LIST, &ADD, &CHECK, &RETIRE];

const LIST: Operation = Operation {
    id: "listWallets",
    path: "/dashboard/api/wallets",
    tag: Tag::OperatorService,
    summary: "Lists all wallets, retired ones included, oldest first, each with the gap limit for its owner's wallet.",
    answers: &[Answer::ok("The wallets.", &WALLET_LIST)],
    run: OperationFn::Operator(|_, _| {
        Job::read(|service| Outcome::list(&service.read(wallets::list)?))
    }),
    ..PLAIN
};

const ADD: Operation = Operation {
    id: "addWallet",
    method: "POST",
    path: "/dashboard/api/wallets",
    tag: Tag::OperatorService,
    summary: "Adds a wallet, which is an extended public key. A known key, in any notation, continues at its next index or at next.",
    body: Body::required(&AddWallet::COMPONENT),
    answers: &[Answer::created("The wallet.", &WalletView::COMPONENT)],
    recent_password: RecentPassword::Always,
    run: OperationFn::Operator(add),
    ..PLAIN
};

const CHECK: Operation = Operation {
    id: "checkWallet",
    method: "POST",
    path: "/dashboard/api/wallets/check",
    tag: Tag::OperatorService,
    summary: "Checks a key and returns its first three addresses for comparison with the owner's wallet. Adds nothing.",
    body: Body::required(&AddWallet::COMPONENT),
    answers: &[Answer::ok("The wallet as it would be.", &WalletCheckView::COMPONENT)],
    run: OperationFn::Operator(preview),
    ..PLAIN
};

const RETIRE: Operation = Operation {
    id: "retireWallet",
    method: "POST",
    path: "/dashboard/api/wallets/{id}/retire",
    tag: Tag::OperatorService,
    summary: "Retires a wallet: it assigns no more addresses and stays watched. Adding it again reactivates it.",
    answers: &[Answer::ok("The wallet.", &WalletView::COMPONENT)],
    recent_password: RecentPassword::Always,
    run: OperationFn::Operator(retire),
    ..PLAIN
};

fn add(context: &Context<'_>, operator: &Member) -> Result<Job, Error> {
    let wanted = WalletToAdd::from_body(&context.body_fields()?)?;
    let (now, actor) = (context.now, operator.actor());
    Job::write(move |step| {
        let added = wallets::add(step.tx, &actor, &wanted, now)?;
        Ok(Outcome::created_resource(added))
    })
}

fn preview(context: &Context<'_>, _: &Member) -> Result<Job, Error> {
    let wanted = WalletToAdd::from_body(&context.body_fields()?)?;
    let checked = context.service.read(|db| wallets::preview(db, &wanted))?;
    Ok(Job::Done(Outcome::resource(checked)))
}

fn retire(context: &Context<'_>, operator: &Member) -> Result<Job, Error> {
    let id = context.uuid("wallet")?;
    let (now, actor) = (context.now, operator.actor());
    Job::write(move |step| {
        let retired = wallets::retire(step.tx, &actor, &id, now)?;
        Ok(Outcome::resource(retired))
    })
}
