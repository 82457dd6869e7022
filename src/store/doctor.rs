//! What an operator should look after in a file, as queries that find it.
//!
//! What lives here: the list of checks and reading what they find. What does not: what is wrong around the file
//! (`cli`). What always holds: a check only reads, and each thing found comes with its mend.

use super::identity::strangers;
use super::row::Columns;
use super::{Reader, StoreError, migrate};
use crate::domain::time::Time;
use rusqlite::named_params;

/// Something to look after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// What is wrong.
    pub about: String,
    /// What to do.
    pub mend: String,
}

/// What is checked, and the query whose rows are complaints: about and mend.
const CHECKS: [(&str, &str); 10] = [
    ("clock", include_str!("../../sql/doctor/clock.sql")),
    ("operators", include_str!("../../sql/doctor/people.sql")),
    ("accounts", include_str!("../../sql/doctor/accounts.sql")),
    ("keys", include_str!("../../sql/doctor/keys.sql")),
    (
        "payout addresses",
        include_str!("../../sql/doctor/payout_addresses.sql"),
    ),
    ("endpoints", include_str!("../../sql/doctor/endpoints.sql")),
    ("webhooks", include_str!("../../sql/doctor/deliveries.sql")),
    ("deadlines", include_str!("../../sql/doctor/deadlines.sql")),
    (
        "what waits for a person",
        include_str!("../../sql/doctor/unknown.sql"),
    ),
    (
        "maintenance",
        include_str!("../../sql/doctor/maintenance.sql"),
    ),
];

/// What was checked, each with what was found.
pub fn check(
    db: &Reader<'_>,
    now: Time,
) -> Result<Vec<(&'static str, Vec<Complaint>)>, StoreError> {
    let mut found = Vec::new();
    for (about, sql) in CHECKS {
        let mut complaints = Vec::new();
        let mut note = |row: &rusqlite::Row<'_>| {
            let mut next = Columns::of(row);
            complaints.push(Complaint {
                about: next.take()?,
                mend: next.take()?,
            });
            Ok(())
        };
        // Not every check looks at the time, and a parameter that is not there cannot be bound.
        if sql.contains(":now") {
            db.each(sql, named_params! { ":now": now }, &mut note)?;
        } else {
            db.each(sql, [], &mut note)?;
        }
        found.push((about, complaints));
    }
    let strangers = strangers(db.conn, migrate::NEWEST)?.into_iter();
    let complaints = strangers.map(|finding| Complaint {
        about: format!("{} is {}", finding.about, finding.is),
        mend: "find out who made it so, then go back to a backup or have it as in a new file"
            .to_owned(),
    });
    found.push(("schema", complaints.collect()));
    Ok(found)
}
