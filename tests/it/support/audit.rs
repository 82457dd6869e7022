//! Assertions on the audit of a file.

use super::Shop;
use super::installation::Installation;
use crate::file::audit::findings;
use std::path::Path;

/// Asserts that `coffer audit` finds nothing in a file.
#[track_caller]
pub fn assert_audit_clean(file: &Path) {
    assert_eq!(findings(file), Vec::<String>::new());
}

impl Shop {
    /// Asserts that `coffer audit` finds nothing in the database.
    #[track_caller]
    pub fn assert_audit_clean(&self) {
        assert_audit_clean(self.file());
    }
}

impl Installation {
    /// Asserts that `coffer audit` finds nothing in the database.
    #[track_caller]
    pub fn assert_audit_clean(&self) {
        assert_audit_clean(&self.file);
    }
}
