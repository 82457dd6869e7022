//! The tables `payment_links` and `payment_link_pictures`: links by which customers create invoices.

use super::PageBounds;
use super::row::enum_as_text;
use super::statement::statements;
use crate::domain::{LinkUses, Mode, PaymentLink, Picture, PictureFormat, PictureInfo, Time};

enum_as_text!(PictureFormat);

/// A stored picture, as it is sent to browsers.
pub struct StoredPicture {
    /// Format of the bytes.
    pub format: PictureFormat,
    /// Bytes of the file.
    pub bytes: Vec<u8>,
}

statements! {
    row read(
        seq, id, account, mode, name, amount, currency, description, active, expires_at, paid_uses_max, redirect_url,
        created_at, hash: Option<String>, width: Option<u32>, height: Option<u32>,
    ) -> PaymentLink {
        let picture = hash.zip(width.zip(height));
        let picture = picture.map(|(hash, (width, height))| PictureInfo { hash, width, height });
        Ok(PaymentLink {
            seq, id, account, mode, name, amount, currency, description, active, expires_at, paid_uses_max, redirect_url,
            picture, created_at,
        })
    }

    /// Returns the payment link with this id, whatever its account.
    pub fn by_id(db, id: &str) -> Option<PaymentLink> =
        select "from payment_links left join payment_link_pictures on link = seq where id = :id";

    /// Returns a page of an account's payment links, newest first.
    pub fn page(db, account: i64, mode: Mode, page: PageBounds) -> Vec<PaymentLink> =
        select "from payment_links left join payment_link_pictures on link = seq \
            where account = :account and mode = :mode and seq < :before order by seq desc limit :limit"
        with { account, mode, before: page.before, limit: page.limit };

    row read_picture(format, bytes) -> StoredPicture {
        Ok(StoredPicture { format, bytes })
    }

    /// Returns the picture of the payment link with this id, if it has this hash.
    pub fn picture(db, id: &str, hash: &str) -> Option<StoredPicture> =
        select "from payment_link_pictures join payment_links on seq = link where id = :id and hash = :hash";

    /// Returns the number of open unpaid invoices of a payment link, and the time at which the first of them expires.
    pub fn count_open_invoices(db, id: &str, now: Time) -> (open: i64, first_end: Option<Time>) =
        "select count(*) as open, min(expires_at) as first_end \
            from invoices where payment_link_id = :id and status in ('created', 'awaiting_payment') and expires_at > \
            :now";

    row read_uses(paid, unconfirmed) -> LinkUses {
        Ok(LinkUses { paid, unconfirmed })
    }

    /// Returns the uses of a payment link. Counts at most `most` paid uses and `most` unconfirmed ones.
    ///
    /// The uses are counted from the statuses of the invoices, so a payment that is undone takes its use back.
    pub fn count_uses(db, id: &str, most: Option<i64>) -> only LinkUses =
        file "sql/payment_links/uses.sql" with { id, most: most.unwrap_or(i64::MAX) };

    /// Returns the ids of the paid invoices of a payment link, the one that was paid last first.
    pub fn list_paid_invoices(db, id: &str, limit: u32) -> Vec<(id: String)> =
        "select id from invoices where payment_link_id = :id and confirmed_at is not null \
            order by confirmed_at desc, seq desc limit :limit";

    /// Returns the number of pictures of all payment links of an account.
    pub fn count_pictures(db, account: i64) -> (pictures: i64) =
        "select count(*) as pictures from payment_link_pictures join payment_links on seq = link \
            where account = :account";

    /// Inserts a payment link and returns its `seq`.
    pub fn insert(tx, link: &PaymentLink) -> i64 = insert into payment_links {
        id: link.id, account: link.account, mode: link.mode, name: link.name, amount: link.amount,
        currency: link.currency, description: link.description, active: link.active, expires_at: link.expires_at,
        paid_uses_max: link.paid_uses_max, redirect_url: link.redirect_url, created_at: link.created_at,
    } noting { tx.record_change(|changes| changes.payment_links = true); };

    /// Saves the fields of a payment link that can change.
    pub fn update(tx, link: &PaymentLink) =
        "update payment_links set name = :name, amount = :amount, description = :description, active = :active, \
            expires_at = :expires_at, paid_uses_max = :paid_uses_max, redirect_url = :redirect_url where seq = :seq"
        with {
            seq: link.seq, name: link.name, amount: link.amount, description: link.description, active: link.active,
            expires_at: link.expires_at, paid_uses_max: link.paid_uses_max, redirect_url: link.redirect_url,
        }
        noting { tx.record_change(|changes| changes.payment_links = true); };

    /// Stores the picture of a payment link. An earlier picture is replaced.
    pub fn put_picture(tx, link: i64, info: &PictureInfo, picture: &Picture) =
        "insert or replace into payment_link_pictures (link, hash, format, width, height, bytes) \
            values (:link, :hash, :format, :width, :height, :bytes)"
        with {
            link, hash: info.hash, format: picture.format, width: info.width, height: info.height, bytes: picture.bytes,
        };

    /// Deletes the picture of a payment link. Returns `true` if it had one.
    pub fn delete_picture(tx, link: i64) -> bool = "delete from payment_link_pictures where link = :link";
}
