//! Request bodies for users and sessions.

use super::{EMAIL_CHARS_MAX, PASSWORD_CHARS_MAX, Role};
use crate::domain::fields::rule::{DescribedRule, FlagRule, choice, described};
use crate::domain::fields::text_rule::{EmailRule, TextRule, email, name, text};
use crate::domain::fields::{Fields, Keywords, Rule, Schema, input, schema};
use crate::domain::refusal::Refusal;
use crate::domain::second_factor::{CODE_CHARS_MAX, EnteredCode};

input! {
    pub(crate) SetUp, checked token, email, password, shop; unknown refused {
        required token: String = PASSWORD, "5f0ec0ffeec0ffeec0ffeec0ffee";
        required email: String = EMAIL, "anna@shop.example";
        required password: String = NEW_PASSWORD, "correct horse battery";
        /// Name of the first account, which is created active. Without it, no account is created.
        optional shop: String = name(1..=200), "Corner Shop";
    }
}

input! {
    pub(crate) SignIn, checked email, password, code; unknown refused {
        required email: String = text(1..=EMAIL_CHARS_MAX), "operator@sandbox.test";
        required password: String = text(0..=1000), "sandbox";
        /// With the second factor on: the six digits of the authenticator app, or a recovery code. Each works once.
        optional code: EnteredCode = CodeRule { chars_min: 0 };
    }
}

input! {
    pub(crate) ConfirmPassword, checked password, code; unknown refused {
        /// Present password.
        required password: String = PASSWORD, "sandbox";
        /// With the second factor on: the six digits of the authenticator app, or a recovery code. Each works once.
        optional code: EnteredCode = CodeRule { chars_min: 0 };
    }
}

input! {
    pub(crate) ChangePassword, checked password, new_password, code; unknown refused {
        /// Present password.
        required password: String = PASSWORD, "correct horse battery";
        required new_password: String = NEW_PASSWORD, "staple correct horse";
        /// With the second factor on: the six digits of the authenticator app, or a recovery code. Each works once.
        optional code: EnteredCode = CodeRule { chars_min: 0 };
    }
}

input! {
    pub(crate) SecondFactorCode, checked code; unknown refused {
        /// The six digits of the authenticator app; for turning it off, also a recovery code.
        expected code: EnteredCode = CodeRule { chars_min: 1 }, "287082";
    }
}

input! {
    pub(crate) CreateUser, checked role, email, password, account; unknown refused {
        required email: String = EMAIL, "ben@shop.example";
        required password: String = NEW_PASSWORD, "correct horse battery";
        expected role: Role = choice(), "operator";
        /// Account of a merchant's user; only with role merchant.
        optional account: String = described(text(1..=36), Schema::UUID);
    }
}

input! {
    pub(crate) ChangeUser, checked disabled, password; unknown refused {
        optional disabled: bool = FlagRule, false;
        optional password: String = NEW_PASSWORD;
    }
}

const PASSWORD: TextRule = text(1..=PASSWORD_CHARS_MAX);
/// Rule for a new password. The operation checks the minimum length before hashing.
const NEW_PASSWORD: DescribedRule<TextRule> =
    described(PASSWORD, schema!({ "type": "string", "minLength": 10, "maxLength": 200 }));
const EMAIL: DescribedRule<EmailRule> = described(
    email(EMAIL_CHARS_MAX),
    schema!({ "type": "string", "format": "email", "maxLength": 200 }),
);

struct CodeRule {
    /// Length of the shortest valid code in characters, for the API description.
    chars_min: usize,
}

impl Rule for CodeRule {
    type Value = EnteredCode;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<EnteredCode>, Refusal> {
        let text = fields.text(name, 1..=CODE_CHARS_MAX)?;
        text.map(EnteredCode::read).transpose()
    }

    fn json_schema(&self) -> Keywords {
        text(self.chars_min..=CODE_CHARS_MAX).json_schema()
    }
}
