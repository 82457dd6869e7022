//! Keys, secrets and tokens of the sandbox. They are published, and the same in every sandbox.

/// Secret key of test mode.
pub const SECRET_TEST: &str = "sk_test_sandbox";
/// Secret key of live mode. The sandbox simulates live mode.
pub const SECRET_LIVE: &str = "sk_live_sandbox";
/// Public key of test mode.
pub const PUBLIC_TEST: &str = "pk_test_sandbox";
/// Public key of live mode.
pub const PUBLIC_LIVE: &str = "pk_live_sandbox";
/// Live mode key in the legacy format.
pub const LEGACY: &str = "sandbox.sandbox";
/// Secret of endpoints that are created without a secret.
pub const ENDPOINT_SECRET: &str = "whsec_Y29mZmVyIHNhbmRib3ggZW5kcG9pbnQh";
/// Legacy secret of the account.
pub const LEGACY_SECRET: &str = "legacy_sandbox";
/// Token of the reseller interface.
pub const RESELLER_TOKEN: &str = "rt_sandbox";

/// Returns `true` for one of the sandbox's API keys, which are the same in every sandbox.
pub fn is_sandbox_key(key: &str) -> bool {
    [SECRET_TEST, SECRET_LIVE, PUBLIC_TEST, PUBLIC_LIVE, LEGACY].contains(&key)
}

/// Returns `true` for one of the sandbox's keys, secrets or tokens, which are published and the same in every
/// sandbox.
pub fn is_public_credential(text: &str) -> bool {
    is_sandbox_key(text) || [ENDPOINT_SECRET, LEGACY_SECRET, RESELLER_TOKEN].contains(&text)
}
