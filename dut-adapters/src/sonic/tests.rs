//! Files of CONFIG_DB, made by hand: what is read, what is said of it, and what is kept to itself.

mod live;
mod unlike;

use super::reader::tables;
use super::{PortSet, Tables, alike, flaws, read, sized};
use crate::fixture::RedisServer;
use rig_lab::read::profile_from;
use rig_lab::yaml::Source;
use rig_lab::{Declared, Fault, Profile, Setting};
use rig_units::{Length, PortSpeed};
use std::path::{Path, PathBuf};

fn golden(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/sonic")).join(name)
}

/// A redis of the system's, where there is one.
fn redis_in(folder: &Path) -> Option<RedisServer> {
    RedisServer::start(folder).map_err(|why| eprintln!("{why}")).ok()
}

fn of_file(name: &str) -> (Tables, Vec<PortSet>) {
    let tables = read(&golden(name), None).expect("it reads");
    let sets = alike(&tables, None).expect("every value can be used");
    (tables, sets)
}

fn of_text(text: &str) -> Result<Tables, Vec<Fault>> {
    tables("made.json", text, None)
}

fn said(faults: &[Fault]) -> String {
    faults.iter().map(|fault| format!("{fault}\n")).collect()
}

fn profile(set: &PortSet) -> Profile {
    let text = set.written("made");
    profile_from(&Source::new("made", &text))
        .unwrap_or_else(|faults| panic!("{text}{}", said(&faults)))
}

#[test]
fn the_profile_of_a_leaf_is_to_the_field_the_bundled_one_that_it_was_made_of() {
    let (_, sets) = of_file("leaf.json");
    assert_eq!(sets.len(), 1);
    assert_eq!((sets[0].ports.len(), sets[0].cable), (8, Some(Length(4_000))));
    let text = "name: made\nabout: \"as it is bundled\"\nextends: broadcom-by-standard\ndeclared: {qos: {dscp_to_color: never}}\n";
    let bundled = profile_from(&Source::new("bundled", text)).expect("it reads");
    assert_eq!(profile(&sets[0]).declared, bundled.declared);
}

#[test]
fn two_rows_that_say_different_things_of_one_port_are_refused_and_two_that_agree_are_not() {
    let text = std::fs::read_to_string(golden("leaf.json")).expect("a file");
    let leaf: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    for (classes, refused) in [("3,4", false), ("3", true)] {
        let mut leaf = leaf.clone();
        leaf["PORT_QOS_MAP"]["Ethernet0,Ethernet4"] = serde_json::json!({"pfc_enable": classes});
        let tables = of_text(&leaf.to_string()).expect("it reads");
        let sets = alike(&tables, None);
        assert_eq!(sets.is_err(), refused, "{classes}");
        let Err(faults) = sets else { continue };
        let why =
            "is `3,4`, and PORT_QOS_MAP|Ethernet0,Ethernet4|pfc_enable says otherwise of Ethernet0";
        let why_not = "is `3`, and PORT_QOS_MAP|Ethernet0|pfc_enable says otherwise of Ethernet0";
        let told = said(&faults);
        assert!(told.contains(why) || told.contains(why_not), "{told}");
    }
}

#[test]
fn each_line_of_a_profile_says_where_it_is_from_and_what_no_database_says_is_marked() {
    let (_, sets) = of_file("leaf.json");
    let text = sets[0].written("made");
    for line in [
        "    xoff: 165568B                            # BUFFER_PROFILE|pg_lossless_100000_40m_profile|xoff",
        "    pool: 10875072B                          # BUFFER_POOL|ingress_lossless_pool|size",
        "    detection_time: 200ms                    # PFC_WD|Ethernet0|detection_time",
        "    # cell: 208B                             # no database: `broadcom-by-standard`",
        "    # response: {max: 2017.28ns}             # no database: `broadcom-by-standard`",
        "  mtu: 9122B                                 # PORT|Ethernet0|mtu and 22 B of header, tag and FCS",
    ] {
        assert!(text.lines().any(|own| own == line), "{line}\n{text}");
    }
    let below = text.lines().skip_while(|line| *line != "declared:").skip(1);
    for line in below {
        assert!(
            line.trim_start().starts_with("# ") || line.ends_with(':') || line.contains(" # "),
            "{line}"
        );
    }
}

