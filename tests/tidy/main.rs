//! The house rules. Each test below is one rule, and its message says where the fault is and how to repair it.
//!
//! A rule is a function from the files of the project (`tree`) to its findings. Its unit tests show with made-up
//! files that it finds faults. Rules that clippy can check are in `Cargo.toml` and `.ci/clippy.toml`.

#![expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a rule that panics fails as a test"
)]

mod blocks;
mod exports;
mod guides;
mod layers;
mod names;
mod parameters;
mod places;
mod rooms;
mod routes;
mod scan;
mod shape;
mod tree;

use std::sync::LazyLock;
use tree::Tree;

static TREE: LazyLock<Tree> = LazyLock::new(Tree::load);

macro_rules! rules {
    ($($name:ident: $rule:path,)+) => {
        $(#[test]
        fn $name() {
            let found = $rule(&TREE);
            assert!(found.is_empty(), "{} found:\n{}\n", found.len(), found.join("\n"));
        })+
    };
}

rules! {
    modules_use_only_what_their_layer_may: layers::forbidden_uses,
    uses_go_one_way: layers::circular_uses,
    service_is_used_one_way: rooms::upward_uses,
    code_is_in_its_place: places::misplaced_code,
    texts_are_in_their_place: places::misplaced_texts,
    tests_do_not_sleep: places::sleeps_in_tests,
    statements_are_in_store: places::misplaced_statements,
    nothing_is_unfinished: places::unfinished_work_markers,
    domain_types_have_one_path: exports::long_paths_to_exported_types,
    no_tuple_stands_for_two_parameters: parameters::tuple_parameters,
    files_are_short_and_say_what_they_do: shape::misshapen_files,
    every_sql_file_is_used: shape::unused_sql_files,
    the_top_level_is_fixed: shape::top_level_faults,
    crate_docs_list_every_module: shape::modules_missing_in_crate_docs,
    crate_docs_name_what_exists: shape::unknown_names_in_crate_docs,
    dependencies_have_a_reason: shape::unexplained_dependencies,
    links_lead_somewhere: guides::broken_links,
    blocks_of_guides_are_short: blocks::long_blocks,
    every_operation_has_a_test: routes::untested_routes,
}
