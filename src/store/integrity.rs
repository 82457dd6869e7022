//! Checks the pages and the references of a file, and defines the findings of all checks.

use super::statement::statements;

/// A violation of a rule of the audit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditFinding {
    /// Number of the rule in `src/web/guides/backup.md`.
    pub rule: u8,
    /// Name and id of the object.
    pub about: String,
    /// Actual value.
    pub is: String,
    /// Expected value.
    pub should: String,
}

impl std::fmt::Display for AuditFinding {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let AuditFinding { rule, about, is, should } = self;
        write!(out, "rule {rule}: {about} is {is}; should be {should}")
    }
}

/// A row of a check: object, actual and expected value.
pub(super) type Violation = (String, String, String);

statements! {
    pub(super) row read_violation(about, found, should) -> Violation {
        Ok((about, found, should))
    }

    /// Rule 6: pages, rows and indexes are intact.
    pub(super) fn integrity() -> Query<Violation> =
        "select 'the file' as about, c.integrity_check as found, 'whole' as should \
            from pragma_integrity_check c where c.integrity_check <> 'ok'";

    /// Rule 5: every foreign key refers to an existing row.
    pub(super) fn foreign_keys() -> Query<Violation> =
        "select format('row %s of %s', ifnull(k.rowid, 'without a number'), k.\"table\") as about, \
            'a reference to a row that is not there' as found, format('a row of %s', k.parent) as should \
            from pragma_foreign_key_check k";
}
