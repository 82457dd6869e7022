//! The house rules, as a test: each test below is one rule, and its message says where and how to mend it.
//!
//! A rule is a function from the project's files (`tree`) to what it found wrong, so each is also tried
//! on made-up files, beside its code, to see that it bites. Nothing here runs the program.
//!
//! `scan` splits Rust into code, string literals and comments; `names` says which paths a file names.
//! The table "who may use whom" is `layers::LAYERS`.

#![expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a rule that trips over itself fails as a test, which is what a test is for"
)]

mod circles;
mod guides;
mod layers;
mod names;
mod places;
mod routes;
mod scan;
mod shape;
mod sql;
mod tree;
mod words;

use tree::Tree;

#[track_caller]
fn hold(rule: fn(&Tree) -> Vec<String>) {
    let found = rule(&Tree::load());
    assert!(
        found.is_empty(),
        "{} found:\n{}\n",
        found.len(),
        found.join("\n")
    );
}

#[test]
fn rooms_use_only_what_their_layer_may() {
    hold(layers::layers);
}

#[test]
fn uses_go_one_way() {
    hold(circles::circles);
}

#[test]
fn only_the_worker_starts_processes() {
    hold(places::processes);
}

#[test]
fn resources_are_rendered_in_one_place() {
    hold(places::resources);
}

#[test]
fn only_the_clock_reads_the_time() {
    hold(places::time);
}

#[test]
fn only_the_settings_read_the_environment() {
    hold(places::environment);
}

#[test]
fn status_codes_are_in_http() {
    hold(places::status_codes);
}

#[test]
fn floats_are_not_money() {
    hold(places::floats);
}

#[test]
fn only_the_door_to_rates_asks_for_the_fixed_ones() {
    hold(places::fixed_rates);
}

#[test]
fn statements_are_in_the_macros_that_test_them() {
    hold(sql::literals);
}

#[test]
fn columns_are_read_by_name() {
    hold(sql::columns);
}

#[test]
fn sql_files_are_used_lower_case_and_one_statement() {
    hold(sql::files);
}

#[test]
fn migrations_are_numbered_without_gaps() {
    hold(sql::migrations);
}

#[test]
fn markup_is_in_web_files() {
    hold(words::markup);
}

#[test]
fn banned_words_are_absent() {
    hold(words::banned);
}

#[test]
fn one_thing_has_one_name() {
    hold(words::one_name);
}

#[test]
fn ci_names_no_host() {
    hold(words::hosts);
}

#[test]
fn names_say_what_is_in_them() {
    hold(words::file_names);
}

#[test]
fn files_and_functions_are_short() {
    hold(shape::lengths);
}

#[test]
fn scripts_are_short_and_so_are_their_lines() {
    hold(shape::scripts);
}

#[test]
fn files_open_with_what_they_are_for() {
    hold(shape::openings);
}

#[test]
fn tests_stand_in_folders() {
    hold(shape::test_folders);
}

#[test]
fn the_top_level_is_fixed() {
    hold(shape::top_level);
}

#[test]
fn the_map_names_every_room() {
    hold(shape::map);
}

#[test]
fn a_guide_says_why_each_dependency_is_there() {
    hold(shape::dependencies);
}

#[test]
fn the_readme_is_for_a_newcomer() {
    hold(guides::readme);
}

#[test]
fn every_link_leads_somewhere() {
    hold(guides::links);
}

#[test]
fn every_route_has_a_test() {
    hold(routes::tested);
}
