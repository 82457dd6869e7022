//! JSON of users and sessions, for the operator interface.

use super::Rendered;
use crate::domain::fields::view::OmittedIfNone;
use crate::domain::fields::{Component, Schema, schema, view};
use crate::domain::qr::Qr;
use crate::domain::{Role, Time, User};
use serde_json::value::to_raw_value;

view! {
    /// A user of the operator interface.
    pub(crate) UserView<'a> as "User" {
        object: &'static str [schema!({ "type": "string", "const": "user" })] = "user";
        id: &'a str [Schema::UUID] = "0199a0c4-5f3e-7c11-8a52-3d1d2f6b7a90";
        email: &'a str = "operator@sandbox.test";
        role: Role = "operator";
        /// Account of a merchant's user; null for operators.
        account: Option<&'a str> [Schema::Nullable(&Schema::UUID)] = null;
        created_at: Time = "2026-11-21T09:30:00.000Z";
        /// Time since which the user is disabled.
        disabled_at: Option<Time> = null;
        /// Time since which the second factor is on.
        second_factor_at: Option<Time> = null;
    }
}

pub(crate) const USER_LIST: Component =
    Component::List { name: "UserList", item: &UserView::COMPONENT, about: "", about_data: "" };

view! {
    /// The session of a user.
    pub(crate) SessionView<'a> as "Session" {
        object: &'static str [schema!({ "type": "string", "const": "session" })] = "session";
        user: SessionUserView<'a> = {
            "id": "0199a0c4-5f3e-7c11-8a52-3d1d2f6b7a90", "email": "operator@sandbox.test", "role": "operator",
            "account": null
        };
        second_factor: SecondFactorView = { "enabled": true, "recoveryCodesLeft": 10 };
        /// Expiry of the session; only in the answer to signing in.
        expires_at: OmittedIfNone<Time> = "2026-11-21T21:30:00.000Z";
    }
}

view! {
    pub(crate) SessionUserView<'a> {
        id: &'a str [Schema::UUID];
        email: &'a str;
        /// Role: an operator may do everything, a merchant what concerns its own account.
        role: Role;
        /// Account of a merchant's user; null for operators.
        account: Option<&'a str> [Schema::Nullable(&Schema::UUID)];
    }
}

view! {
    pub(crate) SecondFactorView {
        /// Whether the second factor is on.
        enabled: bool;
        /// Number of unused recovery codes.
        recovery_codes_left: i64 [schema!({ "type": "integer", "minimum": 0, "maximum": 10 })];
    }
}

view! {
    /// Setup data for an authenticator app (TOTP of RFC 6238: SHA-1, six digits, 30 seconds).
    pub(crate) NewSecondFactorView<'a> as "NewSecondFactor" {
        object: &'static str [schema!({ "type": "string", "const": "second_factor" })] = "second_factor";
        /// Secret in base32, for typing.
        secret: &'a str = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
        /// Secret as a link, for opening or for a QR code.
        uri: &'a str [Schema::URL] = "otpauth://totp/Coffer:anna%40shop.example?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Coffer&algorithm=SHA1&digits=6&period=30";
        /// QR code of the link; null if the link is too long for one.
        qr: Option<Qr> = { "size": 53, "path": "M4 4h7v1h-7z" };
    }
}

view! {
    /// Recovery codes, each valid once in place of a code of the app.
    pub(crate) RecoveryCodesView<'a> as "RecoveryCodes" {
        object: &'static str [schema!({ "type": "string", "const": "recovery_codes" })] = "recovery_codes";
        codes: &'a [String] [schema!({
            "type": "array", "minItems": 10, "maxItems": 10,
            "items": { "type": "string", "pattern": "^[a-z2-7]{4}(-[a-z2-7]{4}){3}$" }
        })] = [
            "abcd-efgh-2345-mnop", "qrst-uvwx-yz67-abcd", "bcde-fghi-2345-nopq", "rstu-vwxy-z672-bcde",
            "cdef-ghij-2345-opqr", "stuv-wxyz-6723-cdef", "defg-hijk-2345-pqrs", "tuvw-xyza-7234-defg",
            "efgh-ijkl-2345-qrst", "uvwx-yzab-2345-efgh"
        ];
    }
}

/// Returns the JSON of a user. `account` is the id of the merchant's account; `None` for operators.
pub(crate) fn user(user: &User, account: Option<&str>) -> Rendered {
    to_raw_value(&UserView {
        object: "user",
        id: &user.id,
        email: &user.email,
        role: user.role,
        account,
        created_at: user.created_at,
        disabled_at: user.disabled_at,
        second_factor_at: user.second_factor_at,
    })
}

/// Returns the JSON of a session. The JSON includes the id of the merchant's account if the user is a merchant, and
/// the end of the session if the session is new.
pub(crate) fn session(
    user: &User,
    account: Option<&str>,
    recovery_codes_left: i64,
    expires_at: Option<Time>,
) -> Rendered {
    to_raw_value(&SessionView {
        object: "session",
        user: SessionUserView { id: &user.id, email: &user.email, role: user.role, account },
        second_factor: SecondFactorView {
            enabled: user.second_factor_at.is_some(),
            recovery_codes_left,
        },
        expires_at: OmittedIfNone(expires_at),
    })
}
