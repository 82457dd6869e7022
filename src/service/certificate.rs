//! State of the server's certificate, for Home, metrics and the summary.

use crate::domain::{CertificateStatus, Time};
use std::sync::{Mutex, PoisonError};

/// State of the certificate, which its worker updates.
#[derive(Debug, Default)]
pub struct CertificateWatch(Mutex<CertificateStatus>);

/// Figures of the certificate for metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CertificateFigures {
    /// End of the validity in Unix seconds, 0 without a certificate.
    pub not_after_s: i64,
    /// `true` if the operator is warned.
    pub is_warned: bool,
}

impl CertificateWatch {
    /// Replaces the state.
    pub fn set(&self, status: CertificateStatus) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = status;
    }

    pub(crate) fn warning(&self, now: Time) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).warning(now)
    }

    pub(crate) fn figures(&self, now: Time) -> CertificateFigures {
        let status = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let not_after = status.validity.map_or(Time(0), |validity| validity.not_after);
        CertificateFigures {
            not_after_s: not_after.unix_seconds(),
            is_warned: status.warning(now).is_some(),
        }
    }
}
