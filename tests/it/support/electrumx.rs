//! A real ElectrumX over a regtest node: the server that most wallets of bitcoin and litecoin ask.
//!
//! What always holds: it is gone, with its folder, when its handle is dropped. Where the machine has none, the test is told
//! so and says so.

use super::process::Process;
use super::regtest::Regtest;
use super::scratch::Scratch;
use super::tools;
use std::net::TcpListener;
use std::process::{Command, Stdio};

/// A running server.
pub struct Electrumx {
    /// Its port, without TLS.
    pub port: u16,
    /// Its port with TLS, where it has a certificate.
    pub tls_port: u16,
    _process: Process,
    _scratch: Scratch,
}

impl Electrumx {
    /// Starts a server of this node, which has blocks, with these settings besides; nothing where the machine has none.
    #[track_caller]
    pub fn start(node: &Regtest, settings: &[(&str, &str)], untested: &str) -> Option<Electrumx> {
        tools::says("electrumx_rpc", &["--help"], untested)?;
        let scratch = Scratch::new();
        let folder = scratch.path("db");
        std::fs::create_dir(&folder).unwrap();
        let free = || {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            listener.local_addr().unwrap().port()
        };
        let (port, tls_port) = (free(), free());
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
            // A client that comes back again and again would be made to wait.
            .env("COST_SOFT_LIMIT", "0")
            .env("COST_HARD_LIMIT", "0")
            .envs(settings.iter().copied());
        let process = Process::start_with(&mut command, Stdio::inherit());
        let mut waiting = 1 + usize::from(is_tls);
        while waiting > 0 {
            waiting -= usize::from(process.line().contains("server listening on"));
        }
        Some(Electrumx {
            port,
            tls_port,
            _process: process,
            _scratch: scratch,
        })
    }

    /// Its url.
    pub fn url(&self) -> String {
        format!("electrum://127.0.0.1:{}", self.port)
    }
}
