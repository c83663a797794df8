//! MACsec by two programs beside the rig: Scapy protects and opens with keys of its own making, tshark reads the SecTAG.

use super::{compare, read};
use rig_frames::macsec::{ICV, Sa, Sci, Seal, Suite};
use rig_frames::{MacAddr, mac_control, pfc};
use rig_units::Quanta;

const A: MacAddr = MacAddr([2, 0, 0, 0, 0, 0x0a]);
const SCI: Sci = Sci { mac: A, port: Sci::END_STATION };
const SSCI: u32 = 0x0102_0304;
const SALT: [u8; 12] = [0xf0, 0xe1, 0xd2, 0xc3, 0xb4, 0xa5, 0x96, 0x87, 0x78, 0x69, 0x5a, 0x4b];

/// Reads pairs of a frame in clear and the same one protected, an argument with the association for each. Prints two
/// lines a pair: the first frame as Scapy protects it, the second as Scapy opens it.
const SCAPY: &str = r#"
import sys
import cryptography  # Scapy itself does without, and then has no cipher
from cryptography.exceptions import InvalidTag
from scapy.utils import rdpcap
from scapy.contrib.macsec import MACsec, MACsecSA

frames = rdpcap(sys.argv[1])
for at, words in enumerate(sys.argv[2:]):
    key, sci, ssci, salt, an, pn, encrypt, send_sci, es, xpn = words.split(":")
    sa = MACsecSA(sci=int(sci, 16), an=int(an), pn=int(pn), key=bytes.fromhex(key), icvlen=16, encrypt=int(encrypt),
                  send_sci=int(send_sci), xpn_en=xpn == "1", ssci=int(ssci), salt=bytes.fromhex(salt))
    clear, protected = frames[2 * at], frames[2 * at + 1]
    tagged = sa.encap(clear)
    tagged[MACsec].ES = int(es)
    print(bytes(sa.encrypt(tagged)).hex())
    try:
        print(bytes(sa.decap(sa.decrypt(protected))).hex())
    except InvalidTag:
        print("wrong ICV")
"#;

/// One frame, and how it goes out.
struct Case {
    sa: Sa,
    key: Vec<u8>,
    seal: Seal,
    clear: Vec<u8>,
}

impl Case {
    fn protected(&self) -> Vec<u8> {
        self.sa.protect(&self.seal, &self.clear)
    }

