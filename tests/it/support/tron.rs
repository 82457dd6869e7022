//! A simulated Tron node: an HTTP server on a chain in memory, because no real node can be installed.
//!
//! The server answers as java-tron does. Sources: <https://github.com/tronprotocol/documentation-en> (`docs/api/http`),
//! answers of java-tron 4.8.2 on a private network (<https://github.com/sxwebdev/gotron>,
//! `pkg/client/tronjson_test.go`), and answers of the main network in <https://github.com/coinbase/chainstorage>
//! (`internal/blockchain/client/ethereum`). `tests/it/chain/tron/recorded.json` holds such answers.

mod answers;
mod chain;
mod server;

pub use answers::to_hex;
pub use chain::{Action, Chain, ContractStep};
pub use server::Fault;

use super::received::ReceivedAmounts;
use coffer::domain::address::account_bytes;
use server::NodeServer;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};

/// The chain that several nodes of a test share.
type SharedChain = Arc<Mutex<Chain>>;

/// Account of the default payer.
pub const PAYER: [u8; 20] = [0x77; 20];
/// Account of a contract that holds TRX and forwards it.
pub const SENDER: [u8; 20] = [0x5e; 20];
/// Contract of a listed token. `UNLISTED` is the contract of a token that the settings do not list.
pub const TOKEN: [u8; 20] = [0x70; 20];
pub const UNLISTED: [u8; 20] = [0x71; 20];

/// A simulated node and its chain.
pub struct Node {
    chain: SharedChain,
    server: NodeServer,
}

impl Node {
    /// Starts a node on a chain with the genesis block of the test network Nile and 30 more blocks, so that some
    /// blocks are final.
    #[track_caller]
    pub fn start() -> Node {
        Node::start_with_clock_behind(0)
    }

    /// Starts a node whose clock is this many milliseconds behind.
    #[track_caller]
    pub fn start_with_clock_behind(ms: i64) -> Node {
        let mut chain = Chain::new();
        chain.ahead_ms = -ms;
        let chain: SharedChain = Arc::new(Mutex::new(chain));
        let server = NodeServer::start(Arc::clone(&chain));
        let node = Node { chain, server };
        node.mine(30);
        node
    }

    /// Starts another node on the same chain.
    #[track_caller]
    pub fn start_another(&self) -> Node {
        let chain = Arc::clone(&self.chain);
        let server = NodeServer::start(Arc::clone(&chain));
        Node { chain, server }
    }

    pub fn url(&self) -> String {
        self.server.url()
    }

    /// Sets the fault of a path.
    pub fn inject(&self, path: &str, fault: Fault) {
        self.server.inject(path, fault);
    }

    /// Sets the fault of a path for the next request to it.
    pub fn inject_once(&self, path: &str, fault: Fault) {
        self.server.inject_once(path, fault);
    }

    /// Returns the paths that were requested.
    pub fn requested_paths(&self) -> Vec<String> {
        self.server.requested_paths()
    }

    /// Removes all faults.
    pub fn clear_faults(&self) {
        self.server.clear_faults();
    }

    /// Returns the number of requests to a path, or to all paths if `path` is empty.
    pub fn request_count(&self, path: &str) -> usize {
        self.server.request_count(path)
    }

    /// Lets `/walletsolidity` stand still at the present final block, or follow the chain again.
    pub fn stop_finality(&self, stops: bool) {
        let blocks = usize::try_from(self.height()).unwrap() + 1;
        let blocks = if stops { Chain::final_block_count(blocks) } else { usize::MAX };
        self.server.stop_finality(blocks);
    }

    /// Answers this status to requests without this header (in lower case) and value. `None` answers all requests.
    pub fn demand_header(&self, demanded: Option<(&'static str, &'static str, u16)>) {
        self.server.demand_header(demanded);
    }

    /// Hides this many of the newest blocks.
    pub fn hide_newest_blocks(&self, blocks: usize) {
        self.server.hide_newest_blocks(blocks);
    }

    /// Locks the chain.
    pub fn chain(&self) -> MutexGuard<'_, Chain> {
        self.chain.lock().unwrap()
    }

    /// Mines this many blocks. The first one contains the pending transactions.
    pub fn mine(&self, blocks: u32) {
        (0..blocks).for_each(|_| self.chain().mine_block());
    }

    pub fn height(&self) -> u32 {
        self.chain().height()
    }

    /// Sends a transaction and returns its id. The next block contains the transaction.
    pub fn send(&self, act: Action) -> String {
        self.chain().send(act, true)
    }

    /// Sends a transaction that fails on the chain and returns its id.
    pub fn send_failing(&self, act: Action) -> String {
        self.chain().send(act, false)
    }

    /// Sends TRX, in sun.
    #[track_caller]
    pub fn pay(&self, to: &str, sun: u64) -> String {
        let (from, to) = (PAYER, decode_address(to));
        self.send(Action::Transfer { from, to, amount: sun })
    }

    /// Sends the listed token, in its base units.
    #[track_caller]
    pub fn pay_token(&self, to: &str, units: u64) -> String {
        self.send(Action::token_transfer(TOKEN, PAYER, decode_address(to), units))
    }

    /// Returns the payments to these addresses in all blocks.
    #[track_caller]
    pub fn received_amounts(&self, addresses: &BTreeSet<String>, asset: &str) -> ReceivedAmounts {
        let ours: Vec<[u8; 20]> = addresses.iter().map(|address| decode_address(address)).collect();
        let chain = self.chain();
        let mut came = ReceivedAmounts::new();
        for sent in chain.blocks().iter().flat_map(|block| &block.transactions) {
            let moved = sent.payments().into_iter();
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

/// Decodes an address into the 20 bytes of its account.
#[track_caller]
pub fn decode_address(address: &str) -> [u8; 20] {
    account_bytes(coffer::domain::asset::Chain::Tron, address).unwrap()
}

/// Encodes an account as an address.
#[track_caller]
pub fn encode_address(account: [u8; 20]) -> String {
    coffer::domain::address::account_address(coffer::domain::asset::Chain::Tron, &account).unwrap()
}
