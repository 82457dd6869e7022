//! Urls of one chain, and failover between them.

use super::Node;
use super::rpc::Limits;
use super::setting::ChainNode;

/// Time limit of a request to another url, in milliseconds. The chain is not followed while the request runs.
const LOOK_MS_MAX: u64 = 10_000;

/// Source of nodes for a chain, with failover.
pub trait Connector: Send {
    /// Returns the node to use after this number of failures in a row; `None` to keep the current one.
    fn after_failures(&mut self, failures: u32) -> Option<Box<dyn Node>>;

    /// Returns the node `distance` urls after the current one, to read its head; `None` after the last one.
    fn other(&self, _distance: usize) -> Option<Box<dyn Node>> {
        None
    }

    /// Switches to the url `distance` after the current one and returns its node; `None` if there is only one url.
    fn turn(&mut self, _distance: usize) -> Option<Box<dyn Node>> {
        None
    }

    /// Returns the label of the current url; `None` if there is only one.
    fn asked(&self) -> Option<&str> {
        None
    }
}

impl<F: FnMut(u32) -> Option<Box<dyn Node>> + Send> Connector for F {
    fn after_failures(&mut self, failures: u32) -> Option<Box<dyn Node>> {
        self(failures)
    }
}

/// Node urls of a chain from the settings, with the index of the current one.
pub struct Urls {
    of: ChainNode,
    /// Index of the current url; `None` before the first one is used.
    asked: Option<usize>,
}

impl Urls {
    /// Creates the list without a current url.
    pub const fn new(of: ChainNode) -> Urls {
        Urls { of, asked: None }
    }

    /// Returns the index of the url `distance` after the current one; `None` if that is the current one.
    fn behind(&self, distance: usize) -> Option<usize> {
        let count = self.of.urls().count();
        let place = self.asked?.saturating_add(distance);
        let place = place.checked_rem(count)?;
        (distance < count && Some(place) != self.asked).then_some(place)
    }
}

impl Connector for Urls {
    /// Switches to the next url after each third failure. Otherwise the node stays, because it knows its limits and
    /// subscriptions.
    fn after_failures(&mut self, failures: u32) -> Option<Box<dyn Node>> {
        if self.asked.is_none() {
            self.asked = Some(0);
            return self.of.node(0, Limits::default());
        }
        let turns = failures > 0 && failures.is_multiple_of(Limits::default().failures_max);
        turns.then(|| self.turn(1)).flatten()
    }

    fn other(&self, distance: usize) -> Option<Box<dyn Node>> {
        let limits = Limits {
            timeout_ms: LOOK_MS_MAX,
            ..Limits::default()
        };
        self.of.node(self.behind(distance)?, limits)
    }

    fn turn(&mut self, distance: usize) -> Option<Box<dyn Node>> {
        let place = self.behind(distance)?;
        self.asked = Some(place);
        let (chain, url) = (self.of.chain, self.asked().unwrap_or_default());
        log::warn!("node changed: chain={chain} node={url}");
        self.of.node(place, Limits::default())
    }

    fn asked(&self) -> Option<&str> {
        let url = self.of.urls().nth(self.asked?);
        url.filter(|_| self.of.urls().count() > 1)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{Connector, Urls};
    use crate::chain::setting::{Keyed, Nodes};

    fn urls(urls: &str) -> Urls {
        let nodes = vec![("litecoin".to_owned(), urls.to_owned())];
        let read = Nodes::read(&nodes, &Keyed::new(), &Keyed::new(), false);
        Urls::new(read.unwrap().of_chains.into_iter().next().unwrap())
    }

    /// Returns the failure counts after which the next url is used.
    fn turns(text: &str) -> Vec<u32> {
        let mut urls = urls(text);
        (0..60)
            .filter(|failures| urls.after_failures(*failures).is_some())
            .collect()
    }

    #[test]
    fn one_url_is_kept_and_of_several_the_next_takes_over_for_ever() {
        assert_eq!(turns("http://a"), [0]);
        let each_third: Vec<u32> = (0..60).step_by(3).collect();
        assert_eq!(turns("http://a,http://b"), each_third);
    }

    #[test]
    fn every_other_url_is_looked_at_once_and_only_turning_changes_the_one_that_is_asked() {
        let mut one = urls("http://a");
        assert!(one.after_failures(0).is_some());
        assert!(one.other(1).is_none() && one.turn(1).is_none() && one.asked().is_none());
        let mut three = urls("http://a:1,http://a:2,http://a:3");
        assert!(three.other(1).is_none(), "none is asked yet");
        assert!(three.after_failures(0).is_some());
        let looks = (1..9).map_while(|distance| three.other(distance));
        assert_eq!(looks.count(), 2);
        assert_eq!(three.asked(), Some("http://a:1 (1 of 3)"));
        assert!(three.turn(2).is_some());
        assert_eq!(three.asked(), Some("http://a:3 (3 of 3)"));
        assert!(three.after_failures(3).is_some());
        assert_eq!(three.asked(), Some("http://a:1 (1 of 3)"));
    }
}
