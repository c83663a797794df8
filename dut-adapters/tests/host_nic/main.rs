//! Hosts as files, and what is made of them.

mod knobs;

use rig_dut::host::{Counted, HostAccess, Nic, Said, gather, nics, settings};
use rig_oracle::model::nic::Counters;
use std::fs;
use std::path::Path;

const MLX5: &str = include_str!("../../testdata/host/mlx5.txt");
const IRDMA: &str = include_str!("../../testdata/host/irdma.txt");
const BNXT: &str = include_str!("../../testdata/host/bnxt.txt");
const I40E: &str = include_str!("../../testdata/host/i40e.txt");
const IONIC: &str = include_str!("../../testdata/host/ionic.txt");
/// The one that was recorded.
const RECORDED: &str = include_str!("../../testdata/host/rxe-6.1.txt");
const RXE: &str = include_str!("../../testdata/host/rxe.txt");

fn only(text: &str) -> Nic {
    let said = Said::told("host.txt", text).expect("what a host says");
    let mut nics = nics(&said, None).expect("counters that are numbers");
    assert_eq!(nics.len(), 1);
    nics.remove(0)
}

/// The value of a term, and what the driver calls it.
fn of(nic: &Nic, term: &str) -> Option<(u64, String)> {
    let found = nic.counted.values.iter().find(|value| value.term == term)?;
    Some((found.value, found.called.clone()))
}

fn why(nic: &Nic, term: &str) -> String {
    let found = nic.counted.missing.iter().find(|missing| missing.term == term);
    found.map_or_else(String::new, |missing| missing.why.clone())
}

/// Writes what a host says as a folder, its links as links.
fn spread(text: &str, folder: &Path) {
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((kind, path)) = line.split_once(' ').filter(|(kind, _)| kind.len() == 1) else {
            continue;
        };
        let mut said = String::new();
        while let Some(more) = lines.next_if(|more| more.starts_with('\t')) {
            said.push_str(&more[1..]);
            said.push('\n');
        }
        let at = folder.join(&path[1..]);
        let above = at.parent().expect("below the folder");
        // `device` is a link as well as the folder that it leads to: here it is the folder.
        if path.starts_with('#') || kind == "L" && path.ends_with("/device") {
            continue;
        }
        fs::create_dir_all(above).expect("a folder");
        match kind {
            "F" => fs::write(&at, said).expect("a file"),
            "L" => std::os::unix::fs::symlink(said.trim(), &at).expect("a link"),
            _ => {}
        }
    }
}

