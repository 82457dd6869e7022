//! Every bad answer at every call of a node, once and for ever. With an honest second url nothing is missed. With one
//! url everything is right after the node recovers, without a restart. Nothing false is booked.
//!
//! Invariant: the calls are those that the follower was seen to make, so that no call is forgotten.
//!
//! In each case there is a new payment, and a payment of an earlier case becomes final. So a case needs few blocks.

use super::answers::{BAD_ANSWERS, BadAnswer, LyingNode};
use super::{EvmPayer, LyingNodePayer, UtxoPayer, first_deposit_address};
use crate::chain::till::TestnetShop;
use crate::support::anvil::Node;
use crate::support::litecoind::Litecoind;
use crate::support::polling;
use crate::support::received::{ReceivedAmounts, amounts_in_file};
use crate::support::rpc_proxy::RpcProxy;
use crate::support::step_follower::StepFollower;
use crate::support::surfpool::{SLOTS_UNTIL_FINAL, SOL, Surfpool, USDC, USDT};
use crate::support::tron::{self, TOKEN, encode_address};
use coffer::domain::asset::Chain;
use rusqlite::Connection;
use std::cell::RefCell;

/// Time limit of a request to a node that never answers, in milliseconds.
const HANG_MS: u64 = 250;
/// Time limit of a request to any other node, in milliseconds.
const TIMEOUT_MS: u64 = 30_000;
/// Number of steps at a node that stays bad.
const BAD_STEPS: usize = 3;
/// Number of payments in each case.
const PAYMENTS: u64 = 2;
/// Number of cases until the payments of a case are final.
const CASES_UNTIL_FINAL: u32 = 4;

/// Answers that contain nothing and are correct on a chain where nothing happened. No client can tell that they are
/// false, so they are played only once. A later read finds what they hide.
const UNDETECTABLE: [(&str, &str); 3] = [
    ("eth_getLogs", "empty list"),
    ("getrawmempool", "empty list"),
    ("getSignaturesForAddress", "empty list"),
];

/// A payer on the simulated chain of Tron, and addresses of the shop for coin and token.
struct TronPayer<'a> {
    node: &'a tron::Node,
    to: [String; 2],
}

impl LyingNodePayer for TronPayer<'_> {
    fn pay_in_block_and_mempool(&self, time: u64) {
        self.node.pay(&self.to[0], 1_000_000 + time);
        self.node.pay_token(&self.to[1], 2_000_000 + time);
        self.node.mine(1);
    }

    fn confirmed_payments(&self) -> ReceivedAmounts {
        self.node.received_amounts(&self.to.iter().cloned().collect(), "USDT-TRC20")
    }

    fn blocks_until_final(&self) -> u32 {
        24
    }

    fn add_blocks(&self, count: u32) {
        self.node.mine(count);
    }

    fn is_read(&self) -> String {
        format!("height = {}", self.node.height())
    }

    fn newest_block_names(&self) -> Vec<String> {
        vec![self.node.height().to_string(), self.node.chain().blocks().last().unwrap().id.clone()]
    }
}

/// A payer with a Solana node, and addresses of the shop for coin and token.
struct SolanaPayer {
    node: Surfpool,
    to: [String; 2],
    /// Signature of the newest payment.
    newest: RefCell<String>,
}

impl LyingNodePayer for SolanaPayer {
    fn pay_in_block_and_mempool(&self, time: u64) {
        self.node.pay(SOL, &self.to[0], 1_000_000 + time);
        *self.newest.borrow_mut() = self.node.pay(USDC, &self.to[1], 2_000_000 + time);
    }

    fn confirmed_payments(&self) -> ReceivedAmounts {
        self.node.received_amounts(&self.to.iter().cloned().collect())
    }

    fn blocks_until_final(&self) -> u32 {
        SLOTS_UNTIL_FINAL + 2
    }

    fn add_blocks(&self, count: u32) {
        self.node.wait_for_slots(count);
    }

    fn is_read(&self) -> String {
        format!("height = {}", self.node.newest_slot())
    }

