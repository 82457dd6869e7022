//! A new file, prepared at compile time. Writing it is much faster than running the migrations.
//!
//! The program contains only those blocks of `sql/template.db` that are not all zeros. These are a tenth of the file,
//! because each table and each index of a new file is an empty page.

const BLOCK_BYTES: usize = 64;
/// All blocks of `sql/template.db`. They are read at compile time, and are not part of the program.
const WHOLE: &[[u8; BLOCK_BYTES]] = include_bytes!("../../../sql/template.db").as_chunks().0;
const FILLED_COUNT: usize = count_filled(WHOLE);
/// Application id in the header of every file, as `sql/schema.sql` sets it. It is at offset 68
/// (<https://sqlite.org/fileformat.html>, section 1.3).
pub(in crate::store) const APPLICATION_ID: i32 = application_id(WHOLE);
/// The blocks that are not all zeros, each with its position in `sql/template.db`.
static FILLED_BLOCKS: [(u16, [u8; BLOCK_BYTES]); FILLED_COUNT] = filled_blocks();

pub(in crate::store) fn template() -> Vec<u8> {
    let mut blocks = vec![[0; BLOCK_BYTES]; WHOLE.len()];
    for (place, filled) in &FILLED_BLOCKS {
        if let Some(block) = blocks.get_mut(usize::from(*place)) {
            *block = *filled;
        }
    }
    blocks.into_flattened()
}

const fn application_id(file: &[[u8; BLOCK_BYTES]]) -> i32 {
    match file {
        [_, [_, _, _, _, a, b, c, d, ..], ..] => i32::from_be_bytes([*a, *b, *c, *d]),
        _ => 0,
    }
}

const fn is_filled(block: &[u8; BLOCK_BYTES]) -> bool {
    let (mut words, _) = block.as_chunks::<16>();
    while let [word, rest @ ..] = words {
        if u128::from_ne_bytes(*word) != 0 {
            return true;
        }
        words = rest;
    }
    false
}

const fn count_filled(mut blocks: &[[u8; BLOCK_BYTES]]) -> usize {
    let mut count: usize = 0;
    while let [block, rest @ ..] = blocks {
        if is_filled(block) {
            count = count.saturating_add(1);
        }
        blocks = rest;
    }
    count
}

const fn filled_blocks() -> [(u16, [u8; BLOCK_BYTES]); FILLED_COUNT] {
    let mut filled = [(0, [0; BLOCK_BYTES]); FILLED_COUNT];
    let mut places: &mut [(u16, [u8; BLOCK_BYTES])] = &mut filled;
    let mut blocks = WHOLE;
    let mut place: u16 = 0;
    while let [block, rest @ ..] = blocks {
        if is_filled(block) {
            let [next, others @ ..] = ({ places }) else {
                break;
            };
            *next = (place, *block);
            places = others;
        }
        place = place.saturating_add(1);
        blocks = rest;
    }
    filled
}

#[cfg(test)]
mod tests {
    #[test]
    fn template_equals_template_db() {
        assert!(super::template() == include_bytes!("../../../sql/template.db"));
    }
}
