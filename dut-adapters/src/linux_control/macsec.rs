//! MACsec at the ports of a bridge, by Linux's own implementation of it (`drivers/net/macsec.c`): what a port is told, what the kernel states of that,
//! and what it counts. A port that speaks it is `macsec{i}` above `eth{i}`, and stands in the bridge in its place.
//!
//! Left out: any change while frames pass, so that each port begins with the packet numbers that it is told.

use rig_capture::DutCounter;
use rig_frames::macsec::Sci;
use rig_lab::{CipherSuite, Keys, Macsec, Policy};
use rig_testcases::wire;
use serde_json::Value;
use zeroize::Zeroizing;

/// The settings that are held, once and before frames pass. Which form PFC has is none of them: a bridge sends none and obeys none.
pub(super) const HELD: [&str; 8] = [
    "macsec.enable",
    "macsec.cipher_suite",
    "macsec.policy",
    "macsec.send_sci",
    "macsec.enable_replay_protect",
    "macsec.replay_window",
    "macsec.encoding_sa",
    "macsec.next_pn",
];

/// The line that has the kernel tell everything, as one document of JSON.
pub(super) const LINE: &str = "/usr/bin/ip -s -j macsec show";

/// Short secure channel identifiers of the extended suites: of the rig's port, and of the device's behind it.
const SSCI: (u32, u32) = (1, 2);

/// Counters of a SecY and of what it sends, as the kernel calls them.
const OF_PORT: [(DutCounter, &str); 7] = [
    (DutCounter::MacsecNoTag, "InPktsNoTag"),
    (DutCounter::MacsecBadTag, "InPktsBadTag"),
    (DutCounter::MacsecNoSci, "InPktsNoSCI"),
    (DutCounter::MacsecEncrypted, "OutPktsEncrypted"),
    (DutCounter::MacsecProtected, "OutPktsProtected"),
    (DutCounter::MacsecEncryptedOctets, "OutOctetsEncrypted"),
    (DutCounter::MacsecProtectedOctets, "OutOctetsProtected"),
];

/// Counters of the channel on which it receives.
const OF_CHANNEL: [(DutCounter, &str); 5] = [
    (DutCounter::MacsecOk, "InPktsOK"),
    (DutCounter::MacsecLate, "InPktsLate"),
    (DutCounter::MacsecDelayed, "InPktsDelayed"),
    (DutCounter::MacsecNotValid, "InPktsNotValid"),
    (DutCounter::MacsecNotUsingSa, "InPktsNotUsingSA"),
];

/// The line that tells of which bridge a port is one.
pub(super) fn bridge_line(port: u16) -> String {
    format!("busybox readlink /sys/class/net/eth{port}/master")
}

/// The bridge's name in what that line wrote; `None`: the port is in none.
pub(super) fn bridge(said: &[String]) -> Option<String> {
    let name = said.first()?.trim().rsplit('/').next()?;
    (!name.is_empty()).then(|| name.to_owned())
}

