//! Ranges as files say them: what is meant, how it is printed, and what is refused.

use super::*;
use proptest::prelude::*;

fn read(json: &str) -> Result<Within, String> {
    serde_json::from_str(json).map_err(|e| e.to_string())
}

#[test]
fn each_form_says_a_least_and_a_most_and_is_printed_as_it_was_written() {
    for (json, least, most, text) in [
        (r#""2us""#, 2_000_000, 2_000_000, "2us"),
        (r#""1us..3us""#, 1_000_000, 3_000_000, "1us..3us"),
        (r#""2us..2us""#, 2_000_000, 2_000_000, "2us"),
        (r#"{"max": "2.02us"}"#, 0, 2_020_000, "{max: 2.02us}"),
        (r#"{"min": "1us", "max": "3us"}"#, 1_000_000, 3_000_000, "{min: 1us, max: 3us}"),
        (r#"{"typ": "2us", "tol": "10%"}"#, 1_800_000, 2_200_000, "{typ: 2us, tol: 10%}"),
        (r#"{"typ": "3ps", "tol": "10%"}"#, 2, 4, "{typ: 3ps, tol: 10%}"),
        (r#"{"typ": "0ms", "tol": "100%"}"#, 0, 0, "{typ: 0ms, tol: 100%}"),
    ] {
        let range = read(json).unwrap_or_else(|why| panic!("{json}: {why}"));
        assert_eq!((range.least(), range.most()), (Dur(least), Dur(most)), "{json}");
        assert_eq!(range.to_string(), text);
        let written = serde_json::to_string(&range).expect("a value");
        assert_eq!(read(&written).map(|range| range.to_string()).as_deref(), Ok(text));
    }
}

#[test]
fn what_says_no_range_is_refused_with_what_would() {
    let all = [
        r#""""#,
        r#""us""#,
        r#""..3us""#,
        r#""1us..""#,
        r#""1us..2us..3us""#,
        r#""3us..1us""#,
        r#""-1us..1us""#,
        r#""1us..100000s""#,
        "3",
        "{}",
        r#"{"min": "1us"}"#,
        r#"{"min": "3us", "max": "1us"}"#,
        r#"{"max": 3}"#,
        r#"{"max": "3"}"#,
        r#"{"typ": "2us"}"#,
        r#"{"tol": "10%"}"#,
        r#"{"typ": "2us", "tol": "-10%"}"#,
        r#"{"typ": "2us", "tol": "101%"}"#,
        r#"{"typ": "2us", "tol": 10}"#,
        r#"{"typ": "86400s", "tol": "1%"}"#,
        r#"{"typ": "2us", "tol": "1%", "max": "3us"}"#,
        r#"{"maximum": "3us"}"#,
    ];
    let said = all.map(|json| format!("{json}\n    {}\n", read(json).expect_err(json)));
    insta::assert_snapshot!(said.concat());
}

#[test]
fn two_ranges_that_mean_the_same_are_equal_in_whatever_words() {
    let [max, span] = [r#"{"max": "2us"}"#, r#""0us..2us""#].map(|json| read(json).expect(json));
    assert_eq!(max, span);
    assert_ne!(max, Within::from(Dur::us(2)));
}

#[test]
fn a_sum_means_every_sum_and_nothing_more_changes_no_words() {
    let max = read(r#"{"max": "2us"}"#).expect("a range");
    let later = max + Within::from(Dur::us(1));
    assert_eq!(later.to_string(), "1us..3us");
    assert_eq!((max + Within::ZERO).to_string(), "{max: 2us}");
    assert_eq!((Within::ZERO + max).to_string(), "{max: 2us}");
}

#[test]
fn at_another_speed_it_is_said_in_the_same_words() {
    for (json, half) in [
        (r#""1us..3us""#, "500ns..1.5us"),
        (r#"{"max": "3us"}"#, "{max: 1.5us}"),
        (r#"{"typ": "2us", "tol": "10%"}"#, "{typ: 1us, tol: 10%}"),
    ] {
        assert_eq!(read(json).expect(json).scaled(1, 2).to_string(), half);
    }
}

#[test]
fn several_one_after_the_other_take_as_many_times_the_least_and_the_most() {
    for (json, n, all) in [
        (r#""1us..3us""#, 3, "3us..9us"),
        (r#"{"max": "3us"}"#, 2, "0ms..6us"),
        (r#"{"max": "3us"}"#, 1, "{max: 3us}"),
        (r#""40000s..80000s""#, 2, "80000s..86400s"),
    ] {
        assert_eq!(read(json).expect(json).times(n).to_string(), all);
    }
}

#[test]
fn a_range_covers_what_lies_in_it_whole() {
    let of = |text: &str| text.parse::<Within>().expect("a range");
    let range = of("1us..3us");
    assert!(range.covers(range) && range.covers(of("3us")) && range.covers(of("1us")));
    assert!(!range.covers(of("1us..3000001ps")) && !range.covers(of("999999ps..3us")));
}

proptest! {
    #[test]
    fn a_draw_lies_within_and_reaches_both_ends(least in 0..9_u64, width in 0..9_u64, word: u64) {
        let range = Within { least: Dur(least), most: Dur(least + width), said: Said::Span };
        prop_assert!(range.includes(range.drawn(word)));
        prop_assert_eq!(range.drawn(0), range.least());
        prop_assert_eq!(range.drawn(u64::MAX), range.most());
    }
}