#[test]
fn every_driver_has_its_own_names_for_the_terms_of_the_emulated_nic() {
    let hw = |name: &str| format!("hw_counters/{name}");
    for (text, driver, values) in [
        (
            MLX5,
            "mlx5_ib",
            vec![
                ("np_cnp_sent", 2_210, hw("np_cnp_sent")),
                ("out_of_sequence", 41, hw("out_of_sequence")),
                ("rdma_rx_packets", 771_200, "ethtool rx_vport_rdma_unicast_packets".to_owned()),
                ("rx_prio3_pause", 370, "ethtool rx_prio3_pause".to_owned()),
                ("rx_prio3_pause_duration", 8_120, "ethtool rx_prio3_pause_duration".to_owned()),
            ],
        ),
        (
            IRDMA,
            "irdma",
            vec![
                ("np_cnp_sent", 210, hw("cnpSent")),
                ("np_ecn_marked_roce_packets", 9_001, hw("RxECNMrkd")),
                (
                    "rx_prio3_pause",
                    14,
                    "ethtool rx_priority_3_xoff.nic + rx_priority_3_xon.nic".to_owned(),
                ),
                (
                    "rx_prio0_pause",
                    0,
                    "ethtool rx_priority_0_xoff.nic + rx_priority_0_xon.nic".to_owned(),
                ),
            ],
        ),
        (
            BNXT,
            "bnxt_re",
            vec![
                ("packet_seq_err", 11, hw("seq_err_naks_rcvd")),
                ("out_of_sequence", 19, hw("oos_drop_count")),
                ("tx_prio3_pause", 8, "ethtool tx_pfc_ena_frames_pri3".to_owned()),
                ("rx_prio3_pause_duration", 640, "ethtool pfc_pri3_rx_duration_us".to_owned()),
            ],
        ),
        (
            I40E,
            "irdma",
            vec![
                (
                    "rx_prio3_pause",
                    17,
                    "ethtool port.rx_priority_3_xoff_rx + port.rx_priority_3_xon_rx".to_owned(),
                ),
                (
                    "tx_prio3_pause",
                    7,
                    "ethtool port.tx_priority_3_xoff_tx + port.tx_priority_3_xon_tx".to_owned(),
                ),
                (
                    "rx_prio3_pause_transition",
                    7,
                    "ethtool port.rx_priority_3_xon_2_xoff".to_owned(),
                ),
            ],
        ),
        (
            IONIC,
            "ionic_rdma",
            vec![
                ("np_cnp_sent", 340, hw("tx_rdma_cnp_pkts")),
                ("np_ecn_marked_roce_packets", 9_940, hw("rx_rdma_ecn_pkts")),
                ("rp_cnp_handled", 275, hw("rx_rdma_cnp_pkts")),
                ("packet_seq_err", 14, hw("req_rx_pkt_seq_err")),
                ("out_of_sequence", 23, hw("resp_rx_outouf_seq")),
                ("local_ack_timeout_err", 6, hw("tx_rdma_ack_timeout")),
                ("req_transport_retries_exceeded", 2, hw("req_tx_retry_excd_err")),
                ("rx_prio3_pause_duration", 730, "ethtool rx_pripause_3_1us_count".to_owned()),
                ("tx_prio3_pause_duration", 72, "ethtool tx_pripause_3_1us_count".to_owned()),
            ],
        ),
        (
            RXE,
            "rxe",
            vec![
                ("packet_seq_err", 82, hw("rcvd_seq_err")),
                ("out_of_sequence", 82, hw("out_of_seq_request")),
                ("duplicate_request", 959, hw("duplicate_request")),
            ],
        ),
    ] {
        let nic = only(text);
        assert_eq!(nic.driver, Some(driver));
        // Each term has a value or a reason.
        for (term, _) in Counters::default().all() {
            assert_eq!(of(&nic, term).is_some(), why(&nic, term).is_empty(), "{driver} {term}");
        }
        for (term, value, called) in values {
            assert_eq!(of(&nic, term), Some((value, called)), "{driver}");
        }
    }
}

#[test]
fn what_a_driver_does_not_count_is_missing_with_its_reason_and_never_zero() {
    let nic = only(RXE);
    assert_eq!(of(&nic, "np_cnp_sent"), None);
    assert_eq!(why(&nic, "np_cnp_sent"), "rxe neither answers marks nor obeys CNPs");
    assert_eq!(why(&nic, "rx_prio*_pause"), "`ethtool -S eth0`: ethtool is not installed");
    // A NIC of the first two generations.
    assert_eq!(why(&only(IRDMA), "out_of_sequence"), "there is no Rcvd Out of order packets");
    // The first of them has no congestion control: of an X722 nothing is known but what its network counts.
    let nic = only(I40E);
    assert_eq!(why(&nic, "np_cnp_sent"), "there is no cnpSent");
    assert!(nic.counted.values.iter().all(|value| value.term.contains("_prio")), "{nic:?}");
    // ionic counts the pauses of all priorities together, and of each how long they were.
    let nic = only(IONIC);
    assert_eq!(why(&nic, "rx_prio*_pause"), "no name of it is known of the driver `ionic`");
    assert_eq!(of(&nic, "rx_prio3_pause"), None);
    assert_eq!((nic.bits, nic.gids.len()), (64, 2));
    // mlx5 names priorities only where PFC is on.
    let nic = only(MLX5);
    assert_eq!(of(&nic, "rx_prio0_pause"), None);
    assert_eq!((nic.bits, nic.kept_ms.as_deref()), (32, Some("10")));
    let gids: Vec<&str> = nic.gids.iter().map(|gid| gid.place.as_str()).collect();
    assert_eq!(gids, ["1", "3"]);
    // A file that could not be read is no zero either.
    let denied = MLX5.replace(
        "F /sys/class/infiniband/mlx5_0/ports/1/hw_counters/rp_cnp_handled\n\t1523",
        "E /sys/class/infiniband/mlx5_0/ports/1/hw_counters/rp_cnp_handled\n\tPermission denied",
    );
    let denied = why(&only(&denied), "rp_cnp_handled");
    assert_eq!(denied, "rp_cnp_handled cannot be read: Permission denied");
    let other = MLX5
        .replace("drivers/mlx5_core", "drivers/sfc")
        .replace("/hw_counters/", "/hw_counters/x_");
    let nic = only(&other);
    assert!(
        nic.driver.is_none()
            && why(&nic, "np_cnp_sent").contains("(`sfc`) no names are known: those of mlx5_ib,")
    );
}

