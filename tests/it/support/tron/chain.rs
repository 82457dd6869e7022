//! The simulated chain: blocks, pending transactions and reorgs.

use sha2::{Digest, Sha256};
use std::time::{SystemTime, UNIX_EPOCH};

/// Id of the genesis block of the test network Nile.
const NILE_GENESIS_ID: &str = "0000000000000000d698d4192c56cb6be724a558448e2684802de4d6cd8690dc";
/// Number of newest blocks that are not final.
const NOT_FINAL_BLOCKS: usize = 19;

/// A chain and its pending transactions.
pub struct Chain {
    blocks: Vec<Block>,
    waiting: Vec<Transaction>,
    made: u64,
    /// Time by which the chain's clock is ahead of the wall clock, in milliseconds.
    pub ahead_ms: i64,
    /// `true` if the node keeps internal transactions.
    pub keeps_internal: bool,
}

#[derive(Clone)]
pub struct Block {
    pub id: String,
    pub parent: String,
    pub time_ms: i64,
    pub transactions: Vec<Transaction>,
}

#[derive(Clone)]
pub struct Transaction {
    pub id: String,
    /// Raw bytes of the transaction. Their hash is the transaction id.
    pub raw: Vec<u8>,
    pub act: Action,
    pub is_done: bool,
}

/// Content of a transaction. Accounts have no prefix byte.
#[derive(Clone)]
pub enum Action {
    /// Sends TRX.
    Transfer { from: [u8; 20], to: [u8; 20], amount: u64 },
    /// Calls a contract.
    Call {
        from: [u8; 20],
        contract: [u8; 20],
        data: String,
        /// Address, topics and data of each log, in hexadecimal without `0x`.
        logs: Vec<(String, Vec<String>, String)>,
        steps: Vec<ContractStep>,
    },
    /// Transaction of another contract type. `fields` are all of its fields except the owner.
    Other { kind: &'static str, owner: [u8; 20], fields: serde_json::Value },
}

/// An internal transaction of a contract.
#[derive(Clone)]
pub struct ContractStep {
    pub from: [u8; 20],
    pub to: [u8; 20],
    pub amount: u64,
    pub note: &'static str,
    pub is_rejected: bool,
    /// Id of the TRC-10 token that the internal transaction transfers, if any.
    pub token: Option<&'static str>,
}

/// A payment: position, contract (`None` for TRX), sender, recipient and amount.
pub type Payment = (u32, Option<[u8; 20]>, [u8; 20], [u8; 20], u64);

/// Hash of `Transfer(address,address,uint256)`.
pub const TRANSFER: &str = "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

impl ContractStep {
    /// Builds an internal transaction in which a contract sends TRX.
    pub fn trx_payment(from: [u8; 20], to: [u8; 20], amount: u64) -> ContractStep {
        ContractStep { from, to, amount, note: "call", is_rejected: false, token: None }
    }
}

impl Action {
    /// Builds a token transfer by a direct call of `transfer`.
    pub fn token_transfer(contract: [u8; 20], from: [u8; 20], to: [u8; 20], units: u64) -> Action {
        let data = format!("a9059cbb{}{units:064x}", account_word(to));
        Action::Call {
            from,
            contract,
            data,
            logs: vec![transfer_log(contract, from, to, units)],
            steps: Vec::new(),
        }
    }

    /// Builds a contract call that makes token payments. The payments appear only in the logs of the transaction.
    pub fn token_payments(contract: [u8; 20], from: [u8; 20], pays: &[([u8; 20], u64)]) -> Action {
        let logs = pays.iter().map(|(to, units)| transfer_log(contract, from, *to, *units));
        Action::Call {
            from,
            contract,
            data: "d6febde8".to_owned(),
            logs: logs.collect(),
            steps: Vec::new(),
        }
    }

