//! Orders of servers: type, host name and size.
//!
//! Invariant: an order was within the limits in force when it was placed.

use crate::domain::fields::rule::choice;
use crate::domain::fields::text_rule::text;
use crate::domain::fields::{Fields, Keywords, Rule, Schema, input, schema};
use crate::domain::refusal::Refusal;
use crate::domain::text_enum::text_enum;
use serde_json::{Map, Value};
use std::net::Ipv4Addr;

const HOSTNAME_BYTES_MAX: usize = 253;
const LABEL_BYTES_MAX: usize = 63;
/// Smallest memory of a server, in MB.
pub const RAM_MB_MIN: u32 = 256;

text_enum! {
    /// Type of a server, by its virtualization.
    pub enum ServerType {
        /// A virtual machine under KVM.
        Kvm = "kvm",
    }
}

/// Largest sizes of a server that the service accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerLimits {
    /// Largest number of processors.
    pub cpu_max: u32,
    /// Largest memory, in MB.
    pub ram_mb_max: u32,
    /// Largest disk, in GB.
    pub disk_gb_max: u32,
}

impl Default for ServerLimits {
    fn default() -> ServerLimits {
        ServerLimits { cpu_max: 32, ram_mb_max: 131_072, disk_gb_max: 2_048 }
    }
}

input! {
    pub(crate) CreateServer, checked r#type, hostname, cpu, ram_mb, disk_gb; unknown refused {
        required r#type: ServerType = choice().required_or("must be given: kvm"), "kvm";
        /// Host name by RFC 1123, not an address; kept as sent.
        required hostname: String = HostnameRule, "web-1.example.com";
        /// Number of processors, at most what the operator allows.
        required cpu: () = SizeSchemaRule(schema!({ "type": "integer", "minimum": 1 })), 2;
        /// Memory in MB, at most what the operator allows.
        required ram_mb: () = SizeSchemaRule(schema!({ "type": "integer", "minimum": 256 })), 2048;
        /// Disk in GB, at most what the operator allows.
        required disk_gb: () = SizeSchemaRule(schema!({ "type": "integer", "minimum": 1 })), 40;
    }
}

struct HostnameRule;

impl Rule for HostnameRule {
    type Value = String;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<String>, Refusal> {
        let hostname = text(1..=HOSTNAME_BYTES_MAX).read(fields, name)?;
        let problem = hostname.as_deref().map_or(Ok(()), check_hostname);
        problem.map_err(|problem| Refusal::field(name, problem))?;
        Ok(hostname)
    }

    fn json_schema(&self) -> Keywords {
        let label = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
        let mut keywords = text(1..=HOSTNAME_BYTES_MAX).json_schema();
        let pattern = format!("^{label}([.]{label})*$");
        keywords.insert("pattern".to_owned(), Value::from(pattern));
        keywords
    }
}

/// Rule for a size that only describes the schema: the operation checks the size against the limits of the service.
struct SizeSchemaRule(Schema);

impl Rule for SizeSchemaRule {
    type Value = ();

    fn read(&self, _: Fields<'_>, _: &str) -> Result<Option<()>, Refusal> {
        Ok(Some(()))
    }

    fn json_schema(&self) -> Keywords {
        self.0.json_schema()
    }
}

/// An order of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerOrder {
    /// Type of the server.
    pub kind: ServerType,
    /// Host name, as written in the order.
    pub hostname: String,
    /// Number of processors.
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
    /// `invalid_request` that names the first wrong field.
    pub fn parse(body: &Map<String, Value>, limits: ServerLimits) -> Result<ServerOrder, Refusal> {
        let fields = Fields::new(body);
        let CreateServer { r#type: kind, hostname, cpu: (), ram_mb: (), disk_gb: () } =
            CreateServer::read(body)?;
        let size = |name: &str, min: u32, max: u32| {
            let size = fields.integer(name, i64::from(min)..=i64::from(max))?;
            size.ok_or_else(|| {
                let problem = format!("must be given: a whole number from {min} to {max}");
                Refusal::field(name, problem)
            })
        };
        Ok(ServerOrder {
            kind,
            hostname,
            cpu: size("cpu", 1, limits.cpu_max)?,
            ram_mb: size("ramMb", RAM_MB_MIN, limits.ram_mb_max)?,
            disk_gb: size("diskGb", 1, limits.disk_gb_max)?,
        })
    }
}

/// Checks that the text is a host name by RFC 1123, in upper or lower case.
///
/// # Errors
/// The problem of the text.
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
        let plain = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
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
