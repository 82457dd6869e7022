//! The signer checks of `coffer doctor`: the limits of accounts, and transfers that wait although no signer is
//! configured.

use super::checks::Check;
use crate::chain::setting::FollowedNodeUrls;
use crate::domain::{Account, Cents, Mode, Time};
use crate::service::Error;
use crate::service::transfers::list_transfers_to_review;
use crate::store::doctor::FileProblem;
use crate::store::{Reader, accounts, transfers};

pub(super) fn check_signer_limits(db: &Reader<'_>) -> Result<Check, Error> {
    let limits = signer_limit_lines(&accounts::all(db)?);
    let about = if limits.is_empty() {
        "signer limit: there is no account".to_owned()
    } else {
        format!("signer limit, in any 24 hours and in each currency: {}", limits.join("; "))
    };
    Ok((about, Vec::new()))
}

/// Returns one line of text for each distinct limit, with the accounts that have this limit.
fn signer_limit_lines(accounts: &[Account]) -> Vec<String> {
    let mut of_limit: Vec<(Option<Cents>, Vec<&str>)> = Vec::new();
    for account in accounts {
        let limit = account.signer_max;
        match of_limit.iter_mut().find(|(other, _)| *other == limit) {
            Some((_, names)) => names.push(&account.name),
            None => of_limit.push((limit, vec![&account.name])),
        }
    }
    let said = of_limit.into_iter().map(|(limit, names)| {
        let limit = limit.map_or("none".to_owned(), |limit| limit.to_string());
        match names.as_slice() {
            [name] => format!("{limit} for {name}"),
            names => format!("{limit} for {} accounts", names.len()),
        }
    });
    said.collect()
}

/// Checks for approved transfers that wait although no signer is configured.
pub(super) fn check_transfers_without_signer(
    db: &Reader<'_>,
    has_signer: bool,
) -> Result<Check, Error> {
    let waiting = match has_signer {
        true => 0,
        false => transfers::count_waiting_for_signer(db)?,
    };
    let complaint = (waiting > 0).then(|| FileProblem {
        about: format!("{waiting} approved payouts and refunds are for a signer, and none is set"),
        mend: "start `coffer serve` with --signer, or reassign each to be sent by hand in the operator interface"
            .to_owned(),
    });
    Ok(("signer".to_owned(), complaint.into_iter().collect()))
}

/// Checks for payouts and refunds that a person must review.
pub(super) fn check_transfers_in_review(
    db: &Reader<'_>,
    now: Time,
    nodes: &FollowedNodeUrls,
) -> Result<Check, Error> {
    let has_node = |chain| nodes.of_chains.iter().any(|node| node.chain == chain);
    let found = list_transfers_to_review(db, now, Mode::Live, |chain| (true, has_node(chain)))?;
    let complaints = found.into_iter().map(|(transfer, problem)| FileProblem {
        about: format!("{} {}: {problem}", transfer.kind, transfer.id),
        mend: "open it in the operator interface and decide".to_owned(),
    });
    Ok(("payouts and refunds".to_owned(), complaints.collect()))
}

#[cfg(test)]
mod tests {
    use super::{Account, Cents, signer_limit_lines};
    use crate::domain::Time;

    #[test]
    fn accounts_with_the_same_limit_are_counted() {
        let account = |name: &str, limit| Account {
            signer_max: limit,
            ..Account::new(String::new(), name.to_owned(), String::new(), Time(0))
        };
        let said = signer_limit_lines(&[
            account("a", Some(Cents(100_000))),
            account("b", None),
            account("c", Some(Cents(100_000))),
        ]);
        assert_eq!(said, ["1000.00 for 2 accounts", "none for b"]);
        assert!(signer_limit_lines(&[]).is_empty());
    }
}
