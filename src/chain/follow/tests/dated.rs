//! Tests the search for the block height at a time.

use super::{NOW, Scene};
use crate::domain::time::{HOUR_MS, MINUTE_MS};
use crate::domain::{ChainStepOutcome, Time};

/// Creates a chain of which 100 blocks were read. Block `n` has the timestamp `NOW + n * every_ms`.
fn create_chain_with_interval(asset: &str, every_ms: i64) -> Scene {
    let mut scene = Scene::new(asset, 0);
    let mut time = NOW;
    for _ in 1..=100 {
        time = time.plus_ms(every_ms);
        scene.memory.lock().unwrap().mine_block(time, |_| true);
    }
    while scene.step_forward().to.block.height < 100 {}
    scene
}

#[track_caller]
fn height_at(scene: &mut Scene, at: Time) -> u32 {
    find_by_time(scene, at).0
}

/// Returns the height that the search finds, and the time before which the node lacks blocks.
#[track_caller]
fn find_by_time(scene: &mut Scene, at: Time) -> (u32, Option<Time>) {
    scene.known.undated = Some(at);
    let step = scene.step();
    scene.apply_step(&step);
    match step.outcome {
        ChainStepOutcome::HeightFound { at: of, height, lacks_before } if of == at => {
            (height, lacks_before)
        }
        other => unreachable!("{other:?}"),
    }
}

#[test]
fn search_by_time_allows_for_the_clock_margin() {
    let mut scene = create_chain_with_interval("LTC", HOUR_MS);
    let at = |hours: i64, more_ms: i64| NOW.plus_ms(hours * HOUR_MS + more_ms);
    for (time, expected) in [
        (at(50, 0), 48),
        (at(50, 1), 49),
        (at(50, -1), 48),
        (at(-1000, 0), 0),
        (at(2, 0), 0),
        (at(102, 0), 100),
        // The time is after the last block that was read.
        (at(1000, 0), 100),
    ] {
        assert_eq!(height_at(&mut scene, time), expected, "{time:?}");
    }
    // Pruned blocks count as earlier than the time searched for.
    scene.node.pruned_below = 60;
    assert_eq!(find_by_time(&mut scene, at(50, 0)), (60, Some(at(62, 0))));
    assert_eq!(find_by_time(&mut scene, at(62, 0)), (60, Some(at(62, 0))));
    assert_eq!(find_by_time(&mut scene, at(63, 0)), (61, None));
    assert_eq!(find_by_time(&mut scene, at(70, 0)), (68, None));
    // Account chains have exact timestamps, so the margin is smaller.
    let mut scene = create_chain_with_interval("ETH", MINUTE_MS);
    assert_eq!(height_at(&mut scene, NOW.plus_ms(50 * MINUTE_MS)), 35);
}

#[test]
fn decreasing_block_times_hide_no_later_block() {
    // The timestamp of each block is up to two hours ahead of the real time.
    let mut scene = Scene::new("LTC", 0);
    for number in 1..=200_i64 {
        let ahead = number * 7919 % 120;
        let time = NOW.plus_ms((number * 10 + ahead) * MINUTE_MS);
        scene.memory.lock().unwrap().mine_block(time, |_| true);
    }
    while scene.step_forward().to.block.height < 200 {}
    for number in 1..=200_u32 {
        let came = NOW.plus_ms(i64::from(number) * 10 * MINUTE_MS);
        let found = height_at(&mut scene, came);
        assert!(found <= number, "{found} {number}");
        assert!(found + 30 >= number, "{found} {number}");
    }
}

#[test]
fn chain_is_followed_if_node_has_no_block_times() {
    let mut scene = create_chain_with_interval("LTC", HOUR_MS);
    scene.known.undated = Some(NOW);
    scene.node.pruned_below = u32::MAX;
    let step = scene.step();
    let missing = Some(NOW.plus_ms(102 * HOUR_MS));
    assert!(
        matches!(step.outcome, ChainStepOutcome::HeightFound { height: 100, lacks_before, .. } if lacks_before == missing)
    );
    scene.known.undated = None;
    scene.mine(1);
    assert_eq!(scene.step_forward().to.block.height, 101);
}
