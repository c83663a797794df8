use super::*;
use crate::control::{Control as _, Keyring, Order};
use crate::linux_control::{LinuxControl, Shell};
use rig_lab::{Secret, Setting};
use std::sync::{Arc, Mutex};

const KEY: &str = "60161dc10c25d96c7efe8c6f9c1650992427aaea902de4849ba874a7f03d798e";

fn keys() -> Keys {
    let secret = |text| Secret::from_hex(text).expect("hexadecimal digits");
    Keys { saks: [KEY; 4].map(secret), salt: secret("ff87a996cfec565df90a7db8") }
}

fn wants(suite: CipherSuite) -> Macsec {
    Macsec { enable: true, cipher_suite: suite, encoding_sa: 2, ..Macsec::off() }
}

#[test]
fn a_port_is_told_both_channels_with_the_part_of_the_key_that_its_suite_takes() {
    let half = &KEY[..32];
    let said = |suite| {
        let line = begin(&wants(suite), &keys(), (1, 2), "br0").expect("a key");
        line.replace(KEY, "WHOLE").replace(half, "HALF").replace("' '", "'\n'")
    };
    let line = said(CipherSuite::GcmAes128);
    let told: Vec<&str> = line.lines().skip(2).collect();
    assert_eq!(
        told,
        [
            "'macsec add macsec2 tx sa 2 pn 1 on key 01 HALF'",
            "'macsec add macsec2 rx sci 0200000100010001 on'",
            "'macsec add macsec2 rx sci 0200000100010001 sa 2 pn 1 on key 01 HALF' | /usr/bin/ip -batch - && /usr/bin/ip link set macsec2 master br0 up",
        ]
    );
    let made = "'link add link eth2 macsec2 address 02:00:00:02:00:01 type macsec port 1 cipher gcm-aes-128 encrypt on send_sci on validate strict replay off window 0 encodingsa 2'";
    assert!(line.contains(made), "{line}");
    let line = said(CipherSuite::GcmAesXpn256);
    let of = |ssci: u32| {
        format!("sa 2 xpn 1 salt ff87a996cfec565df90a7db8 ssci {ssci} on key 01 WHOLE'")
    };
    assert!(line.contains(&format!("tx {}", of(2))) && line.contains(&of(1)), "{line}");
    let short =
        Keys { saks: [half; 4].map(|text| Secret::from_hex(text).expect("digits")), ..keys() };
    let why =
        begin(&wants(CipherSuite::GcmAes256), &short, (0, 0), "br0").expect_err("it is short");
    assert_eq!(why, "its cipher suite has keys of 32 bytes, and the lab's have 16");
}

/// As iproute2 6.1 wrote it in a guest, less what nobody reads.
const SAID: &str = r#"[{"ifname":"macsec2","protect":true,"validate":"strict","encrypt":true,"send_sci":true,"replay":true,"window":4,"cipher_suite":"GCM-AES-XPN-256",
    "encoding_sa":1,"InPktsNoTag":3,"InPktsBadTag":0,"InPktsNoSCI":0,"OutPktsProtected":0,"OutPktsEncrypted":7,"OutOctetsEncrypted":900,
    "rx_sc":[{"sci":"0x200000100000001","InPktsDelayed":0,"InPktsOK":5,"InPktsLate":2,"InPktsNotValid":1,"InPktsNotUsingSA":0,"sa_list":[{"an":1,"InPktsOK":5}]}]}]"#;

fn said() -> Vec<Value> {
    serde_json::from_str(SAID).expect("a list of JSON")
}