#[test]
fn ports_are_sets_of_those_that_are_configured_alike_and_one_that_is_down_is_in_none() {
    let (_, sets) = of_file("mistuned.json");
    let ports: Vec<String> = sets.iter().map(|set| set.ports.join(" ")).collect();
    assert_eq!(ports, ["Ethernet0 Ethernet4", "Ethernet8"]);
    // What only one of them says beyond a profile is said for all.
    let text = sets[0].written("made");
    assert!(text.contains("# Not in it: PORT|Ethernet4|macsec turns MACsec on"), "{text}");
}

#[test]
fn of_groups_in_rows_of_their_own_nobody_says_what_is_refused_where_an_operator_says_their_headroom()
 {
    let text = std::fs::read_to_string(golden("leaf.json")).expect("a file");
    let (_, sets) = of_file("leaf.json");
    let declared = profile(&sets[0]).declared;
    let own = Setting { path: "dynamic_buffer.own_xoff".to_owned(), value: "102400B".into() };
    let with = declared.with(&own).expect("a size");
    let together = of_text(&text).expect("it reads");
    let of = |tables: &Tables, of: &Declared| {
        sized::apart(tables, "Ethernet0", of.switch().expect("a switch"))
    };
    assert_eq!(of(&together, &with), None);
    let mut leaf: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let groups = leaf["BUFFER_PG"].as_object_mut().expect("a table");
    let row = groups.remove("Ethernet0|3-4").expect("a row");
    groups.insert("Ethernet0|3".to_owned(), row.clone());
    groups.insert("Ethernet0|4".to_owned(), row);
    let apart = of_text(&leaf.to_string()).expect("it reads");
    let why = of(&apart, &with).expect("one may be refused");
    assert!(why.contains("rows of their own (BUFFER_PG Ethernet0|3 and Ethernet0|4)"), "{why}");
    assert_eq!(of(&apart, &declared), None, "nobody says anything");
}

#[test]
fn an_empty_text_for_macsec_is_none() {
    let text = std::fs::read_to_string(golden("leaf.json")).expect("a file");
    for (said, is_told) in [("line", true), ("", false)] {
        let mut leaf: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        leaf["PORT"]["Ethernet0"]["macsec"] = serde_json::json!(said);
        let tables = of_text(&leaf.to_string()).expect("it reads");
        let sets = alike(&tables, None).expect("every value can be used");
        let written = sets[0].written("made");
        assert_eq!(written.contains("turns MACsec on"), is_told, "`{said}`: {written}");
    }
}

#[test]
fn old_references_and_lists_of_ports_in_keys_lead_to_the_same_rows() {
    let (tables, sets) = of_file("mistuned.json");
    assert_eq!(tables.bound("BUFFER_PG", "Ethernet4", 4), Some("Ethernet0,Ethernet4|3-4"));
    assert_eq!(tables.bound("BUFFER_PG", "Ethernet8", 4), None);
    let declared = profile(&sets[0]).declared;
    let switch = declared.switch().expect("a switch");
    // 19456 B are less than xoff: all of them the group's own, and its headroom is in the pool of all.
    let buffer = &switch.buffer;
    let sizes = [buffer.xoff, buffer.reserved, buffer.xon_offset].map(|bytes| bytes.0);
    assert_eq!(
        (sizes, buffer.headroom_pool.map(|bytes| bytes.0)),
        ([61_440, 19_456, 9_216], Some(2_097_152))
    );
}

