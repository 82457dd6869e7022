//! Pages of lists, and the cursor `before` of the next page.

use super::{Error, Json};
use crate::domain::{Refusal, RefusalCode};

/// A page of a list, with the start of the next page.
pub struct Page {
    /// The entries in the order of the list, usually newest first.
    pub data: Vec<Json>,
    /// Id of the oldest entry in the page. `None` if there are no older entries.
    pub next_before: Option<String>,
}

impl Page {
    /// Returns a page of at most `limit` entries. `entries` has the id and the JSON of each entry, newest first. An
    /// entry beyond `limit` means that older entries exist.
    pub(super) fn from_entries(
        entries: impl Iterator<Item = Result<(String, Json), Error>>,
        limit: u32,
    ) -> Result<Page, Error> {
        let mut entries: Vec<_> = entries.collect::<Result<_, Error>>()?;
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let has_more = entries.len() > limit;
        entries.truncate(limit);
        let last = entries.last().filter(|_| has_more);
        Ok(Page {
            next_before: last.map(|(id, _)| id.clone()),
            data: entries.into_iter().map(|(_, json)| json).collect(),
        })
    }
}

/// Returns the object with the id `before`. `find` searches the objects that the caller may list.
///
/// # Errors
///
/// `invalid_request` if there is no such object. Errors of `find` are unchanged.
pub(super) fn find_page_start<T, E: Into<Error>>(
    before: Option<&str>,
    find: impl FnOnce(&str) -> Result<Option<T>, E>,
) -> Result<Option<T>, Error> {
    let found = |id| find(id).map_err(Into::into)?.ok_or_else(unknown_cursor_error);
    before.map(found).transpose()
}

/// Returns the refusal for a `before` that is not the id of an object of the caller.
pub(super) fn unknown_cursor_error() -> Error {
    Refusal::field("before", "must be the nextBefore of an earlier page").into()
}

/// Returns `None` instead of the refusal `not_found`. Other errors are unchanged.
pub(super) fn none_if_not_found<T>(found: Result<T, Error>) -> Result<Option<T>, Error> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(Error::Refused(refusal)) if refusal.code == RefusalCode::NotFound => Ok(None),
        Err(other) => Err(other),
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, find_page_start, none_if_not_found};
    use crate::domain::{Refusal, RefusalCode};

    #[test]
    fn only_missing_page_start_becomes_invalid_request() {
        let refused = |error: Error| {
            let mut error = Some(error);
            let mut find = |_: &str| none_if_not_found(error.take().map_or(Ok(()), Err));
            match find_page_start(Some("id"), &mut find) {
                Err(Error::Refused(refusal)) => {
                    format!("{} {:?}", refusal.code.as_str(), refusal.param)
                }
                Err(Error::Failed(cause)) => cause,
                Ok(found) => format!("{found:?}"),
            }
        };
        assert_eq!(
            refused(Refusal::not_found("refund").into()),
            "invalid_request Some(\"before\")"
        );
        assert_eq!(refused(Error::Failed("disk".to_owned())), "disk");
        let other = Refusal::new(RefusalCode::Forbidden, "no");
        assert_eq!(refused(other.into()), "forbidden None");
        let found = find_page_start(Some("id"), |_| Ok::<_, Error>(Some(7)));
        assert!(matches!(found, Ok(Some(7))));
        let absent = find_page_start(None, |_| Ok::<_, Error>(Some(7)));
        assert!(matches!(absent, Ok(None)));
    }
}
