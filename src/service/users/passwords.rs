//! Hashes passwords with argon2id, and verifies them in a time that does not reveal whether the user exists.

use crate::service::{Error, random_bytes};
use argon2::password_hash::{self, Output, PasswordHash, Salt, SaltString};
use argon2::{Algorithm, Argon2, Block, Params, Version};

/// Hash for the verification of an unknown user. No password has this hash, and its verification costs as much as any
/// other.
const UNKNOWN_USER_HASH: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5J3Mgc2FsdA$fR8Or2zthJ+vwFoO5wh5JNgQGe7PQEmcU4f5gGPPONg";

/// Largest memory that a stored hash may require, in KiB. Otherwise a crafted hash could use up all memory.
const MEMORY_KIB_MAX: u32 = 64 * 1024;
/// Largest number of passes, and of lanes, that a stored hash may require.
const PASSES_MAX: u32 = 16;

/// Password hasher that reuses its memory, some 19 MB after the first hash. Hashes one password at a time.
#[derive(Default)]
pub struct Hasher {
    memory: Vec<Block>,
}

impl Hasher {
    /// Returns `true` if the hasher holds memory.
    #[cfg(test)]
    pub fn has_memory(&self) -> bool {
        self.memory.capacity() > 0
    }

    /// Returns the hash of a password as a PHC string, made by argon2id with the minimum parameters that OWASP
    /// recommends.
    ///
    /// Takes some 20 ms.
    pub fn hash(&mut self, password: &str) -> Result<String, Error> {
        let failed = |error| Error::Failed(format!("the password was not hashed: {error}"));
        let salt = SaltString::encode_b64(&random_bytes::<16>()?).map_err(failed)?;
        let params = Params::default();
        let hash = PasswordHash {
            algorithm: Algorithm::Argon2id.ident(),
            version: Some(Version::V0x13.into()),
            params: (&params).try_into().map_err(failed)?,
            salt: Some(salt.as_salt()),
            hash: Some(self.argon2_output(password, salt.as_salt(), params).map_err(failed)?),
        };
        Ok(hash.to_string())
    }

    /// Returns `true` if the password has this hash. Without a hash, returns `false` after the same time.
    pub fn matches_hash(&mut self, password: &str, hash: Option<&str>) -> bool {
        let computed =
            PasswordHash::new(hash.unwrap_or(UNKNOWN_USER_HASH)).ok().and_then(|stored| {
                let is_ours = stored.algorithm == Algorithm::Argon2id.ident()
                    && stored.version == Some(Version::V0x13.into());
                let params = Params::try_from(&stored).ok().filter(|params| {
                    is_ours
                        && params.m_cost() <= MEMORY_KIB_MAX
                        && params.t_cost() <= PASSES_MAX
                        && params.p_cost() <= PASSES_MAX
                });
                let computed = self.argon2_output(password, stored.salt?, params?).ok()?;
                // `==` of `Output` takes the same time for equal and different values.
                Some(computed == stored.hash?)
            });
        computed == Some(true) && hash.is_some()
    }

    fn argon2_output(
        &mut self,
        password: &str,
        salt: Salt<'_>,
        params: Params,
    ) -> Result<Output, password_hash::Error> {
        let mut bytes = [0; Salt::MAX_LENGTH];
        let salt = salt.decode_b64(&mut bytes)?;
        let blocks = params.block_count();
        if self.memory.len() < blocks {
            self.memory.resize(blocks, Block::default());
        }
        let length = params.output_len().unwrap_or(Params::DEFAULT_OUTPUT_LEN);
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        Output::init_with(length, |out| {
            let memory = self.memory.as_mut_slice();
            argon2
                .hash_password_into_with_memory(password.as_bytes(), salt, out, memory)
                .map_err(password_hash::Error::from)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Hasher, PasswordHash, UNKNOWN_USER_HASH};
    use argon2::Argon2;
    use argon2::password_hash::PasswordVerifier;

    #[test]
    fn only_the_right_password_matches_its_salted_hash() {
        let mut hasher = Hasher::default();
        let made = hasher.hash("correct horse").unwrap_or_default();
        assert!(made.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{made}");
        assert!(hasher.matches_hash("correct horse", Some(&made)));
        assert!(!hasher.matches_hash("correct horsf", Some(&made)));
        assert_ne!(hasher.hash("correct horse").unwrap_or_default(), made, "salted");
        let by_the_crate = PasswordHash::new(&made)
            .and_then(|made| Argon2::default().verify_password(b"correct horse", &made));
        assert_eq!(by_the_crate, Ok(()));
    }

    #[test]
    fn unknown_user_costs_a_full_hash_and_never_matches() {
        let mut hasher = Hasher::default();
        assert!(PasswordHash::new(UNKNOWN_USER_HASH).is_ok(), "it is computed, not refused");
        assert!(!hasher.matches_hash("", None) && !hasher.matches_hash("nobody", None));
        assert_eq!(hasher.memory.len(), 19_456, "as costly as any");
    }

    #[test]
    fn hash_with_huge_costs_is_not_computed() {
        let mut hasher = Hasher::default();
        for costs in ["m=4194304,t=2,p=1", "m=19456,t=4294967295,p=1"] {
            let crafted = UNKNOWN_USER_HASH.replace("m=19456,t=2,p=1", costs);
            assert!(!hasher.matches_hash("nobody", Some(&crafted)), "{costs}");
        }
        assert_eq!(hasher.memory.len(), 0);
    }
}
