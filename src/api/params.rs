//! Parameters that operations of several resources take.

use super::query::{Param, ParamKind};
use crate::domain::asset::Mode;
use crate::domain::money::Currency;

/// `mode` of the operator interface.
pub const MODE: Param = Param {
    name: "mode",
    about: "Whose data: live or test; live where it is left out.",
    kind: ParamKind::OneOf(Mode::TEXTS),
};

/// `before` of a page.
pub const BEFORE: Param = Param {
    name: "before",
    about: "The nextBefore of the previous page: only entries older than it.",
    kind: ParamKind::Text { chars_max: 80 },
};

/// `currency` of a list.
pub const CURRENCY: Param = Param {
    name: "currency",
    about: "Only in this currency.",
    kind: ParamKind::OneOf(Currency::TEXTS),
};

/// `from` of a span of time.
pub const FROM: Param = Param {
    name: "from",
    about: "Only what was made at this moment or later.",
    kind: ParamKind::Moment,
};

/// `to` of a span of time.
pub const TO: Param = Param {
    name: "to",
    about: "Only what was made before this moment.",
    kind: ParamKind::Moment,
};

/// `before` of a page whose entries are known by an id.
pub const BEFORE_ID: Param = Param {
    kind: ParamKind::Id,
    ..BEFORE
};
