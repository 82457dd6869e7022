//! The guide *Go live with stablecoins on Base*, followed on an Ethereum node (anvil) with the chain id of Base.

use super::{code_blocks, guide_path};
use crate::operator::wallets::EVM_XPUB;
use crate::support::anvil::Node;
use crate::support::process::Process;
use crate::support::receiver::Receiver;
use crate::support::scratch::{Scratch, path_text};
use crate::support::{polling, tools};
use rusqlite::Connection;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

const SKIPPED_TEST_NAME: &str = "going live on Base as the guide says";
/// Chain id of Base.
const BASE_CHAIN_ID: u64 = 8453;
/// Contract of the token USDC on Base.
const USDC_CONTRACT: &str = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";

#[test]
fn guide_leads_to_a_payment_in_usdc_and_the_list_of_addresses() {
    if tools::tool_output("jq", &["--version"], SKIPPED_TEST_NAME).is_none() {
        return;
    }
    let Some(node) = Node::start(BASE_CHAIN_ID, SKIPPED_TEST_NAME) else { return };
    node.deploy_token_at(USDC_CONTRACT);
    let guide = std::fs::read_to_string(guide_path("base-stablecoins.md")).unwrap();
    let blocks = code_blocks(&guide);
    let blocks = blocks.iter().filter(|block| block.info == "sh base");
    let blocks: Vec<&str> = blocks.map(|block| &*block.text).collect();
    let [wallet, account, doctor, serve, invoice, own, funded] = blocks.as_slice() else {
        unreachable!("seven blocks: {blocks:?}")
    };
    let folder = Scratch::new();
    std::fs::write(folder.path("evm.key"), EVM_XPUB).unwrap();
    let rates = r#"{"USDC": {"EUR": "0.9", "USD": "1"}}"#;
    std::fs::write(folder.path("rates.json"), rates).unwrap();
    let listen = Receiver::unused_address().to_string();
    let programs = Path::new(env!("CARGO_BIN_EXE_coffer")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let shell = |script: String| {
        let script = script.replace("https://mainnet.base.org", &node.url);
        let mut command = Command::new("sh");
        command.args(["-euc", &script.replace("127.0.0.1:8080", &listen)]);
        command.current_dir(folder.path("")).env("PATH", &path).env("COFFER_LISTEN", &listen);
        let rates = format!("fixed:{}", path_text(&folder.path("rates.json")));
        command.env("COFFER_RATES", rates);
        command
    };
    let run = |script: String| {
        let output = shell(script).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}{error}");
        said
    };
    let said = run(format!("{wallet}\n{account}\n{doctor}\nexport -p >env"));
    assert!(said.contains("0x9858EfFD232B4033E47d90003D41EC34EcaEda94"), "{said}");
    assert!(said.contains("ok: node of base") && said.contains("8453"), "{said}");
    let served = Process::start(&mut shell(format!(". ./env; exec {serve}")));
    assert!(served.wait_for_url().starts_with("https://pay.example.com"));
    let file = Connection::open(folder.path("shop.db")).unwrap();
    let wait_until = |query: &str| {
        let is_so = || file.query_row(query, [], |row| row.get(0)) == Ok(1_u32);
        assert!(polling::wait_until(is_so), "{query}");
    };
    wait_until("select count(*) from chain_cursors where exists (select 1 from rate_figures)");
    let made: Value = serde_json::from_str(&run(format!(". ./env; {invoice}"))).unwrap();
    let (to, amount) = (&made["depositAddress"], &made["amountExpected"]);
    assert_eq!(amount, "1.111112");
    node.pay_token(USDC_CONTRACT, to.as_str().unwrap(), 1_111_112);
    node.mine(10);
    wait_until("select count(*) from observations where state = 'confirmed'");
    run(format!(". ./env; {own}"));
    wait_until("select count(*) from own_addresses");
    let list = run(format!(". ./env; {funded}"));
    assert!(
        list.contains("m/0/0,0x9858EfFD232B4033E47d90003D41EC34EcaEda94,USDC-BASE,1.111112,"),
        "{list}"
    );
}
