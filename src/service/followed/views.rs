//! State of the followed chains for the operator.
//!
//! Invariant: the state comes from the same data that live mode uses.

use super::{LiveChain, ReportedChainState};
use crate::domain::asset::{ASSETS, Chain};
use crate::domain::set_aside::set_aside_problem;
use crate::domain::time::SECOND_MS;
use crate::domain::wallet::stopped_wallet_problem;
use crate::domain::{LaggingChains, Mode, SetAside, Time};
use crate::render::chains::{
    ChainView, SET_ASIDE_MAX, SetAsideView, UNEXPLAINED_MAX, UnexplainedView,
};
use crate::service::{Error, Service};
use crate::store::unexplained::{self, UnexplainedBalance};
use crate::store::{FileKind, Reader, chain_cursors, chains, rescans, set_aside, wallets};

impl Service {
    /// Returns the state of every chain that has a node.
    pub fn chain_views(&self, now: Time) -> Result<Vec<ChainView>, Error> {
        self.read_snapshot(|db| {
            let scanned = chains::lagging_chains(db)?;
            let each = self.live.chain_states().into_iter();
            each.map(|(one, said)| chain_view(db, now, &one.live, said, &scanned)).collect()
        })
    }

    /// Returns the state of all chains in one line.
    pub fn chains_summary(&self, now: Time) -> Result<String, Error> {
        if self.kind == FileKind::Sandbox {
            return Ok("simulated".to_owned());
        }
        let chains = self.chain_views(now)?;
        if chains.is_empty() {
            return Ok("none has a node".to_owned());
        }
        let say = |one: &ChainView| match (&one.problem, one.keeps_up) {
            (Some(problem), _) => format!("{}: {problem}", one.chain),
            (None, true) => format!("{} ok", one.chain),
            (None, false) => format!("{} not read up to now", one.chain),
        };
        let said: Vec<String> = chains.iter().map(say).collect();
        Ok(said.join("; "))
    }
}

fn chain_view(
    db: &Reader<'_>,
    now: Time,
    live: &LiveChain,
    said: ReportedChainState,
    scanned: &LaggingChains,
) -> Result<ChainView, Error> {
    let chain = live.chain;
    let cursor = chain_cursors::of_chain(db, chain)?;
    let is_unread = said.is_unread(chain, now);
    let mut problem = said.timeout_message(chain, now).or(said.problem);
    let mut view = ChainView {
        chain,
        node: live.node.clone(),
        node_in_use: said.url_in_use,
        network: None,
        head_height: said.head_height,
        head_at: said.head_time,
        head_age_seconds: None,
        height: None,
        complete_height: None,
        lag_blocks: None,
        scanned_to: scanned.scanned_to(chain),
        lag_seconds: None,
        keeps_up: false,
        problem: None,
        watched_addresses: said.watched,
        requests: said.requests.total(),
        requests_per_day: said.requests.per_day(now),
        rescan_at: rescans::active_for_chain(db, chain)?.map(|rescan| rescan.next_height),
        unexplained: unexplained_balances(db, chain)?,
        set_aside: Vec::new(),
    };
    let lag_ms = view.scanned_to.map(|to| now.since_ms(to).max(0));
    view.lag_seconds = lag_ms.map(|lag_ms| lag_ms / SECOND_MS);
    if let Some(cursor) = cursor {
        let height = cursor.reached.block.height;
        let head_height = said.head_height.unwrap_or(cursor.head_height);
        view.head_at = view.head_at.or(Some(cursor.head_time));
        view.head_height = Some(head_height);
        view.height = Some(height);
        view.complete_height = Some(cursor.complete.height);
        view.lag_blocks = Some(head_height.saturating_sub(height));
        let asset = ASSETS.iter().find(|asset| asset.chain == chain);
        let is_young = asset.is_some_and(|asset| scanned.is_on_offer(Mode::Live, asset, now));
        view.keeps_up = is_young && !is_unread && cursor.stopped.is_none();
        if let Some(row) = wallets::wallet_of_other_network(db, &cursor)? {
            problem = Some(format!(
                "it is followed on {}, and its wallet is of {}: no address is handed out",
                cursor.network, row.wallet.network
            ));
        }
        if let Some(row) = wallets::stopped_for_chain(db, chain)? {
            let index = row.stopped_index.unwrap_or_default();
            problem = Some(format!(
                "{}; no address is handed out",
                stopped_wallet_problem(&row.id, index)
            ));
        }
        problem = cursor.stopped.or(problem);
        view.network = Some(cursor.network);
    }
    let head_age_ms = view.head_at.map(|at| now.since_ms(at).max(0));
    view.head_age_seconds = head_age_ms.map(|age_ms| age_ms / SECOND_MS);
    let unexplained = view.unexplained.len();
    let aside = set_aside::of_chain(db, chain)?;
    view.problem = problem.or_else(|| set_aside_problem(chain, &aside)).or_else(|| {
        (unexplained > 0).then(|| {
            format!("{unexplained} addresses have more than is known to have come to them: see unexplained")
        })
    });
    view.set_aside = set_aside_views(aside);
    Ok(view)
}

fn set_aside_views(parts: Vec<SetAside>) -> Vec<SetAsideView> {
    let most = usize::try_from(SET_ASIDE_MAX).unwrap_or(usize::MAX);
    let view = |SetAside { kind, id, reason, .. }| SetAsideView { kind, id, reason };
    parts.into_iter().take(most).map(view).collect()
}

/// Returns the addresses of a chain whose balance exceeds the amounts that were seen.
fn unexplained_balances(db: &Reader<'_>, chain: Chain) -> Result<Vec<UnexplainedView>, Error> {
    let found = unexplained::of_chain(db, chain, UNEXPLAINED_MAX)?.into_iter();
    let shown = |found: UnexplainedBalance| UnexplainedView {
        address: found.address,
        asset: found.asset.id,
        balance_crypto: found.asset.format_units(found.balance),
        known_crypto: found.asset.format_units(found.known),
        height: found.height,
    };
    Ok(found.map(shown).collect())
}
