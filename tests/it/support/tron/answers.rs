//! Responses of the simulated node: the paths of java-tron's HTTP interface that Coffer uses.

use super::chain::{Action, Block, Chain, ContractStep, Transaction};
use serde_json::{Value, json};

/// Formats bytes in hexadecimal.
pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Formats an account in hexadecimal with its prefix.
pub fn account_hex(account: &[u8; 20]) -> String {
    format!("41{}", to_hex(account))
}

/// Returns the response for a path, or `None` for an unknown path. The newest `lag` blocks are hidden, and
/// `/walletsolidity` has at most `final_max` blocks.
pub fn response_body(
    chain: &Chain,
    path: &str,
    body: &Value,
    lag: usize,
    final_max: usize,
) -> Option<Value> {
    let (side, method) = path.strip_prefix('/')?.split_once('/')?;
    let has = chain.blocks().len() - lag;
    let has = match side {
        "wallet" => has,
        "walletsolidity" => Chain::final_block_count(has).min(final_max),
        _ => return None,
    };
    let blocks = &chain.blocks()[..has];
    let at = |field: &str| usize::try_from(body[field].as_u64().unwrap_or(0)).unwrap();
    let found = || {
        let id = body["value"].as_str()?;
        let at = chain.height_of_transaction(id).filter(|at| *at < has)?;
        let sent = blocks[at].transactions.iter().find(|one| one.id == id)?;
        Some((at, sent))
    };
    Some(match method {
        "getnowblock" => block_json(has - 1, blocks.last()?),
        "getblockbynum" => match blocks.get(at("num")) {
            Some(found) => block_json(at("num"), found),
            None => json!({}),
        },
        "getblockbylimitnext" => {
            let (from, to) = (at("startNum"), at("endNum").min(has));
            if from >= to || to - from > 100 {
                return Some(json!({}));
            }
            let blocks: Vec<Value> = (from..to).map(|at| block_json(at, &blocks[at])).collect();
            json!({ "block": blocks })
        }
        "gettransactioninfobyblocknum" => match blocks.get(at("num")) {
            _ if at("num") == 0 => json!({}),
            Some(found) => {
                let each = found.transactions.iter();
                each.map(|sent| transaction_info_json(chain, at("num"), found, sent)).collect()
            }
            None => json!([]),
        },
        "gettransactionbyid" => found().map_or(json!({}), |(_, sent)| transaction_json(sent)),
        "gettransactioninfobyid" => found()
            .map_or(json!({}), |(at, sent)| transaction_info_json(chain, at, &blocks[at], sent)),
        _ => return None,
    })
}

fn block_json(height: usize, block: &Block) -> Value {
    let mut raw = json!({
        "txTrieRoot": repeated_hash(1), "witness_address": account_hex(&[0x11; 20]), "parentHash": block.parent, "version": 34,
    });
    // java-tron omits fields that are zero.
    if height > 0 {
        raw["number"] = height.into();
        raw["timestamp"] = block.time_ms.into();
    }
    let mut told = json!({
        "blockID": block.id,
        "block_header": { "raw_data": raw, "witness_signature": "5b".repeat(65) },
    });
    if !block.transactions.is_empty() {
        told["transactions"] = block.transactions.iter().map(transaction_json).collect();
    }
    told
}

fn repeated_hash(byte: u8) -> String {
    to_hex(&[byte; 32])
}

fn transaction_json(sent: &Transaction) -> Value {
    let (kind, value) = match &sent.act {
        Action::Transfer { from, to, amount } => (
            "TransferContract",
            json!({ "amount": amount, "owner_address": account_hex(from), "to_address": account_hex(to) }),
        ),
        Action::Call { from, contract, data, .. } => (
            "TriggerSmartContract",
            json!({ "data": data, "owner_address": account_hex(from), "contract_address": account_hex(contract) }),
        ),
        Action::Other { kind, owner, fields } => {
            let mut value = fields.clone();
            value["owner_address"] = account_hex(owner).into();
            (*kind, value)
        }
    };
    let result = if sent.is_done { "SUCCESS" } else { "REVERT" };
    json!({
        "ret": [{ "contractRet": result }],
        "signature": ["21".repeat(65)],
        "txID": sent.id,
        "raw_data": {
            "contract": [{
                "parameter": { "value": value, "type_url": format!("type.googleapis.com/protocol.{kind}") },
                "type": kind,
            }],
            "ref_block_bytes": "1c8b", "ref_block_hash": "d78785ed02dd918f",
            "expiration": 1_777_437_813_000_u64, "timestamp": 1_777_437_756_016_u64,
        },
        "raw_data_hex": to_hex(&sent.raw),
    })
}

fn transaction_info_json(chain: &Chain, height: usize, block: &Block, sent: &Transaction) -> Value {
    let mut told = json!({
        "id": sent.id, "blockNumber": height, "blockTimeStamp": block.time_ms,
        "contractResult": [""], "receipt": { "net_usage": 268 },
    });
    let Action::Call { contract, logs, steps, .. } = &sent.act else {
        return told;
    };
    told["contract_address"] = account_hex(contract).into();
    told["fee"] = 2_965_000.into();
    told["receipt"] = json!({
        "energy_fee": 2_965_000, "energy_usage_total": 29_650, "net_usage": 345,
        "result": if sent.is_done { "SUCCESS" } else { "REVERT" },
    });
    if sent.is_done && !logs.is_empty() {
        let log = |(address, topics, data): &(String, Vec<String>, String)| json!({ "address": address, "topics": topics, "data": data });
        told["log"] = logs.iter().map(log).collect();
    }
    if !sent.is_done {
        told["result"] = "FAILED".into();
        told["resMessage"] = to_hex(b"REVERT opcode executed").into();
    }
    if chain.keeps_internal && !steps.is_empty() {
        told["internal_transactions"] =
            steps.iter().map(|one| step_json(one, sent.is_done)).collect();
    }
    told
}

fn step_json(step: &ContractStep, is_done: bool) -> Value {
    let mut value = json!({});
    if step.amount > 0 {
        value["callValue"] = step.amount.into();
    }
    if let Some(token) = step.token {
        value["tokenId"] = token.into();
    }
    let mut told = json!({
        "hash": repeated_hash(2), "caller_address": account_hex(&step.from), "transferTo_address": account_hex(&step.to),
        "callValueInfo": [value], "note": to_hex(step.note.as_bytes()),
    });
    if step.is_rejected || !is_done {
        told["rejected"] = true.into();
    }
    told
}
