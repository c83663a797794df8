//! What a host says that its NICs are set to, and what they count on demand.

use super::*;

/// The same host with what `more` says, too.
fn with(text: &str, more: &str) -> Said {
    const END: &str = "# end of rigctl dut nic --raw";
    let text = text.replace(END, &format!("{more}{END}"));
    Said::told("host.txt", &text).expect("what a host says")
}

/// Its files and links, one a line.
fn lines(all: &[(&str, &str)]) -> String {
    all.iter().map(|(path, text)| format!("{path}\n\t{text}\n")).collect()
}

/// What a setting of a port is.
fn is(said: &Said, nic: &Nic, name: &str) -> Option<String> {
    settings(said, nic).into_iter().find(|set| set.name == name).map(|set| set.value)
}

#[test]
fn each_driver_has_the_knobs_of_its_own_files() {
    let told = |text: &str| {
        let said = Said::told("host.txt", text).expect("what a host says");
        let nic = nics(&said, None).expect("numbers").remove(0);
        let all = settings(&said, &nic).into_iter();
        all.map(|set| format!("{}={} {}", set.name, set.value, set.place)).collect::<Vec<_>>()
    };
    let irdma = "/sys/kernel/config/irdma/rocep24s0f0";
    let want = [("dcqcn", 1), ("dctcp", 0), ("timely", 0)]
        .map(|(name, value)| format!("roce_{name}_enable={value} {irdma}/roce_{name}_enable"));
    assert_eq!(told(IRDMA), want);
    let bnxt = told(BNXT);
    let place = "/sys/kernel/debug/bnxt_re/0000:5e:00.0/cc_config";
    // One of them nobody can read.
    assert_eq!(bnxt.len(), 13, "{bnxt:?}");
    assert!(bnxt.iter().all(|one| one.contains(place) && !one.contains("tx_queue")), "{bnxt:?}");
    for one in ["enable_cc=1", "tos_dscp=26", "alt_vlan_dscp=48", "inactivity_cp=10000"] {
        let name = one.split('=').next().unwrap_or_default();
        assert!(bnxt.contains(&format!("{one} {place}/{name}")), "{one}: {bnxt:?}");
    }
    // Where nobody has made the folder there is no setting, and of another function's files none is this one's.
    assert_eq!(
        told(&IRDMA.replace("/config/irdma/rocep24s0f0/", "/config/irdma/rocep24s0f1/")),
        [""; 0]
    );
    assert_eq!(told(&BNXT.replace("bnxt_re/0000:5e:00.0/", "bnxt_re/0000:5e:00.1/")), [""; 0]);
}

const SECOND: [(&str, &str); 4] = [
    ("L /sys/class/net/ens1f1np1/device", "../../../0000:3b:00.1"),
    ("L /sys/class/net/ens1f1np1/device/driver", "../../../../bus/pci/drivers/mlx5_core"),
    ("F /sys/class/net/ens1f1np1/ecn/roce_rp/rpg_ai_rate", "7"),
    ("F /ethtool/ens1f1np1/statistics", "     rx_prio3_pause: 2"),
];

#[test]
fn each_port_of_a_device_has_its_own_settings() {
    let port = "/sys/class/infiniband/mlx5_0/ports/2";
    let more = [
        (format!("F {port}/state"), "4: ACTIVE"),
        (format!("F {port}/gid_attrs/ndevs/0"), "ens1f1np1"),
        ("F /sys/class/infiniband/mlx5_0/tc/2/traffic_class".to_owned(), "Global tclass=8"),
        ("F /sys/kernel/debug/mlx5/0000:3b:00.0/cc_params/rp_gd".to_owned(), "4"),
        ("F /sys/kernel/debug/mlx5/0000:3b:00.1/cc_params/rp_gd".to_owned(), "9"),
    ];
    let more: Vec<(&str, &str)> = more.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let said = with(MLX5, &(lines(&more) + &lines(&SECOND)));
    let nics = nics(&said, None).expect("counters that are numbers");
    let [first, second] = nics.as_slice() else { panic!("two ports: {nics:?}") };
    assert_eq!(
        [first, second].map(|nic| is(&said, nic, "rpg_ai_rate")),
        [Some("5".to_owned()), Some("7".to_owned())]
    );
    assert_eq!(
        [first, second].map(|nic| is(&said, nic, "traffic_class")),
        [Some("106".to_owned()), Some("8".to_owned())]
    );
    // By the address of its interface, which is another function.
    assert_eq!(is(&said, second, "rpg_gd"), Some("9".to_owned()));
    assert_eq!(is(&said, second, "pfc"), None, "nobody has asked `dcb` for it");
}

