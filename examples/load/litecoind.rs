//! A real litecoind in regtest whose blocks are read.
//!
//! Invariant: the process ends when its handle is dropped.

use crate::Failure;
use serde_json::{Value, json};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Height after which a block needs data of the extension block (MWEB).
const LAST_PLAIN: u64 = 431;
/// Blocks mined by one call, or read in one batch.
const GROUP: u32 = 500;

/// A running node.
pub struct Litecoind {
    child: Child,
    port: u16,
    agent: ureq::Agent,
}

impl Litecoind {
    /// Starts a node with a few blocks. Returns `None` if litecoind is not installed.
    pub fn start(folder: &Path) -> Result<Option<Litecoind>, Failure> {
        std::fs::create_dir_all(folder)?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut command = Command::new("litecoind");
        command
            .arg(format!("-datadir={}", folder.display()))
            .arg(format!("-rpcport={port}"))
            .args(["-regtest", "-server", "-listen=0", "-dnsseed=0", "-printtoconsole=0"])
            .args(["-rpcbind=127.0.0.1", "-rpcallowip=127.0.0.1", "-rpcuser=u", "-rpcpassword=p"])
            .arg("-fallbackfee=0.0001");
        let child = match command.stdout(Stdio::null()).stderr(Stdio::null()).spawn() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            child => child?,
        };
        let config = ureq::Agent::config_builder().http_status_as_error(false);
        let agent = config.build().new_agent();
        let node = Litecoind { child, port, agent };
        while node.call("getblockcount", &json!([])).is_err() {
            std::thread::sleep(Duration::from_millis(100));
        }
        node.call("createwallet", &json!(["load"]))?;
        node.mine(101)?;
        Ok(Some(node))
    }

    /// Returns the URL, including the login.
    pub fn url(&self) -> String {
        format!("http://u:p@127.0.0.1:{}", self.port)
    }

    /// Mines blocks.
    pub fn mine(&self, blocks: u32) -> Result<(), Failure> {
        let address = self.call("getnewaddress", &json!([]))?;
        let mut left = u64::from(blocks);
        while left > 0 {
            let height = u64::from(self.height()?);
            if height == LAST_PLAIN {
                let extension = self.call("getnewaddress", &json!(["", "mweb"]))?;
                self.call("sendtoaddress", &json!([extension, 1]))?;
            }
            let plain = LAST_PLAIN.checked_sub(height).filter(|plain| *plain > 0);
            let group = left.min(plain.unwrap_or(GROUP.into()));
            self.call("generatetoaddress", &json!([group, address]))?;
            left -= group;
        }
        Ok(())
    }

    /// Returns the height of the newest block.
    pub fn height(&self) -> Result<u32, Failure> {
        let height = self.call("getblockcount", &json!([]))?;
        Ok(serde_json::from_value(height)?)
    }

    /// Reads these blocks as fast as possible: the hashes in batches, then each block.
    pub fn read(&self, from: u32, to: u32) -> Result<(), Failure> {
        for first in (from..=to).step_by(GROUP as usize) {
            let last = to.min(first + GROUP - 1);
            let calls: Vec<_> = (first..=last)
                .map(|height| json!({ "id": height, "method": "getblockhash", "params": [height] }))
                .collect();
            for answer in self.send(&Value::from(calls))?.as_array_mut().into_iter().flatten() {
                let hash = result(answer)?;
                let block = self.call("getblock", &json!([hash, 2]))?;
                if block.get("hash") != Some(&hash) {
                    return Err("litecoind gave another block".into());
                }
            }
        }
        Ok(())
    }

    fn call(&self, method: &str, params: &Value) -> Result<Value, Failure> {
        let mut answer = self.send(&json!({ "id": 1, "method": method, "params": params }))?;
        result(&mut answer).map_err(|error| format!("{method}: {error}").into())
    }

    fn send(&self, body: &Value) -> Result<Value, Failure> {
        let url = format!("http://127.0.0.1:{}/", self.port);
        // Base64 of `u:p`.
        let request = self.agent.post(url).header("authorization", "Basic dTpw");
        let text = request.send(body.to_string())?.body_mut().read_to_string()?;
        Ok(serde_json::from_str(&text)?)
    }
}

/// Returns the result of a call.
fn result(answer: &mut Value) -> Result<Value, Failure> {
    let mut take = |name| answer.get_mut(name).map(Value::take);
    match take("error") {
        None | Some(Value::Null) => Ok(take("result").unwrap_or_default()),
        Some(error) => Err(error.to_string().into()),
    }
}

impl Drop for Litecoind {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
