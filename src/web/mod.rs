//! What a browser gets: pages, their style, the widget; real files, built into the binary.
//!
//! What lives here: the files beside this one, and the table of those that are sent as they are. What does not:
//! where the pages' contents come from (`http`). What always holds: only the files here have markup.

pub mod templates;

/// A file that is sent as it is.
pub struct File {
    /// What it is called among the operations.
    pub operation: &'static str,
    /// Where it is.
    pub path: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// What it is.
    pub content_type: &'static str,
    /// A number that another version of it does not have.
    pub hash: u64,
    /// What is in it.
    pub bytes: &'static [u8],
}

/// Every file that is sent as it is.
pub static FILES: [File; 2] = [
    File {
        operation: "style",
        path: "/style.css",
        about: "The style of the pages.",
        content_type: "text/css; charset=utf-8",
        ..file(include_bytes!("style.css"))
    },
    File {
        operation: "widget",
        path: "/widget.js",
        about: "The script that opens the checkout from a shop's page.",
        content_type: "text/javascript; charset=utf-8",
        ..file(include_bytes!("widget.js"))
    },
];

/// What follows from the bytes of a file.
const fn file(bytes: &'static [u8]) -> File {
    File {
        operation: "",
        path: "",
        about: "",
        content_type: "",
        hash: hash(bytes),
        bytes,
    }
}

/// FNV-1a: it tells versions of our own files apart, and is no defence against anybody.
const fn hash(bytes: &[u8]) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut rest = bytes;
    while let [byte, more @ ..] = rest {
        hash = (hash ^ *byte as u64).wrapping_mul(0x0100_0000_01b3);
        rest = more;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::{FILES, hash};

    #[test]
    fn files_have_the_hash_of_their_bytes() {
        // As FNV-1a's authors list it.
        assert_eq!(hash(b"foobar"), 0x8594_4171_f739_67e8);
        for file in &FILES {
            assert_eq!(file.hash, hash(file.bytes), "{}", file.path);
        }
    }
}
