//! What can be ordered: a server's kind, name and size.
//!
//! What lives here: the checks of an order. What does not: its state. What always holds: an order was within the
//! limits of the time at which it was made.

use crate::domain::fields::Fields;
use crate::domain::refusal::Refusal;
use crate::domain::text_enum::text_enum;
use serde_json::{Map, Value};
use std::net::Ipv4Addr;

/// The longest host name.
const HOSTNAME_BYTES_MAX: usize = 253;
/// The longest part of one between two dots.
const LABEL_BYTES_MAX: usize = 63;
/// The smallest memory of a server, in MB.
pub const RAM_MB_MIN: u32 = 256;

text_enum! {
    /// What is ordered.
    pub enum ServerType {
        /// A virtual machine.
        Kvm = "kvm",
    }
}

/// How large an ordered server may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerLimits {
    /// Most processors.
    pub cpu_max: u32,
    /// Most memory, in MB.
    pub ram_mb_max: u32,
    /// Largest disk, in GB.
    pub disk_gb_max: u32,
}

impl Default for ServerLimits {
    fn default() -> ServerLimits {
        ServerLimits {
            cpu_max: 32,
            ram_mb_max: 131_072,
            disk_gb_max: 2_048,
        }
    }
}

/// What is ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerOrder {
    /// What kind.
    pub kind: ServerType,
    /// Its name, as it was sent.
    pub hostname: String,
    /// Processors.
    pub cpu: i64,
    /// Memory, in MB.
    pub ram_mb: i64,
    /// Disk, in GB.
    pub disk_gb: i64,
}

impl ServerOrder {
    /// Reads and checks an order.
    ///
    /// # Errors
    /// `invalid_request` that names the first field that is wrong.
    pub fn parse(body: &Map<String, Value>, limits: ServerLimits) -> Result<ServerOrder, Refusal> {
        let fields = Fields::of(body);
        fields.only(&["type", "hostname", "cpu", "ramMb", "diskGb"])?;
        let kind = fields
            .choice("type")?
            .ok_or_else(|| Refusal::field("type", "must be given: kvm"))?;
        let hostname = fields
            .text("hostname", 1..=HOSTNAME_BYTES_MAX)?
            .ok_or_else(|| Refusal::field("hostname", "must be given"))?;
        check_hostname(hostname).map_err(|problem| Refusal::field("hostname", problem))?;
        let size = |name: &str, min: u32, max: u32| {
            let size = fields.integer(name, i64::from(min)..=i64::from(max))?;
            size.ok_or_else(|| {
                let problem = format!("must be given: a whole number from {min} to {max}");
                Refusal::field(name, problem)
            })
        };
        Ok(ServerOrder {
            kind,
            hostname: hostname.to_owned(),
            cpu: size("cpu", 1, limits.cpu_max)?,
            ram_mb: size("ramMb", RAM_MB_MIN, limits.ram_mb_max)?,
            disk_gb: size("diskGb", 1, limits.disk_gb_max)?,
        })
    }
}

/// Is this a host name by RFC 1123? Upper and lower case are both fine and kept.
///
/// # Errors
/// A text that says what is wrong.
pub fn check_hostname(text: &str) -> Result<(), &'static str> {
    if text.is_empty() || text.len() > HOSTNAME_BYTES_MAX {
        return Err("must have 1 to 253 characters");
    }
    if text.parse::<Ipv4Addr>().is_ok() {
        return Err("must be a name, not an address");
    }
    for label in text.split('.') {
        if label.is_empty() || label.len() > LABEL_BYTES_MAX {
            return Err("must have 1 to 63 characters between its dots");
        }
        let plain = label
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if !plain {
            return Err("must be letters, digits and hyphens, with dots between its parts");
        }
        if label.starts_with('-') || label.ends_with('-') {
            return Err("must not have a hyphen at either end of a part");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
