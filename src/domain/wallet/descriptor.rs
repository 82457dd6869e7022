//! Output script descriptors of one key (BIP 380, 381, 382, 386), with their origin and checksum.
//!
//! Invariant: an accepted descriptor describes the addresses at m/0/index of its key. Its checksum, if any, is
//! correct.

use super::ScriptType;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct DescribedKey<'a> {
    pub(super) script: ScriptType,
    /// Text of the extended key, without its origin and path.
    pub(super) key: &'a str,
}

/// Text before and after the key, by script type.
const FORMS: [(&str, &str, ScriptType); 4] = [
    ("pkh(", ")", ScriptType::Pkh),
    ("wpkh(", ")", ScriptType::Wpkh),
    ("sh(wpkh(", "))", ScriptType::ShWpkh),
    ("tr(", ")", ScriptType::Tr),
];

/// Accepted paths after the key: receiving addresses, alone or with change addresses (BIP 389).
const PATHS: [&str; 2] = ["/0/*", "/<0;1>/*"];

/// Reads a descriptor.
///
/// # Errors
/// The problem, to be appended to the name of its field.
pub(super) fn read(text: &str) -> Result<DescribedKey<'_>, &'static str> {
    let body = match text.split_once('#') {
        None => text,
        Some((body, sum)) if checksum(body).as_deref() == Some(sum) => body,
        Some(_) => return Err("is a descriptor whose checksum does not match: copy it again"),
    };
    let found = FORMS.iter().find_map(|(before, after, script)| {
        let inside = body.strip_prefix(before)?.strip_suffix(after)?;
        Some((inside, *script))
    });
    let (inside, script) =
        found.ok_or("must be a descriptor of one key: pkh(), wpkh(), sh(wpkh()) or tr()")?;
    let inside = strip_key_origin(inside)?;
    let key = PATHS.iter().find_map(|path| inside.strip_suffix(path));
    let key = key.ok_or("must be a descriptor whose key ends with /0/*")?;
    if key.contains(['(', ')', ',', '{', '}', '/', '[', ']']) {
        return Err("must be a descriptor of one extended key, followed by /0/* and nothing else");
    }
    Ok(DescribedKey { script, key })
}

/// Returns the text after the origin of the key, `[fingerprint/path]`.
fn strip_key_origin(text: &str) -> Result<&str, &'static str> {
    let Some(rest) = text.strip_prefix('[') else {
        return Ok(text);
    };
    let wrong = "has an origin that is not of the form [d34db33f/84h/0h/0h]";
    let (origin, key) = rest.split_once(']').ok_or(wrong)?;
    let mut steps = origin.split('/');
    let fingerprint = steps.next().unwrap_or_default();
    let is_fingerprint =
        fingerprint.len() == 8 && fingerprint.bytes().all(|c| c.is_ascii_hexdigit());
    let is_step = |step: &str| {
        let number = step.strip_suffix(['\'', 'h', 'H']).unwrap_or(step);
        let is_digits = number.bytes().all(|digit| digit.is_ascii_digit());
        is_digits && number.parse().is_ok_and(|number: u32| number < super::INDEX_END)
    };
    if is_fingerprint && steps.all(is_step) { Ok(key) } else { Err(wrong) }
}

/// Returns the descriptor checksum of eight characters (BIP 380); `None` if the text has characters outside the
/// descriptor alphabet.
pub(super) fn checksum(body: &str) -> Option<String> {
    const INPUT: &str = "0123456789()[],'/*abcdefgh@:$%{}IJKLMNOPQRSTUVWXYZ&+-.;<=>?!^_|~ijklmnopqrstuvwxyzABCDEFGH`#\"\\ ";
    const OUTPUT: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";
    let (mut sum, mut class, mut count) = (1_u64, 0_u64, 0_u8);
    for c in body.chars() {
        let place = u64::try_from(INPUT.find(c)?).ok()?;
        sum = checksum_step(sum, place & 31);
        // Each character belongs to one of three groups of 32. The group numbers of three characters form one number
        // in base 3.
        class = (class << 1_u32).wrapping_add(class).wrapping_add(place >> 5_u32);
        count = count.wrapping_add(1);
        if count == 3 {
            sum = checksum_step(sum, class);
            (class, count) = (0, 0);
        }
    }
    if count > 0 {
        sum = checksum_step(sum, class);
    }
    for _ in 0..8 {
        sum = checksum_step(sum, 0);
    }
    sum ^= 1;
    let character = |place: u32| {
        let five = usize::try_from((sum >> place) & 31).ok()?;
        OUTPUT.get(five).map(|byte| char::from(*byte))
    };
    (0..8_u32).rev().map(|at| character(at.wrapping_mul(5))).collect()
}

fn checksum_step(sum: u64, value: u64) -> u64 {
    const GENERATOR: [u64; 5] =
        [0xf5_dee5_1989, 0xa9_fdca_3312, 0x1b_ab10_e32d, 0x37_06b1_677a, 0x64_4d62_6ffd];
    let top = sum >> 35_u32;
    let mut next = ((sum & 0x07_ffff_ffff) << 5_u32) ^ value;
    for (at, number) in (0_u32..).zip(GENERATOR) {
        if (top >> at) & 1 == 1 {
            next ^= number;
        }
    }
    next
}