#[test]
fn a_row_of_several_ports_is_the_row_of_each() {
    let text = std::fs::read_to_string(golden("leaf.json")).expect("a file");
    let own = of_text(&text).expect("tables");
    let fields = r#""pfc_enable": "3,4", "pfcwd_sw_enable": "3,4""#;
    let together = format!(r#""Ethernet0,Ethernet4": {{{fields}}},"#);
    let listed =
        text.replacen(r#""PORT_QOS_MAP": {"#, &format!(r#""PORT_QOS_MAP": {{ {together}"#), 1);
    let only = without_rows(&listed, "PORT_QOS_MAP", &["Ethernet0", "Ethernet4"]);
    let tables = of_text(&only).expect("tables");
    for port in ["Ethernet0", "Ethernet4"] {
        let said = tables.of_port("PORT_QOS_MAP", port, "pfc_enable").expect("a field");
        assert_eq!(said.path(), "PORT_QOS_MAP|Ethernet0,Ethernet4|pfc_enable");
        assert!(own.of_port("PORT_QOS_MAP", port, "pfc_enable").is_some());
    }
    assert!(tables.of_port("PORT_QOS_MAP", "Ethernet40", "pfc_enable").is_none());
}

/// The file without these rows of a table.
fn without_rows(text: &str, table: &str, rows: &[&str]) -> String {
    let mut all: serde_json::Value = serde_json::from_str(text).expect("JSON");
    let of = all[table].as_object_mut().expect("a table");
    rows.iter().for_each(|row| drop(of.remove(*row)));
    all.to_string()
}

#[test]
fn before_it_had_a_field_of_its_own_the_watchdog_guarded_what_has_pfc() {
    let text = std::fs::read_to_string(golden("leaf.json")).expect("a file");
    let guarded = |version: Option<&str>, own: bool| {
        let mut all: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let maps = all["PORT_QOS_MAP"].as_object_mut().expect("a table");
        for (_, map) in maps.iter_mut().skip(usize::from(own)) {
            map.as_object_mut().expect("a row").remove("pfcwd_sw_enable");
        }
        let version = version.map(|version| serde_json::json!({"DATABASE": {"VERSION": version}}));
        all["VERSIONS"] = version.unwrap_or_else(|| serde_json::json!({}));
        let tables = of_text(&all.to_string()).expect("tables");
        let sets = alike(&tables, None).expect("sets");
        let largest = sets.first().expect("a set");
        profile(largest).declared.switch().expect("a switch").qos.pfcwd_sw_enable.clone()
    };
    assert_eq!(guarded(None, false), [3, 4]);
    assert_eq!(guarded(Some("version_3_0_4"), false), [3, 4]);
    assert_eq!(guarded(Some("version_1_0_1"), true), [3, 4]);
    // An image that has the field, and a row without it: no watchdog runs there.
    assert_eq!(guarded(None, true), [0_u8; 0]);
    assert_eq!(guarded(Some("version_3_0_5"), false), [0_u8; 0]);
    assert_eq!(guarded(Some("version_202305_01"), false), [0_u8; 0]);
}

#[test]
fn a_port_slower_than_the_bundled_profile_s_is_given_the_response_of_its_own_speed() {
    let (_, sets) = of_file("mistuned.json");
    let set = sets.iter().find(|set| set.ports == ["Ethernet8"]).expect("a set");
    let declared = profile(set).declared;
    let switch = declared.switch().expect("a switch");
    assert_eq!(Some(switch.ports[0].speed), PortSpeed::from_bps(25_000_000_000));
    // 80 quanta of 512 bits at 25 Gb/s.
    assert_eq!(switch.pfc.response.most().0, 80 * 512 * 40);
}

#[test]
fn a_lossless_group_without_headroom_is_named_with_its_row() {
    let (tables, _) = of_file("mistuned.json");
    let all: Vec<(String, String)> =
        flaws(&tables).into_iter().map(|flaw| (flaw.place.path, flaw.found)).collect();
    assert_eq!(
        all,
        [
            ("BUFFER_PG|Ethernet8|3|profile", "class 3 of Ethernet8 has PFC and its group `ingress_lossy_profile`, which has no xoff"),
            ("PORT_QOS_MAP|Ethernet8|pfc_enable", "class 4 of Ethernet8 has PFC and no row of BUFFER_PG"),
        ]
        .map(|(place, found)| (place.to_owned(), found.to_owned()))
    );
    assert!(flaws(&of_file("leaf.json").0).is_empty());
}

#[test]
fn a_group_without_a_profile_is_the_dynamic_model_s_to_size() {
    let with = |model: &str| {
        let text = format!(
            r#"{{"DEVICE_METADATA": {{"localhost": {{"buffer_model": "{model}"}}}}, "PORT": {{"Ethernet0": {{"speed": "100000"}}}},
            "PORT_QOS_MAP": {{"global": {{"pfc_enable": "3"}}}}, "BUFFER_PG": {{"Ethernet0|3-4": {{"profile": "NULL"}}}}}}"#
        );
        flaws(&of_text(&text).expect("it reads")).len()
    };
    assert_eq!([with("dynamic"), with("traditional")], [0, 1]);
}

#[test]
fn keys_of_virtual_output_queues_are_those_of_this_chip_alone() {
    let text = r#"{"DEVICE_METADATA": {"localhost": {"hostname": "lc-1", "asic_name": "Asic0"}},
        "QUEUE": {"lc-2|asic0|Ethernet0|3": {"scheduler": "a"}, "lc-1|asic1|Ethernet0|3": {"scheduler": "b"},
                  "lc-1|asic0|Ethernet0|3-4": {"scheduler": "c"}}}"#;
    let tables = of_text(text).expect("it reads");
    assert_eq!(tables.bound("QUEUE", "Ethernet0", 3), Some("lc-1|asic0|Ethernet0|3-4"));
    assert_eq!(tables.bound("QUEUE", "Ethernet4", 3), None);
}