#[test]
fn a_vlan_is_read_at_what_it_lies_over_and_a_bond_at_none_of_its_interfaces() {
    let own = MLX5.replace("ndevs/0\n\tens1f0np0", "ndevs/0\n\tens1f0np0.100");
    let vlan = own.replace("ndevs/1\n\tens1f0np0", "ndevs/1\n\tens1f0np0.100");
    let over = [("L /sys/class/net/ens1f0np0.100/lower_ens1f0np0", "../ens1f0np0")];
    // All GIDs of the VLAN; some of it; and a text that does not say what it lies over.
    let all = vlan.replace("\n\tens1f0np0\n", "\n\tens1f0np0.100\n");
    for (text, more) in [(&all, lines(&over)), (&vlan, lines(&over)), (&vlan, String::new())] {
        let said = with(text, &more);
        let nic = nics(&said, None).expect("numbers").remove(0);
        assert_eq!(nic.nets, ["ens1f0np0"]);
        assert_eq!(nic.gids[0].net.as_deref(), Some("ens1f0np0.100"));
        assert_eq!(of(&nic, "rx_prio3_pause").map(|(value, _)| value), Some(370));
        assert_eq!(is(&said, &nic, "pfc"), Some("3".to_owned()));
    }
    let bond = MLX5.replace("\n\tens1f0np0\n", "\n\tbond0\n");
    let members = [
        ("L /sys/class/net/bond0/lower_ens1f0np0", "../ens1f0np0"),
        ("L /sys/class/net/bond0/lower_ens1f1np1", "../ens1f1np1"),
    ];
    let said = with(&bond, &(lines(&members) + &lines(&SECOND)));
    let nic = nics(&said, None).expect("numbers").remove(0);
    assert_eq!(
        (nic.nets.join(" "), nic.net_driver.clone()),
        ("ens1f0np0 ens1f1np1".to_owned(), None)
    );
    assert_eq!(
        why(&nic, "rx_prio*_pause"),
        "it lies over ens1f0np0 and ens1f1np1, each of which counts alone"
    );
    assert_eq!(of(&nic, "np_cnp_sent").map(|(value, _)| value), Some(2_210));
    let set: Vec<&str> = settings(&said, &nic).iter().map(|set| set.name).collect();
    assert_eq!(set, ["traffic_class"], "what is of the device itself");
}

#[test]
fn a_term_without_a_file_has_the_value_of_an_optional_counter_that_is_switched_on() {
    let file = "F /sys/class/infiniband/mlx5_0/ports/1/hw_counters/";
    let without = MLX5
        .replace(&format!("{file}np_cnp_sent\n\t2210\n"), "")
        .replace(&format!("{file}np_ecn_marked_roce_packets\n\t88012\n"), "");
    let optional = |name: &str| format!("rdma statistic {name}");
    let (nic, terms) = (only(&without), ["np_cnp_sent", "np_ecn_marked_roce_packets"]);
    let want =
        [Some((2_210, optional("cc_tx_cnp_pkts"))), Some((88_020, optional("cc_rx_ce_pkts")))];
    assert_eq!(terms.map(|term| of(&nic, term)), want);
    assert!(!nic.counted.missing.iter().any(|missing| terms.contains(&missing.term.as_str())));
    assert_eq!(nic.counted.values[0].term, "np_cnp_sent", "in the order of the terms");
    let read = nic.counted.readings("p1");
    assert_eq!(read.values.get("p1 np_cnp_sent"), Some(&2_210));
    // A file goes before it; and one that is off is no zero.
    let file = of(&only(MLX5), "np_ecn_marked_roce_packets");
    assert_eq!(file, Some((88_012, "hw_counters/np_ecn_marked_roce_packets".to_owned())));
    let off = only(&without.replace(",\"cc_tx_cnp_pkts\":2210", ""));
    assert_eq!(of(&off, "np_cnp_sent"), None);
    let says = why(&off, "np_cnp_sent");
    assert!(says.ends_with("; cc_tx_cnp_pkts of `rdma statistic` is switched off"), "{says}");
}