#[test]
fn each_counter_has_its_own_name_beside_it_and_what_is_not_told_has_no_value() {
    let said = said();
    let told = counted(&said, 2).map(|(counter, value, name)| {
        format!("{} {} ({name})", counter.name(), value.map_or("none".to_owned(), Value::to_string))
    });
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            "SAI_MACSEC_FLOW_STAT_IN_PKTS_NO_TAG 3 (macsec2 InPktsNoTag)",
            "SAI_MACSEC_FLOW_STAT_IN_PKTS_BAD_TAG 0 (macsec2 InPktsBadTag)",
            "SAI_MACSEC_FLOW_STAT_IN_PKTS_NO_SCI 0 (macsec2 InPktsNoSCI)",
            "SAI_MACSEC_SA_STAT_OUT_PKTS_ENCRYPTED 7 (macsec2 OutPktsEncrypted)",
            "SAI_MACSEC_SA_STAT_OUT_PKTS_PROTECTED 0 (macsec2 OutPktsProtected)",
            "SAI_MACSEC_SA_STAT_OCTETS_ENCRYPTED 900 (macsec2 OutOctetsEncrypted)",
            "SAI_MACSEC_SA_STAT_OCTETS_PROTECTED none (macsec2 OutOctetsProtected)",
            "SAI_MACSEC_SA_STAT_IN_PKTS_OK 5 (macsec2 InPktsOK)",
            "SAI_MACSEC_SA_STAT_IN_PKTS_LATE 2 (macsec2 InPktsLate)",
            "SAI_MACSEC_SA_STAT_IN_PKTS_DELAYED 0 (macsec2 InPktsDelayed)",
            "SAI_MACSEC_SA_STAT_IN_PKTS_NOT_VALID 1 (macsec2 InPktsNotValid)",
            "SAI_MACSEC_SA_STAT_IN_PKTS_NOT_USING_SA 0 (macsec2 InPktsNotUsingSA)",
        ]
    );
    assert!(counted(&said, 0).all(|(_, value, _)| value.is_none()), "a port that is not there");
}

#[test]
fn what_reads_back_otherwise_than_it_was_made_is_told() {
    let is = Macsec {
        enable_replay_protect: true,
        replay_window: 4,
        encoding_sa: 1,
        ..wants(CipherSuite::GcmAesXpn256)
    };
    assert_eq!(agrees(&is, &said(), 2), Ok(()));
    assert_eq!(agrees(&is, &said(), 0), Err("macsec0 is no more".to_owned()));
    let other = Macsec { replay_window: 5, ..is.clone() };
    let why = "macsec2 was made with window 5, and reads back 4";
    assert_eq!(agrees(&other, &said(), 2), Err(why.to_owned()));
    let other = Macsec { cipher_suite: CipherSuite::GcmAes128, ..is };
    let why =
        "macsec2 was made with cipher_suite \"GCM-AES-128\", and reads back \"GCM-AES-XPN-256\"";
    assert_eq!(agrees(&other, &said(), 2), Err(why.to_owned()));
}

/// A shell that notes what it is told, and says no to what makes a port speak MACsec.
#[derive(Debug)]
struct Refusing(Arc<Mutex<Vec<String>>>);

impl Shell for Refusing {
    fn run(&mut self, line: &str) -> Result<Vec<String>, String> {
        self.0.lock().map_err(|gone| gone.to_string())?.push(line.to_owned());
        if line.contains("type macsec") {
            return Err(format!("cannot run `{line}` in the guest: it is silent"));
        }
        Ok(if line.contains("readlink") { vec!["../br0".to_owned()] } else { Vec::new() })
    }
}

#[test]
fn a_guest_that_cannot_be_given_its_keys_is_told_without_them_and_set_back() {
    let lab = rig_lab::read::lab(None).expect("the bundled lab");
    let setting = Setting { path: "macsec.enable".to_owned(), value: true.into() };
    let declared = lab.duts[0].declared.with(&setting).expect("a setting");
    let ran = Arc::new(Mutex::default());
    let mut control = LinuxControl::of(declared.clone(), Box::new(Refusing(Arc::clone(&ran))));
    control.order(Order::Cable { behind: vec![0, 2] }).expect("it has a bridge");
    let why = control.order(Order::Key { keys: Keyring(keys()) }).expect_err("it is silent");
    let why = why.to_string();
    assert!(why.contains("have eth0 speak MACsec"), "{why}");
    assert!(!why.contains(&KEY[..12]), "{why}");
    control.restore(&declared, &[]).expect("it takes it back");
    let last = ran.lock().unwrap().last().cloned();
    assert_eq!(last, Some(end(0, "br0")), "what was begun is ended");
}
