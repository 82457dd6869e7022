//! The people who sign in: operators, and merchants' users.
//!
//! What lives here: roles and what may be a password. What does not: hashing, sessions. What always holds: a
//! merchant's user has exactly one account, an operator has none and sees all.

pub mod inputs;

use super::refusal::Refusal;
use super::text_enum::text_enum;
use super::time::{HOUR_MS, MINUTE_MS, Time};

/// How long a session lasts, whatever is done in it.
pub const SESSION_MS: i64 = 12 * HOUR_MS;
/// How long after the password was given what is sensitive may be done, by real time.
pub const PASSWORD_MS_MAX: i64 = 15 * MINUTE_MS;
/// The longest email address.
pub const EMAIL_CHARS_MAX: usize = 200;
/// The shortest password that is taken.
pub const PASSWORD_CHARS_MIN: usize = 10;
/// The longest: hashing it costs its length.
pub const PASSWORD_CHARS_MAX: usize = 200;

text_enum! {
    /// What a user may do.
    pub enum Role {
        /// Everything, on every account.
        Operator = "operator",
        /// What concerns its own account.
        Merchant = "merchant",
    }
}

/// Somebody who can sign in.
#[derive(Clone, Debug)]
pub struct User {
    /// Order of insertion.
    pub seq: i64,
    /// The name outside the file.
    pub id: String,
    /// What they sign in with.
    pub email: String,
    /// What they may do.
    pub role: Role,
    /// The account of a merchant's user.
    pub account: Option<i64>,
    /// When they were made.
    pub created_at: Time,
    /// Since when they may not sign in.
    pub disabled_at: Option<Time>,
    /// Since when a second factor is asked for besides the password.
    pub second_factor_at: Option<Time>,
}

/// Is this text fit to be a password? The sandbox's own is exempt: it is public anyway.
///
/// # Errors
/// `invalid_request` that says how long one must be.
pub fn check_password(text: &str) -> Result<(), Refusal> {
    if (PASSWORD_CHARS_MIN..=PASSWORD_CHARS_MAX).contains(&text.chars().count()) {
        Ok(())
    } else {
        Err(Refusal::field(
            "password",
            format!("must have {PASSWORD_CHARS_MIN} to {PASSWORD_CHARS_MAX} characters"),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::check_password;

    #[test]
    fn a_password_is_neither_short_nor_endless() {
        for (text, fits) in [
            ("", false),
            ("ninechars", false),
            ("ten chars!", true),
            ("ÄÖÜäöüßßßß", true),
        ] {
            assert_eq!(check_password(text).is_ok(), fits, "{text}");
        }
        assert!(check_password(&"x".repeat(200)).is_ok());
        assert!(check_password(&"x".repeat(201)).is_err());
    }
}