    /// Builds a contract call with these internal transactions.
    pub fn contract_call(contract: [u8; 20], from: [u8; 20], steps: Vec<ContractStep>) -> Action {
        Action::Call { from, contract, data: "d6febde8".to_owned(), logs: Vec::new(), steps }
    }
}

/// Builds the log of a token transfer.
pub fn transfer_log(
    contract: [u8; 20],
    from: [u8; 20],
    to: [u8; 20],
    units: u64,
) -> (String, Vec<String>, String) {
    let topics = vec![TRANSFER.to_owned(), account_word(from), account_word(to)];
    (super::to_hex(&contract), topics, format!("{units:064x}"))
}

fn account_word(account: [u8; 20]) -> String {
    format!("{:0>64}", super::to_hex(&account))
}

impl Transaction {
    /// Returns the payments that the transaction makes.
    pub fn payments(&self) -> Vec<Payment> {
        if !self.is_done {
            return Vec::new();
        }
        match &self.act {
            Action::Transfer { from, to, amount } => vec![(0, None, *from, *to, *amount)],
            Action::Call { logs, steps, .. } => {
                let account = |text: &str| {
                    let digits = &text[text.len() - 40..];
                    let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
                    let bytes: Vec<u8> = (0..40).step_by(2).map(byte).collect();
                    <[u8; 20]>::try_from(bytes).unwrap()
                };
                let of_log =
                    |(at, (contract, topics, data)): (usize, &(String, Vec<String>, String))| {
                        let [event, from, to] = topics.as_slice() else {
                            return None;
                        };
                        let units = u64::from_str_radix(data, 16).unwrap();
                        let at = u32::try_from(at + 1).unwrap();
                        let moved =
                            (at, Some(account(contract)), account(from), account(to), units);
                        (event == TRANSFER).then_some(moved)
                    };
                let sends = |step: &&ContractStep| {
                    let moves = ["call", "create", "suicide"].contains(&step.note);
                    moves && !step.is_rejected && step.amount > 0 && step.token.is_none()
                };
                let steps = steps.iter().filter(sends).zip(1_000_000..);
                let steps = steps.map(|(step, at)| (at, None, step.from, step.to, step.amount));
                let logs = logs.iter().enumerate().filter_map(of_log);
                logs.chain(steps).collect()
            }
            Action::Other { .. } => Vec::new(),
        }
    }
}

impl Chain {
    pub fn new() -> Chain {
        let first = Block {
            id: NILE_GENESIS_ID.to_owned(),
            // Parent id of the genesis block, the same as on the main network.
            parent: "e58f33f9baf9305dc6f82b9f1934ea8f0ade2defb951258d50167028c780351f".to_owned(),
            time_ms: 0,
            transactions: Vec::new(),
        };
        Chain {
            blocks: vec![first],
            waiting: Vec::new(),
            made: 0,
            ahead_ms: 0,
            keeps_internal: true,
        }
    }

    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Returns the number of final blocks of a chain with this many blocks.
    pub fn final_block_count(blocks: usize) -> usize {
        blocks.saturating_sub(NOT_FINAL_BLOCKS).max(1)
    }

    pub fn height(&self) -> u32 {
        u32::try_from(self.blocks.len() - 1).unwrap()
    }

    /// Returns the height of the block that contains a transaction, or `None` if it is pending.
    pub fn height_of_transaction(&self, txid: &str) -> Option<usize> {
        let has = |block: &Block| block.transactions.iter().any(|one| one.id == txid);
        self.blocks.iter().position(has)
    }

    pub fn send(&mut self, act: Action, is_done: bool) -> String {
        self.made += 1;
        let raw = format!("transaction {}", self.made).into_bytes();
        let id = super::to_hex(&Sha256::digest(&raw));
        self.waiting.push(Transaction { id: id.clone(), raw, act, is_done });
        id
    }

    pub fn mine_block(&mut self) {
        let all = self.waiting.len();
        self.mine_first_pending(all);
    }

    /// Mines a block with the first `count` pending transactions.
    pub fn mine_first_pending(&mut self, count: usize) {
        self.made += 1;
        let tip = self.blocks.last().unwrap();
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let wall = i64::try_from(wall.as_millis()).unwrap();
        let hash = Sha256::digest(format!("block {}", self.made));
        let block = Block {
            id: format!("{:016x}{}", self.blocks.len(), &super::to_hex(&hash)[16..]),
            parent: tip.id.clone(),
            time_ms: (wall + self.ahead_ms).max(tip.time_ms + 1),
            transactions: self.waiting.drain(..count).collect(),
        };
        self.blocks.push(block);
    }

    /// Removes the newest blocks. Their transactions become pending again, except the transactions with an id in
    /// `gone`.
    pub fn reorg(&mut self, blocks: usize, gone: &[&str]) {
        let at = self.blocks.len() - blocks;
        assert!(at >= Chain::final_block_count(self.blocks.len()), "what is final stays");
        let given_up = self.blocks.split_off(at).into_iter();
        let mut back: Vec<_> = given_up.flat_map(|block| block.transactions).collect();
        back.retain(|sent| !gone.contains(&sent.id.as_str()));
        back.append(&mut self.waiting);
        self.waiting = back;
    }

    /// Reverses the order of the pending transactions and returns their number.
    pub fn reverse_pending_order(&mut self) -> usize {
        self.waiting.reverse();
        self.waiting.len()
    }
}
