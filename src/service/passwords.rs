//! Passwords: hashed with argon2id, checked in a time that does not tell whether there is such a user.

use super::{Error, random};
use argon2::Argon2;
use argon2::password_hash::{PasswordHash, PasswordHasher, PasswordVerifier, SaltString};

/// What a password is checked against where there is no such user: a hash of nobody's password, as costly as any.
const NOBODYS: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5J3Mgc2FsdA$fR8Or2zthJ+vwFoO5wh5JNgQGe7PQEmcU4f5gGPPONg";

/// The hash of a password, as a PHC string: argon2id with the parameters that OWASP asks for at least.
///
/// Takes some 20 ms and 19 MB.
///
/// # Errors
/// [`Error::Failed`] where there is no randomness.
pub fn hash(password: &str) -> Result<String, Error> {
    let failed = |error| Error::Failed(format!("the password was not hashed: {error}"));
    let salt = SaltString::encode_b64(&random::<16>()?).map_err(failed)?;
    let hash = Argon2::default().hash_password(password.as_bytes(), &salt);
    hash.map(|hash| hash.to_string()).map_err(failed)
}

/// Is this the password behind the hash? Without a hash it never is, after the same time.
pub fn is_right(password: &str, hash: Option<&str>) -> bool {
    let verified = PasswordHash::new(hash.unwrap_or(NOBODYS))
        .and_then(|parsed| Argon2::default().verify_password(password.as_bytes(), &parsed));
    verified.is_ok() && hash.is_some()
}

#[cfg(test)]
mod tests {
    use super::{NOBODYS, PasswordHash, hash, is_right};

    #[test]
    fn a_password_is_told_from_others() {
        let made = hash("correct horse").unwrap_or_default();
        assert!(
            made.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"),
            "{made}"
        );
        assert!(is_right("correct horse", Some(&made)));
        assert!(!is_right("correct horsf", Some(&made)));
        assert_ne!(hash("correct horse").unwrap_or_default(), made, "salted");
    }

    #[test]
    fn nobody_signs_in() {
        assert!(
            PasswordHash::new(NOBODYS).is_ok(),
            "it is computed, not refused"
        );
        assert!(!is_right("", None) && !is_right("nobody", None));
    }
}
