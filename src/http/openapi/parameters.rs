//! Path, query and header parameters in the OpenAPI documents.
//!
//! Invariant: lists of allowed values come from the enumerations in the code.

use crate::api::sandbox::state::SNAPSHOT_PATTERN;
use crate::domain::asset::Chain;
use crate::domain::customer::REF_PATTERN;
use crate::domain::{Asset, ExportKind};
use crate::http::request::{ID_CHARS_MAX, Param, ParamKind};
use crate::http::route::Route;
use crate::service::idempotency::KEY_CHARS_MAX;
use serde::Serialize;
use serde_json::{Value, json};

/// Pattern of the year in a time. Excludes years before 1970.
const MOMENT_PATTERN: &str = "^(19[7-9][0-9]|[2-9][0-9]{3})-";
/// Pattern of a duration, for example `1h30m`.
const SPAN_PATTERN: &str = "^([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?$";

/// A parameter of an operation, in the form of the documents.
#[derive(Serialize)]
pub(in crate::http) struct Parameter {
    pub name: &'static str,
    /// Location: `path`, `query` or `header`.
    #[serde(rename = "in")]
    pub place: &'static str,
    #[serde(rename = "required", skip_serializing_if = "std::ops::Not::not")]
    pub is_required: bool,
    #[serde(rename = "description", skip_serializing_if = "str::is_empty")]
    pub about: &'static str,
    pub schema: Value,
}

pub(in crate::http) fn parameters(route: &Route) -> Vec<Parameter> {
    let braced =
        route.path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
    let of_path = braced.map(|name| Parameter {
        name,
        place: "path",
        is_required: true,
        about: "",
        schema: path_schema(route, name),
    });
    let of_query = route.query.iter().map(|param| Parameter {
        name: param.name,
        place: "query",
        is_required: false,
        about: param.about,
        schema: param_schema(param),
    });
    let idempotency = route.is_idempotent.then(|| Parameter {
        name: "Idempotency-Key",
        place: "header",
        is_required: false,
        about: "Makes retries safe: for 24 hours, the same key, path and body return the same answer, with the header `Idempotent-Replayed: true`. Another path or body is refused.",
        schema: json!({ "type": "string", "minLength": 1, "maxLength": KEY_CHARS_MAX, "pattern": "^[ -~]+$" }),
    });
    of_path.chain(of_query).chain(idempotency).collect()
}

fn path_schema(route: &Route, name: &str) -> Value {
    let one_of = |texts: Vec<String>| json!({ "type": "string", "enum": texts });
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    match name {
        "ref" => json!({ "type": "string", "pattern": REF_PATTERN }),
        // The schema lists the chains as examples, not as an enumeration, because clients must accept chains that are
        // added later.
        "chain" => json!({ "type": "string", "examples": Chain::TEXTS }),
        "asset" => json!({ "type": "string", "examples": Asset::ids() }),
        "pool" => one_of(owned(
            &Chain::with_imported_addresses().map(Chain::address_pool).collect::<Vec<_>>(),
        )),
        "file" => one_of(ExportKind::TEXTS.iter().map(|text| format!("{text}.csv")).collect()),
        "name" if route.path.starts_with("/sandbox/snapshots/") => {
            json!({ "type": "string", "pattern": SNAPSHOT_PATTERN })
        }
        _ => json!({ "type": "string", "minLength": 1 }),
    }
}

fn param_schema(param: &Param) -> Value {
    let text = |chars_max| json!({ "type": "string", "minLength": 1, "maxLength": chars_max });
    match &param.kind {
        ParamKind::Limit { max, default } => {
            json!({ "type": "integer", "minimum": 1, "maximum": max, "default": default })
        }
        ParamKind::OneOf(texts) => json!({ "type": "string", "enum": texts }),
        ParamKind::Span => {
            json!({ "type": "string", "minLength": 2, "pattern": SPAN_PATTERN })
        }
        ParamKind::Moment => {
            json!({ "type": "string", "format": "date-time", "pattern": MOMENT_PATTERN })
        }
        ParamKind::Uuid => json!({ "type": "string", "format": "uuid" }),
        ParamKind::Any => json!({ "type": "string" }),
        ParamKind::Id => text(ID_CHARS_MAX),
        ParamKind::Text { chars_max } => text(*chars_max),
    }
}
