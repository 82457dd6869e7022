//! Merkle proofs that a transaction is in a block.

use super::hex::{Hash256, double_sha256};

/// Largest depth of a Merkle tree: a block has fewer than 2^32 transactions.
const DEPTH_MAX: usize = 32;

/// Returns the Merkle root for a transaction at this position; `None` if the branch has an impossible length.
pub(super) fn merkle_root(id: Hash256, position: u32, branch: &[Hash256]) -> Option<Hash256> {
    let depth = u32::try_from(branch.len()).ok()?;
    let is_inside = position.checked_shr(depth).is_none_or(|above| above == 0);
    if branch.len() > DEPTH_MAX || !is_inside {
        return None;
    }
    let (mut hash, mut place) = (id, position);
    for other in branch {
        let pair = if place & 1 == 0 { [hash, *other] } else { [*other, hash] };
        hash = double_sha256(pair.as_flattened());
        place >>= 1;
    }
    Some(hash)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]
mod tests {
    use super::super::hex;
    use super::{Hash256, merkle_root};

    /// Ids of the four transactions in bitcoin block 100 000, whose Merkle root is `ROOT`.
    const IDS: [&str; 4] = [
        "8c14f0db3df150123e6f3dbbf30f8b955a8249b62ac1d1ff16284aefa3d06d87",
        "fff2525b8931402dd09222c50775608f75787bd2b87e56995a7bdd30f79702c4",
        "6359f0868171b1d194cbee1af2f16ea598ae8fad666d9b012c8ed2b79a236ec4",
        "e9a66845e05d5abc0ad04ec80f774a7e585c6e8db975962d069a522137b80c1d",
    ];
    const ROOT: &str = "f3e94742aca4b5ef85488dc37c06c3282295ffec960994b2c0d5ac2a25a95766";

    fn parse_id(text: &str) -> Hash256 {
        hex::parse_hash(text).unwrap()
    }

    #[test]
    fn merkle_proof_fits_only_its_transaction() {
        for (position, id) in IDS.iter().enumerate() {
            let place = u32::try_from(position).unwrap();
            let first = (position & 2) ^ 2;
            let pair = [parse_id(IDS[first]), parse_id(IDS[first | 1])];
            let above = hex::double_sha256(pair.as_flattened());
            let proof = [parse_id(IDS[position ^ 1]), above];
            assert_eq!(merkle_root(parse_id(id), place, &proof), Some(parse_id(ROOT)));
            // The root differs for a wrong position, for a wrong transaction, and for a branch that is shorter,
            // longer or different.
            assert_ne!(merkle_root(parse_id(id), place ^ 1, &proof), Some(parse_id(ROOT)));
            assert_ne!(
                merkle_root(parse_id(IDS[position ^ 1]), place, &proof),
                Some(parse_id(ROOT))
            );
            assert_ne!(merkle_root(parse_id(id), place & 1, &proof[..1]), Some(parse_id(ROOT)));
            assert_ne!(
                merkle_root(parse_id(id), place, &[proof[0], proof[1], above]),
                Some(parse_id(ROOT))
            );
            assert_ne!(
                merkle_root(parse_id(id), place, &[proof[1], proof[0]]),
                Some(parse_id(ROOT))
            );
            assert_eq!(merkle_root(parse_id(id), place + 4, &proof), None);
        }
        assert_eq!(merkle_root(parse_id(ROOT), 0, &[]), Some(parse_id(ROOT)));
        assert_eq!(merkle_root(parse_id(ROOT), 1, &[]), None);
        assert_eq!(merkle_root(parse_id(ROOT), 0, &[parse_id(ROOT); 33]), None);
    }
}
