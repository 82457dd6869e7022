//! Urls of one chain, and failover between them.

use super::Node;
use super::rpc::{Limits, RequestWatch};
use super::setting::ChainNodes;

/// Time limit of a request to a url that is not in use, in milliseconds. The chain is not followed while the request
/// runs.
const LOOK_MS_MAX: u64 = 10_000;

/// Source of nodes for a chain, with failover.
pub trait Connector: Send {
    /// Returns the node to use after this number of consecutive failures; `None` to keep the current node.
    fn node_after_failures(&mut self, failures: u32) -> Option<Box<dyn Node>>;

    /// Returns the node at another url. The caller only reads the head of this node. The url is `distance` places
    /// after the current one in the list. `None` if `distance` leads back to the current url.
    fn node_at_distance(&self, _distance: usize) -> Option<Box<dyn Node>> {
        None
    }

    /// Switches to the url that is `distance` places after the current one in the list, and returns its node. `None`
    /// if there is only one url.
    fn switch_node(&mut self, _distance: usize) -> Option<Box<dyn Node>> {
        None
    }

    /// Returns a new node at the current url. `None` before a url is used.
    fn renew_node(&mut self) -> Option<Box<dyn Node>> {
        None
    }

    /// Returns the label of the current url; `None` if there is only one url.
    fn current_url(&self) -> Option<&str> {
        None
    }
}

impl<F: FnMut(u32) -> Option<Box<dyn Node>> + Send> Connector for F {
    fn node_after_failures(&mut self, failures: u32) -> Option<Box<dyn Node>> {
        self(failures)
    }
}

/// Node urls of a chain from the settings, with the index of the current url.
pub struct NodeUrls {
    of: ChainNodes,
    /// Index of the current url; `None` before a url is used.
    asked: Option<usize>,
    /// Callback that learns when a request to the current url begins and ends.
    watch: Option<RequestWatch>,
}

impl NodeUrls {
    /// Creates the list without a current url.
    pub const fn new(of: ChainNodes) -> NodeUrls {
        NodeUrls { of, asked: None, watch: None }
    }

    /// Sets the callback that learns when a request to the current url begins and ends.
    pub fn with_watch(self, watch: RequestWatch) -> NodeUrls {
        NodeUrls { watch: Some(watch), ..self }
    }

    fn create_current_node(&self, place: usize) -> Option<Box<dyn Node>> {
        self.of.create_watched_node(place, Limits::default(), self.watch.clone())
    }

    /// Returns the index of the url that is `distance` places after the current one in the list. `None` if `distance`
    /// leads back to the current url.
    fn index_at_distance(&self, distance: usize) -> Option<usize> {
        let count = self.of.url_labels().count();
        let place = self.asked?.saturating_add(distance);
        let place = place.checked_rem(count)?;
        (distance < count && Some(place) != self.asked).then_some(place)
    }
}

impl Connector for NodeUrls {
    /// Switches to the next url after each third failure. Otherwise keeps the current node, because its limits and
    /// subscriptions are already known.
    fn node_after_failures(&mut self, failures: u32) -> Option<Box<dyn Node>> {
        if self.asked.is_none() {
            self.asked = Some(0);
            return self.create_current_node(0);
        }
        let turns = failures > 0 && failures.is_multiple_of(Limits::default().failures_max);
        turns.then(|| self.switch_node(1)).flatten()
    }

    fn node_at_distance(&self, distance: usize) -> Option<Box<dyn Node>> {
        let limits = Limits { timeout_ms: LOOK_MS_MAX, ..Limits::default() };
        self.of.create_node(self.index_at_distance(distance)?, limits)
    }

    fn switch_node(&mut self, distance: usize) -> Option<Box<dyn Node>> {
        let place = self.index_at_distance(distance)?;
        self.asked = Some(place);
        let (chain, url) = (self.of.chain, self.current_url().unwrap_or_default());
        log::warn!("node changed: chain={chain} node={url}");
        self.create_current_node(place)
    }

    fn renew_node(&mut self) -> Option<Box<dyn Node>> {
        self.create_current_node(self.asked?)
    }

    fn current_url(&self) -> Option<&str> {
        let url = self.of.url_labels().nth(self.asked?);
        url.filter(|_| self.of.url_labels().count() > 1)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{Connector, NodeUrls};
    use crate::chain::setting::{FollowedNodeUrls, KeyedValues};

    fn parse_urls(urls: &str) -> NodeUrls {
        let nodes = vec![("litecoin".to_owned(), urls.to_owned())];
        let read = FollowedNodeUrls::parse_settings(
            &nodes,
            &KeyedValues::new(),
            &KeyedValues::new(),
            false,
        );
        NodeUrls::new(read.unwrap().of_chains.into_iter().next().unwrap())
    }

    /// Returns the failure counts after which the next url is used.
    fn switching_failure_counts(text: &str) -> Vec<u32> {
        let mut urls = parse_urls(text);
        (0..60).filter(|failures| urls.node_after_failures(*failures).is_some()).collect()
    }

    #[test]
    fn each_third_failure_switches_to_the_next_url() {
        assert_eq!(switching_failure_counts("http://a"), [0]);
        let each_third: Vec<u32> = (0..60).step_by(3).collect();
        assert_eq!(switching_failure_counts("http://a,http://b"), each_third);
    }

    #[test]
    fn node_at_distance_keeps_the_current_url() {
        let mut one = parse_urls("http://a");
        assert!(one.node_after_failures(0).is_some());
        assert!(
            one.node_at_distance(1).is_none()
                && one.switch_node(1).is_none()
                && one.current_url().is_none()
        );
        assert!(one.renew_node().is_some());
        let mut three = parse_urls("http://a:1,http://a:2,http://a:3");
        assert!(three.node_at_distance(1).is_none(), "none is asked yet");
        assert!(three.renew_node().is_none());
        assert!(three.node_after_failures(0).is_some());
        let looks = (1..9).map_while(|distance| three.node_at_distance(distance));
        assert_eq!(looks.count(), 2);
        assert_eq!(three.current_url(), Some("http://a:1 (1 of 3)"));
        assert!(three.switch_node(2).is_some());
        assert_eq!(three.current_url(), Some("http://a:3 (3 of 3)"));
        assert!(three.node_after_failures(3).is_some());
        assert_eq!(three.current_url(), Some("http://a:1 (1 of 3)"));
    }
}