    fn newest_block_names(&self) -> Vec<String> {
        vec![self.newest.borrow().clone()]
    }
}

/// A shop and the follower of its chain. All shops of a test have the same wallet, so one payment reaches each of them.
struct FollowedShop {
    till: TestnetShop,
    follower: StepFollower,
    file: Connection,
}

impl FollowedShop {
    /// Opens the file of a shop that has an invoice. `urls` are those of the chain's nodes.
    #[track_caller]
    fn open(till: TestnetShop, chain: Chain, urls: &str, tokens: &[(&str, &str)]) -> Self {
        let follower = StepFollower::open(&till.served.file, chain, urls, tokens);
        let file = till.served.open_file();
        FollowedShop { till, follower, file }
    }

    fn count(&self, condition: &str) -> u64 {
        let sql = format!("select count(*) from observations where {condition}");
        let count: u32 = self.file.query_row(&sql, [], |row| row.get(0)).unwrap();
        count.into()
    }

    /// Makes steps until all payments that were made are known, and as many as are final are confirmed.
    #[track_caller]
    fn read(&mut self, paid: PaymentCounts, about: &str) {
        let mut last = Ok(());
        let known = |shop: &Self| (shop.count("true"), shop.count("state = 'confirmed'"));
        let is_read = polling::wait_until(|| {
            last = self.follower.step().map(drop);
            let (all, confirmed) = known(self);
            all == paid.all && confirmed >= paid.confirmed
        });
        assert!(is_read, "{about}: {:?} of {paid:?}: {last:?}", known(self));
    }

    /// Makes some steps at a node that gives bad answers. Some of them cannot be told from good ones, and not every step
    /// makes every call. Returns the problem of the last step.
    #[track_caller]
    fn make_bad_steps(&mut self) -> Option<String> {
        let outcomes = (0..BAD_STEPS).map(|_| self.follower.step());
        outcomes.last().and_then(Result::err)
    }

    /// Looks up the newest payment by its id.
    #[track_caller]
    fn look_up(&mut self, about: &str) {
        let newest = "select txid, block_hash from observations where block_hash is not null
            order by seq desc limit 1";
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let (txid, hash): (String, String) = self.file.query_row(newest, [], row).unwrap();
        self.follower.look_up(&txid, &hash, about);
    }

    /// Asserts that the file agrees with the chain, and that nothing false was booked and taken back.
    #[track_caller]
    fn assert_agrees_with_chain(&self, truth: &ReceivedAmounts) {
        let false_events = "select count(*) from event_rows where type = 'invoice.failed'";
        let count: u32 = self.file.query_row(false_events, [], |row| row.get(0)).unwrap();
        assert_eq!((count, self.count("state = 'dropped'")), (0, 0));
        self.till.served.assert_audit_clean();
        assert_eq!(amounts_in_file(&self.file), *truth);
    }
}

/// Numbers of payments.
#[derive(Clone, Copy, Debug, Default)]
struct PaymentCounts {
    /// All payments so far.
    all: u64,
    /// Those of them that are final.
    confirmed: u64,
}

/// A node with bad answers, a payer, and three shops: one that gets each bad answer once, one that gets it for ever until
/// the node recovers, and one with an honest node at its second url.
struct BadAnswerScene<'a, L: LyingNode, P: LyingNodePayer> {
    liar: &'a L,
    payer: &'a P,
    once: FollowedShop,
    alone: FollowedShop,
    beside: FollowedShop,
    paid: PaymentCounts,
}

