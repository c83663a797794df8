//! Values and their places, and the limits: what is meant to blow up does not.

use super::*;
use insta::assert_snapshot;
use proptest::prelude::*;

fn said(text: &str) -> String {
    match Source::new("x.yaml", text).parse() {
        Ok(node) => panic!("{:?}", node.json()),
        Err(faults) => faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n"),
    }
}

fn json(text: &str) -> String {
    match Source::new("x.yaml", text).parse() {
        Ok(node) => node.json().to_string(),
        Err(faults) => panic!("{}", faults[0]),
    }
}

#[test]
fn values_are_what_they_look_like() {
    assert_eq!(
        json("{a: 1, b: 0.50, c: yes, d: true, e: ~, f: 1s, g: '1', h: }"),
        r#"{"a":1,"b":"0.50","c":"yes","d":true,"e":null,"f":"1s","g":"1","h":null}"#
    );
}

#[test]
fn a_number_keeps_the_digits_it_was_written_with() {
    assert_eq!(
        json("[0.1, 18446744073709551616, 1e3, .5]"),
        r#"["0.1","18446744073709551616","1e3",".5"]"#
    );
}

#[test]
fn merge_keys_lay_a_mapping_under_another() {
    assert_eq!(
        json("a: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}"),
        r#"{"a":{"b":1,"c":2},"d":{"b":1,"c":3}}"#
    );
}

#[test]
fn a_value_knows_where_it_was_written_even_through_an_alias() {
    let source = Source::new("x.yaml", "a: &x 10\nb:\n  - *x\n");
    let root = source.parse().unwrap_or_else(|faults| panic!("{}", faults[0]));
    let Value::Map(fields) = &root.value else { panic!("{root:?}") };
    let Value::List(all) = &fields[1].1.value else { panic!("{root:?}") };
    let place = source.place(all[0].mark, "b[0]");
    assert_eq!((place.line, place.column, place.width), (1, 7, 2));
}

/// Ten aliases of ten aliases, eleven deep: a hundred thousand million values.
fn alias_bomb() -> String {
    let line = |i: u8| {
        let (name, before) = (char::from(b'a' + i), char::from(b'a' + i - 1));
        format!("{name}: &{name} [{}]\n", vec![format!("*{before}"); 10].join(", "))
    };
    let first = format!("a: &a [{}]\n", ["x"; 10].join(", "));
    first + &(1..12).map(line).collect::<String>()
}

#[test]
fn an_alias_bomb_does_not_go_off() {
    assert_snapshot!(said(&alias_bomb()));
}

#[test]
fn a_hundred_thousand_levels_are_refused_at_once() {
    assert_snapshot!(said(&"[".repeat(100_000)));
    assert_snapshot!(said(&"{a: ".repeat(100_000)));
    let stairs: String = (0..1_000).map(|i| format!("{}a:\n", " ".repeat(i))).collect();
    assert_snapshot!(said(&stairs));
}

#[test]
fn what_is_no_single_document_is_refused() {
    let texts = ["", " \n\n", "a: 1\n---\nb: 2\n", "a: *b\n", "\u{0}\u{1}\u{2}", "a: 1\n\tb: 2\n"];
    assert_snapshot!(texts.map(said).join("\n"));
}

#[test]
fn a_long_line_is_shown_around_the_place() {
    let text = format!("a: [{}, b: 1, {}", "x, ".repeat(200), "y, ".repeat(200));
    assert_snapshot!(said(&(text + "}")));
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC*") {
        let _ = Source::new("x.yaml", &text).parse();
    }

    #[test]
    fn no_yaml_like_text_makes_the_reader_panic(text in "([-a-c:&*\\[\\]{}, \n\t'\"|>#!%]|<<){0,60}") {
        if let Err(faults) = Source::new("x.yaml", &text).parse() {
            prop_assert!(!faults.is_empty());
            prop_assert!(!faults[0].to_string().is_empty());
        }
    }
}

#[test]
fn an_alias_inside_of_what_it_names_is_called_that() {
    let said = said("a: &x\n  b: 1\n  c: *x\n");
    assert!(said.contains("an alias stands inside of the very thing that it names"), "{said}");
    assert!(said.starts_with("x.yaml:") && !said.contains("weak"), "{said}");
}