#[test]
fn a_port_keeps_to_the_rate_of_the_scheduler_that_it_names_and_a_rate_of_a_queue_is_told() {
    let text = std::fs::read_to_string(golden("leaf.json")).expect("a file");
    let mut leaf: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let with = |leaf: &serde_json::Value| {
        let tables = of_text(&leaf.to_string()).expect("it reads");
        let sets = alike(&tables, None).expect("all of it can be used");
        assert_eq!(sets.len(), 1);
        let scheduler = profile(&sets[0]).declared.switch().expect("a switch").scheduler.clone();
        (
            scheduler.pir.map(|rate| rate.bps),
            scheduler.pbs.map(|burst| burst.0),
            sets[0].written("made"),
        )
    };
    let (rate, _, told) = with(&leaf);
    assert!(rate.is_none() && told.contains("pir: never"), "{told}");
    assert!(told.contains("# PORT_QOS_MAP|Ethernet0 has no scheduler"), "{told}");
    leaf["SCHEDULER"]["port"] =
        serde_json::json!({"meter_type": "bytes", "pir": "5000000000", "pbs": "8192"});
    let map = leaf["PORT_QOS_MAP"].as_object_mut().expect("rows");
    map.values_mut().for_each(|row| row["scheduler"] = "port".into());
    let (rate, burst, _) = with(&leaf);
    assert_eq!((rate, burst), (Some(40_000_000_000), Some(8_192)));
    leaf["SCHEDULER"]["scheduler.1"]["cir"] = "1000".into();
    let (.., told) = with(&leaf);
    assert!(
        told.contains("# Not in it: SCHEDULER|scheduler.1|cir is `1000`: a rate of a queue"),
        "{told}"
    );
    // What orchagent would keep eight bits of.
    leaf["SCHEDULER"]["scheduler.0"]["weight"] = "270".into();
    let tables = of_text(&leaf.to_string()).expect("it reads");
    let told = said(&alike(&tables, None).expect_err("another weight is in effect"));
    assert!(told.contains("weight is `270`") && told.contains("from 0 to 255"), "{told}");
}

#[test]
fn of_several_chips_in_one_file_one_is_chosen_by_name() {
    let text = r#"{"localhost": {"PORT": {}}, "asic0": {"PORT": {"Ethernet0": {"speed": "100000"}}},
        "asic1": {"PORT|Ethernet4": {"speed": "400000"}}}"#;
    let faults = of_text(text).expect_err("which?");
    assert_eq!(
        said(&faults),
        "made.json: it has several namespaces\n   = want: --namespace with one of asic0, asic1, localhost\n"
    );
    let speed = |space: &str, port: &str| {
        let tables = tables("made.json", text, Some(space)).expect("it reads");
        tables.field("PORT", port, "speed").map(|said| said.text.to_owned())
    };
    assert_eq!(speed("asic0", "Ethernet0").as_deref(), Some("100000"));
    // The whole key in one word, as a dump of redis has it.
    assert_eq!(speed("asic1", "Ethernet4").as_deref(), Some("400000"));
    assert!(tables("made.json", text, Some("asic7")).is_err());
}

#[test]
fn values_that_cannot_be_used_are_told_together_each_with_its_place() {
    let text = r#"{
    "DEVICE_METADATA": {"localhost": {"hwsku": "ACS-MSN2700", "platform": "x86_64-mlnx_msn2700-r0"}},
    "PORT": {"Ethernet0": {"speed": "fast"}, "Ethernet4": {"speed": "100000", "mtu": "9100"}},
    "CABLE_LENGTH": {"AZURE": {"Ethernet4": "forty"}},
    "PORT_QOS_MAP": {"Ethernet4": {"pfc_enable": "3,9"}},
    "PFC_WD": {"Ethernet4": {"detection_time": "200", "action": "reboot"}},
    "QUEUE": {"Ethernet4|3": {"wred_profile": "NOWHERE"}}
}"#;
    let faults = alike(&of_text(text).expect("it reads"), None).expect_err("six values");
    let heads: Vec<String> = faults
        .iter()
        .map(|fault| {
            format!(
                "{}:{} {} {}",
                fault.place.line, fault.place.column, fault.place.path, fault.found
            )
        })
        .collect();
    assert_eq!(
        heads,
        [
            "3:37 PORT|Ethernet0|speed speed is `fast`",
            "4:45 CABLE_LENGTH|AZURE|Ethernet4 Ethernet4 is `forty`",
            "5:50 PORT_QOS_MAP|Ethernet4|pfc_enable pfc_enable is `3,9`",
            "6:65 PFC_WD|Ethernet4|action action is `reboot`",
            "7:47 QUEUE|Ethernet4|3|wred_profile wred_profile is `NOWHERE`",
        ]
    );
    assert_eq!(
        faults[0].to_string(),
        "made.json:3:37: speed is `fast`\n  |\n3 |     \"PORT\": {\"Ethernet0\": {\"speed\": \"fast\"}, \"Ethernet4\": {\"speed\": \"100000\", \"mtu\": \"9100\"}},\n  |                                     ^^^^^^\n  = in: PORT|Ethernet0|speed\n  = want: the speed of a port in Mb/s, such as 100000"
    );
}

