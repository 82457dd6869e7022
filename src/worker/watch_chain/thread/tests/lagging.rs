//! Tests of a node that lacks a block that it should have: one that was read, or one that it names itself.

use super::heads::HeadScene;

#[test]
fn single_node_is_reported_while_it_lacks_a_block() {
    let mut scene = HeadScene::new(1, "main");
    scene.mine_after_minutes(1);
    scene.mine_after_minutes(1);
    scene.set_lost_block(0, Some(3));
    for failures in 0..6 {
        scene.poll();
        let (shown, is_told) = (scene.chain_view(), failures > 2);
        assert_eq!(shown.keeps_up, !is_told, "{failures}");
        let said =
            "its node says that its newest block is 3, and does not have all blocks from 2 on";
        assert_eq!(shown.problem.is_some_and(|text| text.starts_with(said)), is_told);
    }
    scene.set_lost_block(0, None);
    scene.poll();
    let shown = scene.chain_view();
    assert_eq!((shown.height, shown.keeps_up, shown.problem), (Some(3), true, None));
}

#[test]
fn keeps_up_is_false_after_half_an_hour_of_node_lag() {
    let mut scene = HeadScene::new(1, "main");
    for _ in 0..5 {
        scene.mine_after_minutes(1);
    }
    scene.poll();
    let behind = |scene: &mut HeadScene, behind| {
        scene.two.urls[0].lock().unwrap().node.behind = behind;
        scene.poll();
        let shown = scene.chain_view();
        assert_eq!((shown.height, shown.lag_blocks), (Some(6), Some(0)));
        let problem = shown.problem.unwrap();
        let said = "its node does not have block 6, which was read already; its newest is ";
        assert!(problem.starts_with(said), "{problem}");
        (shown.head_height, shown.keeps_up)
    };
    assert_eq!(behind(&mut scene, 3), (Some(3), true));
    assert_eq!(behind(&mut scene, 1), (Some(5), true));
    scene.poll_for_minutes(31);
    assert_eq!(behind(&mut scene, 1), (Some(5), false));
    scene.two.urls[0].lock().unwrap().node.behind = 0;
    scene.poll();
    assert_eq!((scene.chain_view().head_height, scene.chain_view().keeps_up), (Some(6), true));
}

#[test]
fn named_block_that_no_other_url_has_stalls_only_a_single_url() {
    for (urls, is_behind) in [(1, false), (2, false), (2, true)] {
        let mut scene = HeadScene::new(urls, "main");
        scene.two.urls[0].lock().unwrap().names_block_above = true;
        if is_behind {
            scene.two.urls[1].lock().unwrap().node.behind = 1;
        }
        scene.poll_for_minutes(30);
        assert!(scene.chain_view().keeps_up);
        scene.poll_for_minutes(2);
        let is_shared = urls == 2 && !is_behind;
        assert_eq!(scene.chain_view().keeps_up, is_shared, "{urls} {is_behind}");
        // What the other URL said counts only until it is asked again.
        if is_shared {
            scene.two.urls[1].lock().unwrap().node.behind = 1;
            scene.poll_for_minutes(2);
            assert!(!scene.chain_view().keeps_up);
        }
        scene.mine_after_minutes(0);
        scene.poll();
        assert!(scene.chain_view().keeps_up);
    }
}

#[test]
fn stopped_chain_goes_on_at_a_url_that_has_its_block() {
    let mut scene = HeadScene::new(2, "main");
    (0..120).for_each(|_| scene.mine_after_minutes(0));
    scene.poll();
    scene.freeze_node(1);
    scene.memory.lock().unwrap().remove_blocks(110, |_| true);
    (0..115).for_each(|_| scene.mine_after_minutes(0));
    for _ in 0..2 {
        scene.poll();
        assert!(scene.chain_problem().contains("was reorganised deeper than it is watched"));
        assert_eq!(scene.current_url_index(), 0);
    }
    scene.poll();
    scene.poll();
    assert_eq!((scene.current_url_index(), scene.chain_problem()), (1, String::new()));
    assert_eq!(scene.chain_view().height, Some(121));
}