/// The line that has `port` of a bridge speak MACsec with the rig's port `rig`: it holds a key.
///
/// # Errors
/// The key is shorter than the suite's.
pub(super) fn begin(
    macsec: &Macsec,
    keys: &Keys,
    (rig, port): (u16, u16),
    bridge: &str,
) -> Result<Zeroizing<String>, String> {
    let Macsec { cipher_suite, policy, send_sci, encoding_sa: an, .. } = *macsec;
    let (eth, own) = (format!("eth{port}"), format!("macsec{port}"));
    let sak =
        keys.saks.get(usize::from(an)).ok_or_else(|| format!("no key of association {an}"))?;
    let want = cipher_suite.key_len();
    let key = sak.bytes().get(..want).ok_or_else(|| {
        format!("its cipher suite has keys of {want} bytes, and the lab's have {}", keys.key_len())
    })?;
    let key = Zeroizing::new(hex(key));
    let first = |pn: u64, ssci: u32| match cipher_suite.is_extended() {
        true => format!("xpn {pn} salt {} ssci {ssci}", hex(keys.salt.bytes())),
        false => format!("pn {pn}"),
    };
    let sent = Zeroizing::new(first(macsec.next_pn.unwrap_or(1), SSCI.1));
    let taken = Zeroizing::new(first(1, SSCI.0));
    let station = Sci::END_STATION;
    let theirs = hex(&Sci { mac: wire::rig_mac(rig), port: station }.to_bytes());
    // Its channel follows from its address: the kernel takes no other one where the tag does not name it.
    let mac = wire::dut_mac(rig);
    let cipher = called(cipher_suite).to_lowercase();
    let window = macsec.replay_window;
    let [encrypt, send_sci, replay] =
        [policy == Policy::Security, send_sci, macsec.enable_replay_protect].map(switched);
    Ok(Zeroizing::new(format!(
        "/usr/bin/ip link set {eth} nomaster && printf '%s\\n' \
         'link add link {eth} {own} address {mac} type macsec port {station} cipher {cipher} encrypt {encrypt} send_sci {send_sci} validate strict replay {replay} window {window} encodingsa {an}' \
         'macsec add {own} tx sa {an} {} on key 01 {}' 'macsec add {own} rx sci {theirs} on' \
         'macsec add {own} rx sci {theirs} sa {an} {} on key 01 {}' \
         | /usr/bin/ip -batch - && /usr/bin/ip link set {own} master {bridge} up",
        *sent, *key, *taken, *key
    )))
}

/// The line that has it speak none, with its port in the bridge again, however far it had come.
pub(super) fn end(port: u16, bridge: &str) -> String {
    format!(
        "if [ -e /sys/class/net/macsec{port} ]; then /usr/bin/ip link del macsec{port} || exit 1; fi; \
         /usr/bin/ip link set eth{port} master {bridge}"
    )
}

/// That the kernel states of a port what it was told.
///
/// # Errors
/// It states something else, or nothing.
pub(super) fn agrees(macsec: &Macsec, said: &[Value], port: u16) -> Result<(), String> {
    let own = format!("macsec{port}");
    let is = said.iter().find(|one| one["ifname"] == own.as_str());
    let is = is.ok_or_else(|| format!("{own} is no more"))?;
    let want = [
        ("cipher_suite", Value::from(called(macsec.cipher_suite))),
        ("validate", "strict".into()),
        ("encrypt", (macsec.policy == Policy::Security).into()),
        ("send_sci", macsec.send_sci.into()),
        ("replay", macsec.enable_replay_protect.into()),
        ("encoding_sa", macsec.encoding_sa.into()),
        ("window", macsec.replay_window.into()),
    ];
    // Of a window that protects nothing it is not told.
    let told = want.iter().filter(|(name, _)| *name != "window" || macsec.enable_replay_protect);
    let other = told.clone().find(|(name, want)| is[*name] != *want);
    other.map_or(Ok(()), |(name, want)| {
        Err(format!("{own} was made with {name} {want}, and reads back {}", is[*name]))
    })
}

/// Each counter of a port that the kernel has, with its own name.
pub(super) fn counted(
    said: &[Value],
    port: u16,
) -> impl Iterator<Item = (DutCounter, Option<&Value>, String)> {
    let own = format!("macsec{port}");
    let is = said.iter().find(|one| one["ifname"] == own.as_str());
    let channel = is.and_then(|is| is["rx_sc"].get(0));
    let sent = OF_PORT.into_iter().map(move |row| (row, is));
    let taken = OF_CHANNEL.into_iter().map(move |row| (row, channel));
    sent.chain(taken).map(move |((counter, name), at)| {
        (counter, at.and_then(|at| at.get(name)), format!("{own} {name}"))
    })
}

/// A suite as the kernel calls it.
const fn called(suite: CipherSuite) -> &'static str {
    match suite {
        CipherSuite::GcmAes128 => "GCM-AES-128",
        CipherSuite::GcmAes256 => "GCM-AES-256",
        CipherSuite::GcmAesXpn128 => "GCM-AES-XPN-128",
        CipherSuite::GcmAesXpn256 => "GCM-AES-XPN-256",
    }
}

const fn switched(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    text.extend(digits.filter_map(|digit| char::from_digit(digit.into(), 16)));
    text
}

#[cfg(test)]
mod tests;
