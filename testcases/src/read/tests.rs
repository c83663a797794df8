use super::*;

#[test]
fn the_bundled_catalogue_has_no_fault() {
    let suites = bundled().unwrap_or_else(|faults| {
        panic!("{}", faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    });
    assert_eq!(suites[0].cases[0].id.to_string(), "pfcwd::detection-latency-broadcom");
}
