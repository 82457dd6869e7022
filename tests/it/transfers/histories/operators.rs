//! What operators do in a random history: single acts, acts of two operators at the same time, kills and restores.

use super::{History, HistoryChain, HistoryTransaction};
use crate::support::agent;
use serde_json::{Value, json};
use std::sync::Barrier;
use std::thread;

/// Number of acts of each operator while both act at the same time.
const ACTS_AT_ONCE: usize = 3;
/// Largest number of times that a thread yields before a kill.
const YIELDS_MAX: usize = 2_000;

/// An act: path of the transfer, and body of the request.
type Act = (String, Value);

/// Sends the acts of one operator, in order. Returns the status of each response; `None` where the server was killed.
fn send_acts(acts: &[Act], url: &str, cookie: &str) -> Vec<Option<u16>> {
    let agent = agent();
    let send_act = |(path, body): &Act| {
        let request = agent.post(format!("{url}{path}")).header("cookie", cookie);
        let response = request.send(body.to_string()).ok()?;
        Some(response.status().as_u16())
    };
    acts.iter().map(send_act).collect()
}

impl<C: HistoryChain> History<'_, C> {
    /// Returns a random act for a transfer, whether or not the act fits the transfer.
    #[track_caller]
    fn random_act(&mut self, at: usize, operator: usize) -> Act {
        let path = self.transfers[at].path.clone();
        let seen = &mut self.seen_reviews[operator];
        if !seen.is_empty() && self.dice.once_in(2) {
            let (path, review) = seen.swap_remove(self.dice.roll(seen.len()));
            let action = self.dice.pick(&["resolve", "adjust", "adjust"]);
            let body =
                json!({ "action": action, "review": review, "reason": "as it looked to me" });
            return (path, body);
        }
        let txid = self.random_txid(at);
        let body = match self.dice.roll(14) {
            0..=1 => json!({ "action": "process" }),
            2..=6 => json!({ "action": "pay", "txid": txid }),
            7 => json!({ "action": "detach" }),
            8 => json!({ "action": "fail" }),
            9 => json!({ "action": "fail", "force": true }),
            10 => json!({ "action": "cancel" }),
            11 => json!({ "action": "release" }),
            12 => json!({ "action": "dismiss", "txid": txid }),
            _ => json!({ "action": "dismiss", "txid": "all" }),
        };
        (path, body)
    }

    /// Returns the id of a transaction that pays the destination of a transfer, of any transaction, or of none.
    #[track_caller]
    fn random_txid(&mut self, at: usize) -> String {
        let to = &self.transfers[at].to;
        let is_here = |made: &&HistoryTransaction| made.payments.iter().any(|one| one.to == *to);
        let is_any = self.dice.once_in(3);
        let ids = self.transactions.iter().filter(|made| is_any || is_here(made));
        let ids: Vec<&String> = ids.map(|made| &made.txid).collect();
        if ids.is_empty() || self.dice.once_in(6) {
            // Each history has its own: the server reads blocks back from the oldest transfer that has the same id.
            return self
                .chain
                .unknown_txid(self.base * 4 + u32::try_from(self.dice.roll(3)).unwrap());
        }
        self.dice.pick(&ids).clone()
    }

    /// An operator looks at the open reviews.
    #[track_caller]
    fn look_at_reviews(&mut self, operator: usize) {
        let open = "select t.kind || 's/' || t.id || ' ' || r.id from transfer_reviews r join transfers t \
            on t.seq = r.transfer where r.ended_at is null order by r.seq";
        let open = self.query(open);
        let ours = open.iter().filter_map(|line| {
            let (path, review) = line.split_once(' ')?;
            let path = format!("/dashboard/api/{path}");
            let is_ours = self.transfers.iter().any(|transfer| transfer.path == path);
            is_ours.then(|| (path, review.to_owned()))
        });
        self.seen_reviews[operator] = ours.collect();
    }

    /// One operator acts, by what that operator saw before.
    #[track_caller]
    pub(super) fn act(&mut self) {
        let operator = self.dice.roll(2);
        if self.seen_reviews[operator].is_empty() || self.dice.once_in(3) {
            self.look_at_reviews(operator);
        }
        let at = self.dice.roll(self.transfers.len());
        let (path, body) = self.random_act(at, operator);
        let running = self.chain.shop().1;
        let answer = running.operator_request("POST", &path, &body);
        self.note(format!("{path} {body}: {}", answer.status));
        self.count_status(answer.status);
    }

    #[track_caller]
    pub(super) fn count_status(&mut self, status: u16) {
        assert!(status < 500, "an act of an operator failed with {status}");
        self.counts.acts += 1;
        self.counts.accepted += usize::from(status == 200);
    }

    /// Two operators act on one or two transfers at the same time. Sometimes the server is killed meanwhile.
    #[track_caller]
    pub(super) fn act_at_once(&mut self) {
        self.look_at_reviews(0);
        let both = [self.dice.roll(self.transfers.len()), self.dice.roll(self.transfers.len())];
        let acts = [0, 1].map(|operator| {
            let acts = (0..ACTS_AT_ONCE).map(|_| {
                let at = self.dice.pick(&both);
                self.random_act(at, operator)
            });
            acts.collect::<Vec<Act>>()
        });
        let running = self.chain.shop().1;
        let (url, cookie) = (running.url.clone(), running.cookie().to_owned());
        let is_killed = self.dice.once_in(4);
        let yields = self.dice.roll(YIELDS_MAX);
        let start = Barrier::new(3);
        let statuses = thread::scope(|scope| {
            let threads = acts.each_ref().map(|acts| {
                let (start, url, cookie) = (&start, &url, &cookie);
                scope.spawn(move || {
                    start.wait();
                    send_acts(acts, url, cookie)
                })
            });
            start.wait();
            if is_killed {
                (0..yields).for_each(|_| thread::yield_now());
                self.chain.kill();
            }
            threads.map(|thread| thread.join().unwrap())
        });
        if is_killed {
            self.counts.kills += 1;
            self.chain.start();
        }
        self.counts.races += 1;
        for (operator, (acts, statuses)) in acts.iter().zip(statuses).enumerate() {
            for ((path, body), status) in acts.iter().zip(statuses) {
                self.note(format!("operator {operator} at once: {path} {body}: {status:?}"));
                assert!(is_killed || status.is_some(), "the server ended");
                status.into_iter().for_each(|status| self.count_status(status));
            }
        }
    }

    /// Kills the server soon after its start, while it reads the chain.
    #[track_caller]
    pub(super) fn kill_at_random_moment(&mut self) {
        self.note("kill twice");
        for _ in 0..2 {
            self.chain.kill();
            self.counts.kills += 1;
            self.chain.start();
            (0..self.dice.roll(YIELDS_MAX)).for_each(|_| thread::yield_now());
        }
    }

    /// Copies the file, or continues from the older copy. After a restore the held transfers may be released, and their
    /// proposals dismissed.
    #[track_caller]
    pub(super) fn copy_or_restore(&mut self) {
        let shop = self.chain.shop().0;
        let Some(copy) = self.copy.take() else {
            let path = shop.served.path(&format!("copy{}-{}.db", self.base, self.counts.events));
            let path = path.to_str().unwrap().to_owned();
            shop.run_coffer(&["backup", &path]);
            self.note("copy");
            self.copy = Some(path);
            return;
        };
        self.note("restore");
        self.answer_all_signers();
        self.chain.restore(&copy);
        self.counts.restores += 1;
        self.counts.kills += 1;
        let known = self.query("select id from transfers");
        self.transfers.retain(|transfer| known.contains(&transfer.id));
        if self.dice.once_in(2) {
            self.sync();
        }
        for at in 0..self.transfers.len() {
            match self.dice.roll(4) {
                0 => drop(self.apply_action(at, &json!({ "action": "release" }))),
                1 => {
                    self.apply_action(at, &json!({ "action": "release" }));
                    self.apply_action(at, &json!({ "action": "dismiss", "txid": "all" }));
                }
                _ => {}
            }
        }
        if self.transfers.is_empty() {
            self.start_transfer();
        }
    }

    /// Ends all open transfers, so that the next history can request payouts.
    #[track_caller]
    pub(super) fn end_all_transfers(&mut self) {
        for at in 0..self.transfers.len() {
            for body in [
                json!({ "action": "release" }),
                json!({ "action": "dismiss", "txid": "all" }),
                json!({ "action": "reject", "reason": "the history ended" }),
                json!({ "action": "cancel", "reason": "the history ended" }),
                json!({ "action": "fail", "force": true }),
            ] {
                self.apply_action(at, &body);
            }
        }
    }
}