#[test]
fn what_is_counted_on_demand_is_told_as_it_is_switched_and_of_queue_pairs_by_the_rigs_terms() {
    let nic = only(MLX5);
    let optional: Vec<_> =
        nic.statistic.optional.iter().map(|one| (one.name.as_str(), one.value)).collect();
    // One that is off is no zero.
    assert_eq!(
        optional,
        [
            ("cc_rx_ce_pkts", Some(88_020)),
            ("cc_rx_cnp_pkts", None),
            ("cc_tx_cnp_pkts", Some(2_210))
        ]
    );
    let [of] = nic.statistic.queue_pairs.as_slice() else { panic!("{:?}", nic.statistic) };
    assert_eq!((of.counter, of.qpns.as_slice()), (4, [178, 179].as_slice()));
    assert_eq!(of.process.as_deref(), Some("ib_write_bw, process 812"));
    let counts: Vec<_> = of.values.iter().map(|one| (one.term.as_str(), one.value)).collect();
    let want = [
        ("duplicate_request", 0),
        ("out_of_sequence", 3),
        ("packet_seq_err", 17),
        ("rx_write_requests", 0),
    ];
    assert_eq!(counts, want);
    assert_eq!(nic.statistic.missing, []);
    // What another driver calls it; and what another device's queue pairs have counted is none of its.
    let bnxt = lines(&[(
        "F /rdma/qp",
        "[{\"ifname\":\"bnxt_re0\",\"port\":1,\"cntn\":1,\"comm\":\"[ib_core]\",\"oos_drop_count\":2,\"lqpn\":[]},\
         {\"ifname\":\"bnxt_re0\",\"port\":2,\"cntn\":2,\"oos_drop_count\":9,\"lqpn\":[7]}]",
    )]);
    let nic = nics(&with(BNXT, &bnxt), None).expect("numbers").remove(0);
    let [of] = nic.statistic.queue_pairs.as_slice() else { panic!("{:?}", nic.statistic) };
    let [one] = of.values.as_slice() else { panic!("{of:?}") };
    assert_eq!(
        (one.term.as_str(), one.value, one.called.as_str(), of.process.as_deref()),
        ("out_of_sequence", 2, "oos_drop_count", Some("[ib_core]"))
    );
    // Who did not ask has nothing, and why; who asked a host without any has nothing.
    let whys = |nic: &Nic| -> Vec<String> {
        let missing = nic.statistic.missing.iter();
        missing.map(|missing| format!("{}: {}", missing.term, missing.why)).collect()
    };
    assert_eq!(whys(&nic), ["optional counters: `rdma statistic` was not asked"]);
    let refused = with(
        RXE,
        &lines(&[
            ("F /rdma/supported", "[{\"ifname\":\"rxe0\",\"port\":1}, 3]"),
            ("F /rdma/statistic", ""),
            ("E /rdma/qp", "Failed to open NETLINK_RDMA socket"),
        ]),
    );
    let nic = nics(&refused, None).expect("numbers").remove(0);
    assert_eq!(nic.statistic.optional, []);
    assert_eq!(
        whys(&nic),
        ["counters of queue pairs: `rdma statistic`: Failed to open NETLINK_RDMA socket"]
    );
    let odd = |from: &str, to: &str| {
        let said = Said::told("host.txt", &MLX5.replacen(from, to, 1)).expect("lines of a host");
        nics(&said, None).map(|nics| whys(&nics[0]))
    };
    assert_eq!(
        odd("\"cc_tx_cnp_pkts\":2210", "\"cc_tx_cnp_pkts\":\"many\""),
        Err(vec![format!(
            "host.txt: /rdma/statistic: cc_tx_cnp_pkts: `\"many\"` is no count\n   = want: a whole number, 0 to {}",
            u64::MAX
        )])
    );
    assert!(odd("\"cntn\":4", "\"cntn\":-4").is_err());
    let text = odd("[{\"ifindex\":1", "link mlx5_0/1 cntn 4 {\"ifindex\":1").expect("told");
    assert!(text[0].ends_with("is not what `rdma -j` prints"), "{text:?}");
}

#[test]
fn pfc_as_dcb_has_printed_it_is_read_where_no_kernel_was_asked() {
    let silent = MLX5.replace("F /dcb/ens1f0np0/ieee", "F /dcb/ens1f0np0/unasked");
    let printed = r#"{"pfc_cap":8,"prio_pfc":[false,false,false,true,true,false,false,false]}"#;
    let said = with(&silent, &lines(&[("F /dcb/ens1f0np0/pfc", printed)]));
    let nic = nics(&said, None).expect("numbers").remove(0);
    assert_eq!(is(&said, &nic, "pfc"), Some("3,4".to_owned()));
    assert_eq!((is(&said, &nic, "ets"), nic.dcbx), (None, None));
    // The kernel's own answer comes first, and says more.
    let said = with(MLX5, &lines(&[("F /dcb/ens1f0np0/pfc", printed)]));
    let nic = nics(&said, None).expect("numbers").remove(0);
    assert_eq!(is(&said, &nic, "pfc"), Some("3".to_owned()));
    assert_eq!(nic.dcbx.as_deref(), Some("host cee ieee"));
    // A refusal is none of a setting, whatever else was brought along.
    let refused = "240000000200000000000000000000009fffffff000000000000000000000000000000";
    let text = silent.replace(
        "/dcb/ens1f0np0/unasked\n\t",
        &format!("/dcb/ens1f0np0/ieee\n\t{refused}00\nF /unasked\n\t"),
    );
    let said = with(&text, "");
    let nic = nics(&said, None).expect("numbers").remove(0);
    assert_eq!((is(&said, &nic, "pfc"), is(&said, &nic, "ets")), (None, None));
}