impl<L: LyingNode, P: LyingNodePayer> BadAnswerScene<'_, L, P> {
    fn shops(&mut self) -> [&mut FollowedShop; 3] {
        [&mut self.once, &mut self.alone, &mut self.beside]
    }

    /// Makes earlier payments final, pays the shops in the newest block, and connects them to the bad node.
    #[track_caller]
    fn pay(&mut self, timeout_ms: u64) {
        self.payer.add_blocks(self.payer.blocks_until_final().div_ceil(CASES_UNTIL_FINAL));
        self.payer.pay_in_block_and_mempool(self.paid.all);
        self.paid.all += PAYMENTS;
        let recent = PAYMENTS * u64::from(CASES_UNTIL_FINAL);
        self.paid.confirmed = self.paid.confirmed.max(self.paid.all.saturating_sub(recent));
        self.shops().into_iter().for_each(|shop| shop.follower.reconnect(timeout_ms));
    }

    /// Makes all payments final.
    fn confirm_all(&mut self) {
        self.payer.add_blocks(self.payer.blocks_until_final());
        self.paid.confirmed = self.paid.all;
    }

    /// All shops read what was paid.
    #[track_caller]
    fn read(&mut self, about: &str) {
        let paid = self.paid;
        self.shops().into_iter().for_each(|shop| shop.read(paid, about));
    }

    #[track_caller]
    fn play(&mut self, call: &str, name: &str, answer: BadAnswer) {
        let about = format!("{call}: {name}");
        self.pay(if matches!(answer, BadAnswer::Hang) { HANG_MS } else { TIMEOUT_MS });
        self.liar.inject_answer(call, answer, true);
        self.once.read(self.paid, &about);
        self.once.look_up(&about);
        if UNDETECTABLE.contains(&(call, name)) {
            self.beside.read(self.paid, &about);
        } else {
            self.liar.inject_answer(call, answer, false);
            self.alone.make_bad_steps();
            self.beside.read(self.paid, &about);
            self.alone.look_up(&about);
        }
        self.liar.clear_answers();
        self.alone.read(self.paid, &about);
    }

    /// A node refuses one block, and all that it contains, for ever. The problem names the block, and another url takes
    /// over.
    #[track_caller]
    fn refuse_one_block(&mut self, call: &str) {
        let about = format!("{call}: one block is refused");
        self.pay(TIMEOUT_MS);
        let names = self.payer.newest_block_names();
        self.liar.refuse(call, names.clone());
        if let Some(problem) = self.alone.make_bad_steps() {
            assert!(names.iter().any(|name| problem.contains(name)), "{about}: {problem}");
        }
        self.beside.read(self.paid, &about);
        self.confirm_all();
        self.beside.read(self.paid, &about);
        self.liar.clear_answers();
        self.read(&about);
    }

    /// Plays all cases, and then compares the files with the chain.
    #[track_caller]
    #[expect(clippy::print_stderr, reason = "prints the number of cases")]
    fn play_all(mut self, chain: &str) {
        // One honest round shows which calls are made.
        self.pay(TIMEOUT_MS);
        self.once.read(self.paid, "honest");
        self.confirm_all();
        self.read("honest");
        self.shops().into_iter().for_each(|shop| shop.look_up("honest"));
        let calls = self.liar.calls();
        for call in &calls {
            self.refuse_one_block(call);
            for (name, answer) in BAD_ANSWERS {
                self.play(call, name, answer);
            }
        }
        let cases = calls.len() * BAD_ANSWERS.len();
        eprintln!("{chain}: {cases} bad answers, each once and for ever, at {calls:?}");
        self.confirm_all();
        self.read("the end");
        let truth = self.payer.confirmed_payments();
        for shop in self.shops() {
            shop.assert_agrees_with_chain(&truth);
        }
    }
}

/// Plays every bad answer at every call. `honest` is the url of an honest node.
#[track_caller]
fn play_all_answers(
    shops: [TestnetShop; 3],
    chain: Chain,
    liar: &impl LyingNode,
    honest: &str,
    tokens: &[(&str, &str)],
    payer: &impl LyingNodePayer,
) {
    let (alone, both) = (liar.url(), format!("{},{honest}", liar.url()));
    let [once, alone, beside] = {
        let urls = [&alone, &alone, &both];
        let mut urls = urls.into_iter();
        shops.map(|till| FollowedShop::open(till, chain, urls.next().unwrap(), tokens))
    };
    BadAnswerScene { liar, payer, once, alone, beside, paid: PaymentCounts::default() }
        .play_all(chain.as_str());
}

