//! Query parameters that operations of several resources share.

use super::query::{Param, ParamKind};
use crate::domain::{Currency, Mode};

/// Query parameter `mode` of the operator interface.
pub const MODE: Param = Param {
    name: "mode",
    about: "Mode of the data: live or test; default live.",
    kind: ParamKind::OneOf(Mode::TEXTS),
};

/// Query parameter `before` of a page: the `nextBefore` of the previous page.
pub const BEFORE: Param = Param {
    name: "before",
    about: "Only older items: nextBefore of the previous page.",
    kind: ParamKind::Text { chars_max: 80 },
};

pub const CURRENCY: Param = Param {
    name: "currency",
    about: "Only items in this currency.",
    kind: ParamKind::OneOf(Currency::TEXTS),
};

/// Query parameter `from`: the start of a period.
pub const FROM: Param = Param {
    name: "from",
    about: "Only items created at this time or later.",
    kind: ParamKind::Moment,
};

/// Query parameter `to`: the end of a period.
pub const TO: Param =
    Param { name: "to", about: "Only items created before this time.", kind: ParamKind::Moment };

/// Query parameter `before` of a list whose positions are ids of entries.
pub const BEFORE_ID: Param = Param { kind: ParamKind::Id, ..BEFORE };
