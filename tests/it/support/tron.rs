//! A node of Tron of a test's own: a server of ours on a chain in memory, as no real node can be had.
//!
//! It answers as java-tron does, in the shapes of <https://github.com/tronprotocol/documentation-en> (`docs/api/http`), of the
//! answers that a java-tron 4.8.2 gave on a private network (<https://github.com/sxwebdev/gotron>, `pkg/client/tronjson_test.go`), and of
//! those of the main network in <https://github.com/coinbase/chainstorage> (`internal/blockchain/client/ethereum`).
//! `tests/it/chain/tron/recorded.json` holds such answers.

mod answers;
mod chain;
mod server;

pub use answers::hex_of;
pub use chain::{Act, Chain, Step};
pub use server::Fault;

use super::came::Came;
use coffer::domain::address::account;
use server::Server;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};

/// The chain that every node tells of.
type Shared = Arc<Mutex<Chain>>;

/// Payer where no other is named.
pub const PAYER: [u8; 20] = [0x77; 20];
/// A contract that holds TRX, and sends it on.
pub const SENDER: [u8; 20] = [0x5e; 20];
/// A token that is listed by a setting, and one that is not.
pub const TOKEN: [u8; 20] = [0x70; 20];
pub const UNLISTED: [u8; 20] = [0x71; 20];

/// A chain, and a node of it.
pub struct Node {
    chain: Shared,
    server: Server,
}

impl Node {
    /// Starts one on a chain of Nile's first block, with blocks enough for some to be final.
    #[track_caller]
    pub fn start() -> Node {
        Node::start_ago(0)
    }

    /// [`Node::start`] with a clock that is so many milliseconds behind.
    #[track_caller]
    pub fn start_ago(ms: i64) -> Node {
        let mut chain = Chain::new();
        chain.ahead_ms = -ms;
        let chain: Shared = Arc::new(Mutex::new(chain));
        let server = Server::start(Arc::clone(&chain));
        let node = Node { chain, server };
        node.mine(30);
        node
    }

    /// Starts another node of the same chain.
    #[track_caller]
    pub fn another(&self) -> Node {
        let chain = Arc::clone(&self.chain);
        let server = Server::start(Arc::clone(&chain));
        Node { chain, server }
    }

    pub fn url(&self) -> String {
        self.server.url()
    }

    /// Answers this path so from now on.
    pub fn lie(&self, path: &str, fault: Fault) {
        self.server.lie(path, fault);
    }

    /// Tells nothing but the truth from now on.
    pub fn honest(&self) {
        self.server.honest();
    }

    /// Count of the requests to any path, or to this one.
    pub fn asked(&self, path: &str) -> usize {
        self.server.asked(path)
    }

    /// Answers as if these newest blocks were not there yet.
    pub fn lag(&self, blocks: usize) {
        self.server.lag(blocks);
    }

    /// The chain.
    pub fn chain(&self) -> MutexGuard<'_, Chain> {
        self.chain.lock().unwrap()
    }

    /// Makes so many blocks, with what waits in the first.
    pub fn mine(&self, blocks: u32) {
        (0..blocks).for_each(|_| self.chain().mine());
    }

    pub fn height(&self) -> u32 {
        self.chain().height()
    }

    /// Sends a transaction, which waits for the next block; its id.
    pub fn send(&self, act: Act) -> String {
        self.chain().send(act, true)
    }

    /// [`Node::send`] of one that comes to nothing.
    pub fn send_failing(&self, act: Act) -> String {
        self.chain().send(act, false)
    }

    /// Sends TRX, in sun.
    #[track_caller]
    pub fn pay(&self, to: &str, sun: u64) -> String {
        let (from, to) = (PAYER, bytes(to));
        self.send(Act::Transfer {
            from,
            to,
            amount: sun,
        })
    }

    /// Sends the listed token, in its base units.
    #[track_caller]
    pub fn pay_token(&self, to: &str, units: u64) -> String {
        self.send(Act::token(TOKEN, PAYER, bytes(to), units))
    }

    /// Payments to these addresses in the blocks.
    #[track_caller]
    pub fn came_to(&self, addresses: &BTreeSet<String>, asset: &str) -> Came {
        let ours: Vec<[u8; 20]> = addresses.iter().map(|address| bytes(address)).collect();
        let chain = self.chain();
        let mut came = Came::new();
        for sent in chain.blocks().iter().flat_map(|block| &block.transactions) {
            let moved = sent.moved().into_iter();
            for (position, contract, _, _, amount) in moved.filter(|one| ours.contains(&one.3)) {
                let coin = match contract {
                    None => "TRX",
                    Some(TOKEN) => asset,
                    Some(_) => continue,
                };
                let place = (sent.id.clone(), position);
                came.insert(place, (coin.to_owned(), u128::from(amount)));
            }
        }
        came.retain(|_, (_, amount)| *amount > 0);
        came
    }
}

/// The account of an address.
#[track_caller]
pub fn bytes(address: &str) -> [u8; 20] {
    account(coffer::domain::asset::Chain::Tron, address).unwrap()
}

/// The address of an account.
#[track_caller]
pub fn address(account: [u8; 20]) -> String {
    coffer::domain::address::of_account(coffer::domain::asset::Chain::Tron, &account).unwrap()
}
