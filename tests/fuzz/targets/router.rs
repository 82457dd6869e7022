//! Fuzzes the router: if a method and a path have a route, the path matches this route segment by segment.

#![no_main]

use coffer::http::fuzzing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|asked: (&str, &str)| {
    let (method, path) = asked;
    let Some((route, values)) = fuzzing::route(method, path) else {
        return;
    };
    let (pattern, segments) = (route.path.split('/'), path.split('/'));
    assert_eq!(pattern.clone().count(), segments.clone().count(), "{path:?} is not {}", route.path);
    let mut values = values.iter();
    for (pattern, segment) in pattern.zip(segments) {
        if pattern.starts_with('{') {
            assert!(values.next().is_some_and(|value| !value.is_empty()), "{path:?}");
        } else {
            assert_eq!(pattern, segment, "{path:?}");
        }
    }
    assert!(values.next().is_none());
    fuzzing::query(path);
});
