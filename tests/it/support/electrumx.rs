//! A real ElectrumX server on a regtest node.
//!
//! Invariant: dropping the handle kills the process and removes its folder. The module `tools` describes what happens
//! without ElectrumX.

use super::ports::free_port;
use super::process::Process;
use super::regtest::Regtest;
use super::scratch::Scratch;
use super::tools;
use std::process::{Command, Stdio};

pub struct Electrumx {
    /// Port without TLS.
    pub port: u16,
    /// Port with TLS, open only if the settings name a certificate.
    pub tls_port: u16,
    _process: Process,
    _scratch: Scratch,
}

impl Electrumx {
    /// Starts a server with these extra settings. The node needs at least one block. Returns `None` if ElectrumX is not
    /// installed.
    #[track_caller]
    pub fn start(node: &Regtest, settings: &[(&str, &str)], untested: &str) -> Option<Electrumx> {
        tools::tool_output("electrumx_rpc", &["--help"], untested)?;
        let scratch = Scratch::new();
        let folder = scratch.path("db");
        std::fs::create_dir(&folder).unwrap();
        let (port, tls_port) = (free_port(), free_port());
        let is_tls = settings.iter().any(|(name, _)| *name == "SSL_CERTFILE");
        let tls = format!(",ssl://127.0.0.1:{tls_port}");
        let services = format!("tcp://127.0.0.1:{port}{}", if is_tls { &tls } else { "" });
        let coin = node.chain.as_str();
        let coin = format!("{}{}", coin[..1].to_uppercase(), &coin[1..]);
        let mut command = Command::new("sh");
        command
            .args(["-c", "exec electrumx_server 2>&1"])
            .env("DB_ENGINE", "leveldb")
            .env("DB_DIRECTORY", &folder)
            .env("COIN", coin)
            .env("NET", "regtest")
            .env("DAEMON_URL", node.url())
            .env("SERVICES", services)
            .env("ALLOW_ROOT", "1")
            .env("PEER_DISCOVERY", "off")
            .env("DAEMON_POLL_INTERVAL_BLOCKS", "200")
            .env("DAEMON_POLL_INTERVAL_MEMPOOL", "200")
            // Without these limits, ElectrumX slows down a client that reconnects often.
            .env("COST_SOFT_LIMIT", "0")
            .env("COST_HARD_LIMIT", "0")
            .envs(settings.iter().copied());
        let process = Process::start_with_stderr(&mut command, Stdio::inherit());
        let mut waiting = 1 + usize::from(is_tls);
        while waiting > 0 {
            waiting -= usize::from(process.read_line().contains("server listening on"));
        }
        Some(Electrumx { port, tls_port, _process: process, _scratch: scratch })
    }

    pub fn url(&self) -> String {
        format!("electrum://127.0.0.1:{}", self.port)
    }
}
