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

#[test]
fn what_follows_from_a_pool_that_no_memory_leaves_is_not_sized_and_the_first_lines_say_so() {
    let desk = Desk::new();
    let left = desk.rigctl("size --memory 1MB");
    assert_eq!((left.code, left.stderr.as_str()), (0, ""));
    let second = left.stdout.lines().nth(1).expect("a second line");
    assert_eq!(second, "none is enough: buffer.pool; what follows from it is not sized");
    let row = "queue of all senders at XOFF           -\n";
    assert!(left.stdout.contains(row), "{}", left.stdout);
    let why = "it follows from buffer.pool, of which none is enough";
    assert_eq!(left.stdout.matches(why).count(), 3, "{}", left.stdout);
    let json = desk.rigctl("size --memory 1MB --format json").stdout;
    let told: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let figures = told["figures"].as_array().expect("a list").iter();
    let unsized_ones: Vec<_> = figures.filter(|one| one["value"].is_null()).collect();
    assert_eq!(unsized_ones.len(), 4, "{json}");
}

#[test]
fn a_number_below_zero_is_refused_with_what_the_flag_takes() {
    let desk = Desk::new();
    for (command, want) in [
        ("size --speed -1", "`-1` is not a port speed: want a number and Mbps or Gbps"),
        ("size --memory -5MB", "`-5MB` is not a size: want a number and B, KB"),
        ("size --ports -3", "invalid value '-3' for '--ports <N>'"),
        ("run --seed -1", "invalid value '-1' for '--seed <N>'"),
    ] {
        let left = desk.rigctl(command);
        assert_eq!(left.code, 2, "{command}");
        assert!(left.stderr.contains(want), "{command}: {}", left.stderr);
    }
}