#[test]
fn what_is_counted_otherwise_than_a_term_says_is_no_value_of_it() {
    let nic = only(RXE);
    let read = nic.counted.readings("p1");
    assert_eq!(read.values.get("p1 duplicate_request"), Some(&959));
    assert_eq!(read.vendor["p1 duplicate_request"], "hw_counters/duplicate_request");
    let why = |term: &str| read.absent[&format!("p1 {term}")].as_str();
    let naks =
        "hw_counters/rcvd_seq_err counts otherwise: those alone that acknowledge something new";
    assert_eq!(why("packet_seq_err"), naks);
    assert!(why("out_of_sequence").contains("one for each NAK sent"));
    assert_eq!(why("np_cnp_sent"), "rxe neither answers marks nor obeys CNPs");
    // Each term is one of the two, and none is both.
    for (term, _) in Counters::default().all() {
        let name = format!("p1 {term}");
        assert!(read.values.contains_key(&name) != read.absent.contains_key(&name), "{term}");
    }
}

#[test]
fn files_of_hw_counters_alone_say_the_same_as_the_host() {
    let lines: Vec<&str> = RXE.lines().collect();
    let files = lines.windows(2).filter_map(|pair| {
        let (_, name) = pair[0].split_once("/hw_counters/")?;
        Some((name.to_owned(), pair[1].trim().parse().ok()?))
    });
    let mut files: std::collections::BTreeMap<String, u64> = files.collect();
    let (own, host) = (Counted::of_hw_counters("rxe", &files), only(RXE).counted);
    assert_eq!(own.readings("p1").values, host.readings("p1").values);
    // A file that is not there is no zero.
    files.remove("sent_pkts");
    let less = Counted::of_hw_counters("rxe", &files).readings("p1");
    assert_eq!(less.values.get("p1 rdma_tx_packets"), None);
    assert_eq!(less.absent["p1 rdma_tx_packets"], "there is no sent_pkts");
    assert_eq!(Counted::of_hw_counters("sfc", &files), Counted::default());
}

#[test]
fn what_linux_itself_said_in_a_guest_is_read() {
    let nic = only(RECORDED);
    assert_eq!(
        (nic.driver, nic.nets.join(" "), nic.state.as_deref()),
        (Some("rxe"), "eth0".to_owned(), Some("ACTIVE"))
    );
    // Three ticks of 4 ms: the 10 ms that are documented are none of its.
    assert_eq!((nic.kept_ms.as_deref(), nic.firmware), (Some("12"), None));
    let counted: Vec<&str> = nic.counted.values.iter().map(|value| value.term.as_str()).collect();
    let want = [
        "packet_seq_err",
        "out_of_sequence",
        "duplicate_request",
        "rnr_nak_retry_err",
        "req_transport_retries_exceeded",
        "req_rnr_retries_exceeded",
        "rdma_recvs",
        "rdma_tx_packets",
        "rdma_rx_packets",
    ];
    assert_eq!(counted, want);
    let nic = only(&RECORDED.replace("rcvd_seq_err\n\t0", "rcvd_seq_err\n\t82"));
    assert_eq!(of(&nic, "packet_seq_err").map(|(value, _)| value), Some(82));
}

#[test]
fn a_driver_that_is_not_known_by_its_bus_is_known_by_its_files() {
    let nic = only(&MLX5.replace("L /sys/class/infiniband/mlx5_0/device/driver", "L /sys/unused"));
    assert_eq!(nic.driver, Some("mlx5_ib"));
    // rxe over a NIC that is another driver's: what is on the bus is not its.
    let over =
        format!("{RXE}L /sys/class/infiniband/rxe0/device/driver\n\t../../bus/pci/drivers/ice\n");
    assert_eq!(only(&over).driver, Some("rxe"));
}