    /// The association in the words of the reader above.
    fn words(&self) -> String {
        let Seal { an, pn, encrypt, send_sci, end_station } = self.seal;
        let [encrypt, send_sci, es, xpn] =
            [encrypt, send_sci, end_station, self.sa.suite().is_xpn()].map(u8::from);
        let (key, sci, salt) = (hex(&self.key), hex(&SCI.to_bytes()), hex(&SALT));
        format!("{key}:{sci}:{SSCI}:{salt}:{an}:{pn}:{encrypt}:{send_sci}:{es}:{xpn}")
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Every suite, confidential and not, all three ways to tell the channel, and lengths on both sides of 48 bytes.
fn cases() -> Vec<Case> {
    let pfc = mac_control::frame_pfc(A, &pfc::Repr::all(0b1000, Quanta::MAX));
    // A type for experiments (IEEE 802.1Q table 9-2): Scapy looks into it no further.
    let long: Vec<u8> = [&pfc[..12], &[0x88, 0xb5]]
        .concat()
        .into_iter()
        .chain((0..=255).cycle().take(1500))
        .collect();
    let mut cases = Vec::new();
    for suite in Suite::ALL {
        let key: Vec<u8> = (0x40..).take(suite.key_len()).collect();
        let sa = Sa::new(suite, &key, SCI, SSCI, SALT).unwrap();
        let mut pn = if suite.is_xpn() { 0x1234_5678_feed_0000 } else { 0xfeed_0000 };
        for encrypt in [false, true] {
            for (send_sci, end_station) in [(true, false), (false, true), (false, false)] {
                for (an, clear) in (0..).zip([&pfc[..], &long, &pfc[..59], &long[..61]]) {
                    pn += 1;
                    let seal = Seal { an, pn, encrypt, send_sci, end_station };
                    let (sa, key, clear) = (sa.clone(), key.clone(), clear.to_vec());
                    cases.push(Case { sa, key, seal, clear });
                }
            }
        }
    }
    cases
}

/// Scapy's two lines for each case, given what is to be opened.
fn scapy(cases: &[Case], protected: Vec<Vec<u8>>) -> Option<Vec<String>> {
    let clear = cases.iter().map(|case| case.clear.clone());
    let pairs: Vec<Vec<u8>> = clear.zip(protected).flat_map(|(a, b)| [a, b]).collect();
    read(&pairs, "python3", |file| {
        let fixed = ["-c", SCAPY, file].map(str::to_owned);
        fixed.into_iter().chain(cases.iter().map(Case::words)).collect()
    })
}

#[test]
fn scapy_protects_to_the_same_bytes_and_opens_to_the_same_frame() {
    let cases = cases();
    let Some(got) = scapy(&cases, cases.iter().map(Case::protected).collect()) else { return };
    let want: Vec<String> =
        cases.iter().flat_map(|case| [hex(&case.protected()), hex(&case.clear)]).collect();
    compare(&want, &got);
}

#[test]
fn what_scapy_protects_is_opened() {
    let cases = cases();
    let Some(got) = scapy(&cases, cases.iter().map(Case::protected).collect()) else { return };
    for (case, line) in cases.iter().zip(got.iter().step_by(2)) {
        let byte = |at: usize| u8::from_str_radix(&line[at..at + 2], 16).unwrap();
        let bytes: Vec<u8> = (0..line.len()).step_by(2).map(byte).collect();
        let opened = case.sa.open(&bytes, case.seal.pn).unwrap();
        assert_eq!((opened.icv_ok, opened.pn), (true, case.seal.pn), "{line}");
        assert_eq!(opened.frame, case.clear, "{line}");
    }
}

#[test]
fn scapy_notices_a_changed_byte() {
    let cases = cases();
    let spoil = |case: &Case| {
        let mut bytes = case.protected();
        bytes[40] ^= 1;
        bytes
    };
    let Some(got) = scapy(&cases, cases.iter().map(spoil).collect()) else { return };
    assert!(got.iter().skip(1).step_by(2).all(|line| line == "wrong ICV"), "{got:?}");
}

const FIELDS: &[&str] = &[
    "macsec.TCI.V",
    "macsec.TCI.ES",
    "macsec.TCI.SC",
    "macsec.TCI.SCB",
    "macsec.TCI.E",
    "macsec.TCI.C",
    "macsec.AN",
    "macsec.SL",
    "macsec.PN",
    "macsec.SCI.system_identifier",
    "macsec.SCI.port_identifier",
];

/// The fields of each frame as tshark shows them.
fn tshark(frames: &[Vec<u8>], fields: &[&str]) -> Option<Vec<String>> {
    read(frames, "tshark", |file| {
        let fields = fields.iter().flat_map(|field| ["-e", field]);
        let output = ["-n", "-r", file, "-T", "fields", "-E", "separator=/s", "-E", "occurrence=f"];
        output.into_iter().chain(fields).map(str::to_owned).collect()
    })
}

#[test]
fn tshark_reads_the_sectag_as_it_was_meant() {
    let cases = cases();
    let frames: Vec<Vec<u8>> = cases.iter().map(Case::protected).collect();
    let Some(got) = tshark(&frames, FIELDS) else { return };
    let want: Vec<String> = cases.iter().map(meant).collect();
    compare(&want, &got);
}

/// The fields above, spelt as Wireshark spells them.
fn meant(case: &Case) -> String {
    let Seal { an, pn, encrypt, send_sci, end_station } = case.seal;
    let [es, sc, e] = [end_station, send_sci, encrypt].map(u8::from);
    let data = case.clear.len() - 12;
    let sl = if data < 48 { data } else { 0 };
    let pn = pn & 0xffff_ffff;
    let sci = if send_sci { format!("{A} 1") } else { " ".to_owned() };
    format!("0x00 {es} {sc} 0 {e} {e} {an:#04x} {sl} {pn} {sci}")
}

#[test]
fn tshark_finds_the_icv_at_the_end_of_a_confidential_frame() {
    // Wireshark 4.0 shows no ICV behind data that it can read.
    let confidential = cases().into_iter().filter(|case| case.seal.encrypt);
    let frames: Vec<Vec<u8>> = confidential.map(|case| case.protected()).collect();
    let Some(got) = tshark(&frames, &["macsec.ICV"]) else { return };
    let want: Vec<String> = frames.iter().map(|frame| hex(&frame[frame.len() - ICV..])).collect();
    compare(&want, &got);
}