/// Opens three shops, each with invoices in these coins. Returns their addresses, which are the same for each shop.
#[track_caller]
fn open_shops<const N: usize>(
    open: impl Fn() -> TestnetShop,
    chain: &str,
    assets: [&str; N],
) -> ([TestnetShop; 3], [String; N]) {
    let shops = [(); 3].map(|()| {
        let till = open();
        let to = assets.map(|asset| first_deposit_address(&till, chain, asset));
        (till, to)
    });
    let [(_, to), ..] = &shops;
    let to = to.clone();
    assert!(shops.iter().all(|(_, own)| *own == to), "the shops have other addresses");
    (shops.map(|(till, _)| till), to)
}

#[test]
fn every_bad_answer_of_a_tron_node_is_survived() {
    let honest = tron::Node::start();
    let liar = honest.start_another();
    let (asset, contract) = ("USDT-TRC20", &*encode_address(TOKEN));
    let open = || TestnetShop::with_account_chain("tron", &honest.url(), asset, contract);
    let (shops, to) = open_shops(open, "tron", ["TRX", asset]);
    let payer = TronPayer { node: &honest, to };
    play_all_answers(shops, Chain::Tron, &liar, &honest.url(), &[(asset, contract)], &payer);
}

#[test]
fn every_bad_answer_of_an_ethereum_node_is_survived() {
    let Some(node) = Node::start(11_155_111, "every bad answer of a node of ethereum") else {
        return;
    };
    let contract = node.deploy_token();
    let asset = "USDC-ERC20";
    let (liar, honest) = (RpcProxy::start(&node.url), node.url.clone());
    node.mine(5);
    let open = || TestnetShop::with_account_chain("ethereum", &honest, asset, &contract);
    let (shops, to) = open_shops(open, "ethereum", [asset, "ETH"]);
    let payer = EvmPayer { node, token: contract.clone(), to };
    play_all_answers(shops, Chain::Ethereum, &liar, &honest, &[(asset, &contract)], &payer);
}

#[test]
fn every_bad_answer_of_a_solana_node_is_survived() {
    let Some(node) = Surfpool::start("every bad answer of a node of solana") else {
        return;
    };
    let (liar, honest) = (RpcProxy::start(&node.url), node.url.clone());
    let open = || TestnetShop::with_solana(&node, &honest);
    let (shops, to) = open_shops(open, "solana", [SOL, USDC]);
    let mints = [USDC, USDT].map(|asset| (asset, node.mint_address(asset).to_owned()));
    let tokens = mints.each_ref().map(|(asset, mint)| (*asset, mint.as_str()));
    let payer = SolanaPayer { node, to, newest: RefCell::default() };
    play_all_answers(shops, Chain::Solana, &liar, &honest, &tokens, &payer);
}

#[track_caller]
fn play_all_utxo_answers(
    chain: Chain,
    asset: &'static str,
    url: impl Fn(&Litecoind) -> (Option<RpcProxy>, String),
) {
    let untested = format!("every bad answer of a node of {chain}");
    let Some(node) = Litecoind::start(&["-txindex=1"], &untested) else {
        return;
    };
    node.mine(110);
    let (_inner, honest) = url(&node);
    let liar = RpcProxy::start(&honest);
    let open = || TestnetShop::with_utxo_chain(chain.as_str(), &honest);
    let (shops, [address]) = open_shops(open, chain.as_str(), [asset]);
    let to = node.to_litecoin_address(chain.as_str(), &address);
    let payer = UtxoPayer { node, asset, to };
    play_all_answers(shops, chain, &liar, &honest, &[], &payer);
}

#[test]
fn every_bad_answer_of_a_litecoin_node_is_survived() {
    play_all_utxo_answers(Chain::Litecoin, "LTC", |node| (None, node.url()));
}

#[test]
fn every_bad_answer_of_a_dogecoin_node_is_survived() {
    play_all_utxo_answers(Chain::Dogecoin, "DOGE", RpcProxy::start_dogecoin);
}