#[test]
fn what_is_no_json_is_told_where_it_breaks_off() {
    let of = |text: &str| {
        let faults = of_text(text).expect_err("no JSON");
        let Fault { place, found, want } = &faults[0];
        format!("{}:{} {found}; want {want}", place.line, place.column)
    };
    assert_eq!(
        of("{\"PORT\": {\n  \"Ethernet0\": {\"speed\": \"1\",}\n}}"),
        "2:30 a comma with nothing behind it; want one more, or no comma"
    );
    assert_eq!(of("{\"PORT\": {\"Ethernet0\" {}}}"), "1:23 `{` stands here; want `:`");
    assert_eq!(of("{\"PORT\": "), "1:10 the file ends here; want `{`");
    assert_eq!(
        of("{\"PORT\": {\"Ethernet0\": {\"mtu\": {}}}}"),
        "1:32 an object where a value belongs; want a text"
    );
    assert_eq!(
        of("{\"PORT\": {\"a\": {}, \"a\": {}}}"),
        "1:20 `a` stands twice; want each key once"
    );
    assert_eq!(of("{} {}"), "1:4 something stands behind the last brace; want nothing");
    let deep = format!("{{\"NOTE\": {}1{}}}", "[".repeat(90), "]".repeat(90));
    assert!(of(&deep).contains("the nesting is too deep"), "{}", of(&deep));
    assert_eq!(said(&of_text("{\"VLAN\": {}}").map(drop).err().unwrap_or_default()), "");
}

#[test]
fn an_asic_that_nobody_knows_is_asked_for() {
    let text = r#"{"DEVICE_METADATA": {"localhost": {"hwsku": "Own-1"}}, "PORT": {"Ethernet0": {"speed": "100000"}}}"#;
    let tables = of_text(text).expect("it reads");
    let faults = alike(&tables, None).expect_err("no ASIC");
    assert!(
        said(&faults).contains("made.json:1:45: no ASIC is known to be in `Own-1`"),
        "{}",
        said(&faults)
    );
    assert_eq!(alike(&tables, Some("mellanox")).expect("as asked").len(), 1);
    assert!(alike(&tables, Some("melanox")).is_err());
    assert!(alike(&tables, Some("gen1")).is_err());
}

/// What must be nowhere: parts of it, for a cut is no excuse.
fn shows_a_secret(text: &str) -> bool {
    ["s3cret", "207B757A", "07554155", "61626364"].iter().any(|secret| text.contains(secret))
}

#[test]
fn secrets_are_neither_kept_nor_shown() {
    let file = std::fs::read_to_string(golden("mistuned.json")).expect("a file");
    assert!(shows_a_secret(&file));
    let (tables, sets) = of_file("mistuned.json");
    assert!(!shows_a_secret(&format!("{tables:?}{sets:?}{:?}", flaws(&tables))));
    assert!(sets.iter().all(|set| !shows_a_secret(&set.written("made"))));
    // Cut anywhere, and with any one character of its structure gone or doubled: what is told of it shows none either.
    let at: Vec<usize> =
        file.char_indices().filter(|(_, c)| "{}[]:,\"\n".contains(*c)).map(|(at, _)| at).collect();
    for at in at {
        let (head, tail) = file.split_at(at);
        let broken = [
            head.to_owned(),
            format!("{head}{}", &tail[1..]),
            format!("{head}{}{tail}", &tail[..1]),
        ];
        for text in broken {
            let told = match of_text(&text) {
                Ok(tables) => format!("{tables:?}"),
                Err(faults) => format!("{}{faults:?}", said(&faults)),
            };
            assert!(!shows_a_secret(&told), "{at}: {told}");
        }
    }
}
