//! MACsec of Linux's kernel (`drivers/net/macsec.c`) in the guest, and the rig's own protector at the other end of the link: an implementation of IEEE
//! 802.1AE that nobody here wrote. What is protected is an echo request, which the guest's kernel answers by itself.

use rig_frames::MacAddr;
use rig_frames::ethernet::{self, ethertype};
use rig_frames::ip::Dscp;
use rig_frames::ipv4;
use rig_frames::macsec::{Opened, Sa, Sci, Seal, Suite};
use rig_generator::port::{Backend, Config, Mono, Port};
use rig_guests::Guest;
use rig_guests::guest::TAP;
use rig_units::Dur;
use std::net::Ipv4Addr;
use std::time::Duration;

/// Of the rig's end of the link, and of the guest's, as [`Guest`] makes it.
const RIG: MacAddr = MacAddr([2, 0, 0, 0, 0, 0x51]);
const GUEST: MacAddr = MacAddr([0x52, 0x54, 0, 1, 0, 0]);
/// Short secure channel identifiers and salt of the suites with long packet numbers.
const RIG_SSCI: u32 = 2;
const GUEST_SSCI: u32 = 1;
const SALT: [u8; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
/// Frames that a receiver takes out of their order.
const WINDOW: u64 = 4;
/// How long a guest may take for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// The rig's end.
struct Link<'a> {
    guest: &'a mut Guest,
    port: Port,
    /// By which the rig sends, and the guest.
    own: Sa,
    theirs: Sa,
    /// The greatest number that the guest is known to have used.
    last: u64,
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Of one station or the other.
fn key(suite: Suite, own: bool) -> Vec<u8> {
    (0_u8..).map(|byte| byte ^ if own { 0x5a } else { 0xc3 }).take(suite.key_len()).collect()
}

fn say(guest: &mut Guest, line: &str) -> Vec<String> {
    let ran = guest.run(line, PATIENCE).expect("a guest");
    assert_eq!(ran.status, 0, "{line}: {}", ran.lines.join("; "));
    ran.lines
}

impl Link<'_> {
    /// A link by a suite, with numbers of their own from 1 on.
    fn up(guest: &mut Guest, suite: Suite) -> Link<'_> {
        let cipher = suite.to_string().to_lowercase();
        let (rig, own) = (Sci { mac: RIG, port: 1 }, Sci { mac: GUEST, port: 1 });
        let first = |ssci: u32| {
            if suite.is_xpn() {
                format!("xpn 1 salt {} ssci {ssci}", hex(&SALT))
            } else {
                "pn 1".to_owned()
            }
        };
        let [sent, taken] = [GUEST_SSCI, RIG_SSCI].map(first);
        let [sends, takes] = [false, true].map(|of_rig| hex(&key(suite, of_rig)));
        let sci = hex(&rig.to_bytes());
        let ip = "/usr/bin/ip";
        let lines = [
            format!(
                "{ip} link add link eth0 macsec0 type macsec port 1 cipher {cipher} encrypt on send_sci on replay on window {WINDOW}"
            ),
            format!("{ip} macsec add macsec0 tx sa 0 {sent} on key 01 {sends}"),
            format!("{ip} macsec add macsec0 rx sci {sci} on"),
            format!("{ip} macsec add macsec0 rx sci {sci} sa 0 {taken} on key 02 {takes}"),
            "echo 1 >/proc/sys/net/ipv6/conf/macsec0/disable_ipv6".to_owned(),
            format!("{ip} addr add 10.88.0.2/24 dev macsec0"),
            format!("{ip} link set macsec0 up"),
            format!("{ip} neigh replace 10.88.0.1 lladdr {RIG} dev macsec0 nud permanent"),
        ];
        say(guest, &lines.join(" && "));
        let config = Config { backend: Backend::AfPacket, ..Config::new(TAP) };
        let port = guest.namespace().run(|| Port::open(&config).map_err(|error| error.to_string()));
        let port = port.expect("a namespace").expect("a port");
        let sa = |of_rig, sci, ssci| Sa::new(suite, &key(suite, of_rig), sci, ssci, SALT);
        let own_sa = sa(true, rig, RIG_SSCI).expect("a key of its length");
        let theirs = sa(false, own, GUEST_SSCI).expect("a key of its length");
        Link { guest, port, own: own_sa, theirs, last: 0 }
    }

    /// Asks for an echo of this number in a frame that is protected by `sa` and has this packet number.
    fn ask(&mut self, sa: &Sa, (number, pn): (u16, u64), encrypt: bool) {
        let seal = Seal { an: 0, pn, encrypt, send_sci: true, end_station: false };
        let bytes = sa.protect(&seal, &echo(number));
        let mut slot = self.port.tx.alloc().expect("few are under way");
        self.port.tx.bytes(&mut slot)[..bytes.len()].copy_from_slice(&bytes);
        self.port.tx.stage(slot, bytes.len());
        self.port.tx.publish();
        self.port.tx.kick().expect("the link is up");
    }

    /// The next protected frames of the guest, one at least, and which echo each answers.
    fn answered(&mut self) -> Vec<(u16, Opened)> {
        let (begun, mut all) = (Mono::now(), Vec::new());
        while all.is_empty() {
            assert!(Mono::now().since(begun) < Some(Dur::s(20)), "no answer");
            all = self.heard();
            if all.is_empty() {
                self.port.rx.wait(Dur::ms(100)).expect("the link is up");
            }
        }
        all
    }

    /// Protected frames that have come by now.
    fn heard(&mut self) -> Vec<(u16, Opened)> {
        let mut frames = Vec::new();
        self.port.rx.poll(&mut |frame, _| frames.push(frame.to_vec())).expect("the link is up");
        let mut all = Vec::new();
        for frame in frames {
            let (header, _) = ethernet::Repr::parse(&frame).expect("a header");
            if (header.src, header.ethertype) != (GUEST, ethertype::MACSEC) {
                continue;
            }
            let opened = self.theirs.open(&frame, self.last + 1).expect("a protected frame");
            assert!(opened.icv_ok, "{opened:?}");
            self.last = opened.pn;
            all.push((answer(&opened.frame), opened));
        }
        all
    }

    /// Asks by the right association; the answer is to this alone.
    fn echoes(&mut self, number: u16, pn: u64) -> Opened {
        let own = self.own.clone();
        self.ask(&own, (number, pn), true);
        let mut all = self.answered();
        assert_eq!(all.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [number]);
        all.remove(0).1
    }

    /// What the guest counts of the rig's channel, by its name.
    fn count(&mut self, name: &str) -> u64 {
        let lines = say(self.guest, "/usr/bin/ip -s macsec show macsec0");
        let mut stats = lines.iter().zip(lines.iter().skip(1));
        let found = stats.find_map(|(names, values)| {
            let names = names.trim().strip_prefix("stats:")?;
            let at = names.split_whitespace().position(|one| one == name)?;
            values.split_whitespace().nth(at)?.parse().ok()
        });
        found.unwrap_or_else(|| panic!("no {name}: {lines:#?}"))
    }
}