#[test]
fn a_folder_says_what_its_text_says_and_nothing_outside_it_is_read() {
    let desk = tempfile::tempdir().expect("a folder");
    for (name, text) in [("mlx5", MLX5), ("bnxt", BNXT), ("i40e", I40E), ("ionic", IONIC)] {
        let folder = desk.path().join(name);
        spread(text, &folder);
        let said = Said::at(&folder).expect("a folder");
        assert_eq!(nics(&said, None), Ok(vec![only(text)]), "{name}");
    }
    let folder = desk.path().join("bnxt");
    let secret = desk.path().join("secret");
    fs::write(&secret, "7\n").expect("writable");
    let at = folder.join("sys/class/infiniband/bnxt_re0/ports/1/hw_counters/dup_req");
    fs::remove_file(&at).expect("it was there");
    std::os::unix::fs::symlink(&secret, &at).expect("a link");
    let nics = nics(&Said::at(&folder).expect("a folder"), None).expect("numbers");
    let why = why(&nics[0], "duplicate_request");
    assert!(why.starts_with("dup_req cannot be read: it leads out of the folder"), "{why}");
}

#[test]
fn what_cannot_be_read_is_told_with_its_path_and_what_would_be() {
    let told = |text: &str| Said::told("host.txt", text).map(|said| nics(&said, Some("mlx5_0")));
    const HEAD: &str = "# rigctl dut nic --raw\n";
    const END: &str = "# end of rigctl dut nic --raw\n";
    let whole = |text: &str| format!("{HEAD}{text}{END}");
    let unread = |text: &str| Said::told("host.txt", text).map(drop).expect_err("not whole");
    let odd = unread(&whole("hello\n"));
    assert!(odd.starts_with("host.txt:2: `hello` begins nothing that a host says"), "{odd}");
    assert_eq!(
        unread(""),
        "host.txt: it has no line `# rigctl dut nic --raw`: it says nothing: does a shell answer there?"
    );
    assert!(unread("Last login: today\n").ends_with("it begins with `Last login: today`"));
    // A copy that broke off, in the middle of a number; and two hosts in one file.
    let cut = &MLX5[..MLX5.find("2210\n").expect("a count") + 2];
    assert!(unread(cut).contains(": it is cut short: no line `# end of"), "{}", unread(cut));
    let two = format!("{MLX5}{BNXT}");
    assert!(unread(&two).ends_with(": another host begins here: a file is of one"));
    assert!(
        unread(&format!("{cut}\n{BNXT}"))
            .ends_with("another host begins here, where one has not ended")
    );
    let twice = unread(&whole("F /a\n\t1\nF /a\n\t2\n"));
    assert_eq!(twice, "host.txt:4: /a is told a second time");
    // What a login shell prints around it is none of it, nor is a line of ethtool that nobody asks for.
    let odd_line = "\t     rx_prio3_pause: 370\n";
    let loud = MLX5.replace(odd_line, &format!("\t     rx_discards_phy_rate: N/A\n{odd_line}"));
    assert_ne!(loud, MLX5);
    assert_eq!(only(&format!("Welcome to server7\n{loud}logout\n")), only(MLX5));
    let odd =
        |text: &str| told(text).expect("lines of a host").expect_err("no counters").join("\n");
    let none = odd(&whole("# nothing\n"));
    assert!(
        none.starts_with("host.txt: /sys/class/infiniband: no RDMA device\n   = want: "),
        "{none}"
    );
    let other = odd(RXE);
    assert_eq!(other, "host.txt: /sys/class/infiniband/mlx5_0: there is none\n   = want: rxe0");
    let word = odd(&MLX5.replace("\t2210\n", "\t2210x\n"));
    let at = "host.txt: /sys/class/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent: `2210x` is no count\n   = want: a whole number, 0 to";
    assert!(word.starts_with(at), "{word}");
    let line = odd(&MLX5.replace("rx_prio3_pause: 370", "rx_prio3_pause: many"));
    assert!(
        line.starts_with(
            "host.txt: /ethtool/ens1f0np0/statistics:8: rx_prio3_pause: `many` is no count"
        ),
        "{line}"
    );
    let nowhere = Said::at(Path::new("/nowhere")).map(drop);
    assert!(nowhere.is_err_and(|why| why.starts_with("/nowhere: No such file")
        && why.contains("want: a folder with sys/class")));
}

#[test]
fn a_host_is_asked_by_a_shell_and_says_why_where_it_does_not_answer() {
    let said = gather(&HostAccess::Here).expect("there is a sh");
    assert!(said.starts_with("# rigctl dut nic --raw\n"), "{said}");
    Said::told("here", &said).expect("it reads as what a host says");
    let nowhere = gather(&HostAccess::Ssh("no-such-host.invalid".to_owned()));
    assert!(nowhere.is_err_and(|why| why.starts_with("no-such-host.invalid: ")));
}
