//! `size`, and the page that works an example.

use crate::support::Desk;

const PAGE: &str = include_str!("../../../docs/sizing.md");

#[test]
fn the_examples_of_the_page_are_what_the_command_prints() {
    let desk = Desk::new();
    let blocks: Vec<&str> =
        PAGE.split("```text\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    for block in &blocks {
        let (command, printed) = block.split_once('\n').expect("a command and what it prints");
        let left = desk.rigctl(command.strip_prefix("$ rigctl ").expect("a command"));
        assert_eq!((left.code, left.stderr.as_str()), (0, ""), "{command}");
        assert_eq!(left.stdout, printed, "{command}");
    }
    assert_eq!(blocks.len(), 1);
}

#[test]
fn a_profile_is_held_against_what_comes_out_and_scripts_get_the_numbers() {
    let desk = Desk::new();
    let left = desk.rigctl("size --profile broadcom --cable 40m --format json");
    assert_eq!((left.code, left.stderr.as_str()), (0, ""));
    let told: serde_json::Value = serde_json::from_str(&left.stdout).expect("JSON");
    assert_eq!(told["version"], 1);
    let figures = told["figures"].as_array().expect("a list");
    let xoff = figures.iter().find(|figure| figure["name"] == "buffer.xoff").expect("headroom");
    assert_eq!((xoff["value"].as_u64(), xoff["declared"].as_u64()), (Some(107_120), Some(165_568)));
    assert_eq!(xoff["unit"], "B");
    let alpha = figures.iter().find(|figure| figure["name"] == "buffer.dynamic_th").expect("alpha");
    assert_eq!((alpha["declared"].as_i64(), &alpha["unit"]), (Some(-3), &"exponent of 2".into()));
}

#[test]
fn what_no_switch_can_be_is_refused_all_at_once() {
    let desk = Desk::new();
    let left = desk.rigctl("size --mtu 9B --fan-in 40 --cell 0B");
    assert_eq!((left.code, left.stdout.as_str()), (2, ""));
    for fault in [
        "`--mtu 9B`",
        "`--fan-in 40` on 32 ports",
        "at most all others, 31",
        "`--cell 0B`",
        "3 faults",
    ] {
        assert!(left.stderr.contains(fault), "{fault}: {}", left.stderr);
    }
    let other = desk.rigctl("size --profile gen1");
    assert_eq!(other.code, 2);
    assert!(other.stderr.contains("`--profile gen1` is a NIC"), "{}", other.stderr);
    let unlisted = desk.rigctl("size --speed 5Gbps");
    assert_eq!(unlisted.code, 2);
    assert!(unlisted.stderr.contains("`--response`"), "{}", unlisted.stderr);
    assert_eq!(desk.rigctl("size --speed 5Gbps --response 40q").code, 0);
}