/// An echo request to the guest (RFC 792).
fn echo(number: u16) -> Vec<u8> {
    let mut icmp = vec![8, 0, 0, 0, 0x52, 0x49];
    icmp.extend(number.to_be_bytes());
    icmp.extend([0xa5; 24]);
    let words = icmp.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]));
    let sum: u32 = words.sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = !u16::try_from((sum & 0xffff) + (sum >> 16)).expect("folded twice");
    icmp[2..4].copy_from_slice(&sum.to_be_bytes());
    let dscp = Dscp::new(0).expect("zero has six bits");
    let [src, dst] = [1, 2].map(|host| Ipv4Addr::new(10, 88, 0, host));
    let ip = ipv4::Repr { protocol: 1, ..ipv4::Repr::udp(src, dst, dscp) };
    let header = ethernet::Repr { dst: GUEST, src: RIG, ethertype: ethertype::IPV4 };
    [&header.emit()[..], &ip.emit(icmp.len()), &icmp].concat()
}

/// Which echo a frame in clear answers.
fn answer(frame: &[u8]) -> u16 {
    let (_, packet) = ethernet::Repr::parse(frame).expect("a header");
    let (ip, icmp) = ipv4::Repr::parse(packet).expect("IPv4");
    assert_eq!((ip.protocol, icmp[0]), (1, 0), "an echo reply");
    u16::from_be_bytes([icmp[6], icmp[7]])
}

/// One boot for all: the guest has its link anew for each suite. What CI has no time for is the night's, with `RIG_WHOLE_LINUX=1`.
pub(crate) fn each_suite_and_what_it_refuses(guest: &mut Guest) {
    let at_night = std::env::var_os("RIG_WHOLE_LINUX").is_some_and(|all| all == "1");
    let of_both = [Suite::GcmAes128, Suite::GcmAesXpn256];
    for suite in Suite::ALL.into_iter().filter(|suite| at_night || of_both.contains(suite)) {
        let mut link = Link::up(guest, suite);
        let one = link.echoes(1, 1);
        assert!(one.tag.e && one.tag.c, "{suite}: it encrypts: {one:?}");
        assert_eq!(one.pn, 1, "{suite}");

        // By another key: nothing is answered, and it is counted.
        let sci = Sci { mac: RIG, port: 1 };
        let wrong = Sa::new(suite, &key(suite, false), sci, RIG_SSCI, SALT).expect("a key");
        link.ask(&wrong, (2, 2), true);
        link.echoes(3, 3);
        assert_eq!(link.count("InPktsNotValid"), 1, "{suite}");

        // In clear, with an ICV: integrity alone.
        let own = link.own.clone();
        link.ask(&own, (4, 4), false);
        assert_eq!(link.answered()[0].0, 4, "{suite}");

        // The least number that may come is the next one less the window (10.6.5): that is taken, and what is one below it late.
        link.echoes(11, 11);
        link.ask(&own, (7, 12 - WINDOW - 1), true);
        link.echoes(8, 12 - WINDOW);
        assert_eq!((link.count("InPktsLate"), link.count("InPktsOK")), (1, 5), "{suite}");

        // The end of 32 bits of packet numbers.
        let end = u64::from(u32::MAX);
        let name = if suite.is_xpn() { "xpn" } else { "pn" };
        say(link.guest, &format!("/usr/bin/ip macsec set macsec0 tx sa 0 {name} {end}"));
        link.last = end - 1;
        assert_eq!(link.echoes(12, end).pn, end, "{suite}: the last one is used");
        if suite.is_xpn() {
            // It goes on behind them in both directions, and the tag shows the lower half alone.
            assert_eq!(link.echoes(13, end + 1).pn, end + 1, "{suite}");
            assert_eq!(link.echoes(14, end + 2).tag.pn, 1, "{suite}");
        } else {
            // There is none behind it: the rig sends no more, and the guest answers nothing more.
            let ping = "busybox ping -c 1 -W 1 10.88.0.1";
            let ran = link.guest.run(ping, PATIENCE).expect("a guest");
            assert_ne!(ran.status, 0, "{suite}: {ran:?}");
            assert_eq!(link.heard(), [], "{suite}: a number was used again");
        }
        drop(link);
        say(guest, "/usr/bin/ip link del macsec0");
    }
}
