//! `coffer setup --print`: files of a server for this machine, with its domain in them.

use super::plan::{LISTEN_BEHIND_PROXY, LOCAL_PROXY};
use crate::cli::installed::InstalledSettings;
use crate::cli::output::print_text;
use crate::domain::SiteUrl;
use crate::service::Error;

/// Domain in the files of `examples/deploy`.
const EXAMPLE_DOMAIN: &str = "pay.example.com";

/// Names of the files with their content.
pub(super) const RECIPES: [(&str, &str); 4] = [
    ("nginx", include_str!("../../../examples/deploy/nginx.conf")),
    ("caddy", include_str!("../../../examples/deploy/Caddyfile")),
    ("systemd", include_str!("../../../examples/deploy/coffer.service")),
    ("compose", include_str!("../../../examples/deploy/compose.yaml")),
];

pub(super) fn print_recipe(name: &str, settings: Option<&InstalledSettings>) -> Result<(), Error> {
    let found = RECIPES.iter().find(|(known, _)| *known == name);
    let text = found.map_or("", |(_, text)| text);
    print_text(&text.replace(EXAMPLE_DOMAIN, domain(settings))).map(drop)
}

/// Prints the file of settings and the commands that set up the service by hand.
pub(super) fn print_steps_by_hand(settings: Option<&InstalledSettings>) -> Result<(), Error> {
    let domain = domain(settings);
    print_text(&format!(
        "\
# /etc/coffer/coffer.env, which belongs to root:coffer with mode 0640
COFFER_FILE=/var/lib/coffer/coffer.db
COFFER_LISTEN={LISTEN_BEHIND_PROXY}
COFFER_PUBLIC_URL=https://{domain}
COFFER_TRUSTED_PROXY={LOCAL_PROXY}
# One line for each chain: an Electrum server, a node or a provider.
#COFFER_NODE_LITECOIN=electrums://HOST:PORT

# With systemd, as root:
coffer setup --print systemd >/etc/systemd/system/coffer.service
systemctl daemon-reload
systemctl enable --now coffer
coffer user setup-link

# Without systemd:
set -a; . /etc/coffer/coffer.env; set +a
coffer serve
"
    ))?;
    Err(Error::Failed(
        "nothing was changed: setup needs root and a machine that runs systemd. Run: sudo coffer setup".to_owned(),
    ))
}

/// Returns the domain of the settings, or that of an example.
fn domain(settings: Option<&InstalledSettings>) -> &str {
    let url = settings.and_then(|settings| settings.value("COFFER_PUBLIC_URL"));
    let host = url.and_then(|url| Some(SiteUrl::parse(url).ok()?.host_text()));
    host.unwrap_or(EXAMPLE_DOMAIN)
}
