//! What an interface can do, and a cable between two.

use super::super::facts::{Cable, Interface, LinkFacts, PortFacts, Way};
use super::{Check, Needs, State, Wire, check, missing};
use rig_units::PortSpeed;

/// RoCEv2 with an MTU of 4096: the payload and every header from IP on.
const ROCE_4096: usize = 4_096 + 20 + 8 + 12 + 16 + 4;
/// The longest frame of the catalogue, from behind the Ethernet header on and without FCS.
const CATALOGUE: usize = 9_022 - 18;

/// An interface of the lab, or one that may become one.
pub(super) fn own(interface: &Interface, needs: &Needs) -> Vec<Check> {
    let name = &interface.name;
    let (needed, speed) = match &needs.wire {
        Wire::Own { interfaces, .. } => {
            let found = interfaces.iter().find(|(known, _)| known == name);
            (found.is_some(), found.and_then(|(_, speed)| *speed))
        }
        Wire::None | Wire::Made { .. } => (false, None),
    };
    let link = match &interface.link {
        Ok(link) => link,
        Err(why) => return vec![check("interface", missing(needed), why.clone())],
    };
    let mut all = Vec::new();
    let driver = link.driver.clone().unwrap_or_else(|| "a driver without a name".to_owned());
    all.push(match (link.up, link.carrier) {
        (true, true) => check("link", State::Ok, format!("{driver}, up")),
        (true, false) => check(
            "link",
            missing(needed),
            format!("{driver}, no link: is the cable in, and the other end up?"),
        ),
        (false, _) => check("link", missing(needed), format!("{driver}, down"))
            .mend(format!("sudo ip link set {name} up")),
    });
    all.extend(at_speed(link, speed, needed));
    let longer = |least: usize, what: &str| {
        check("MTU", missing(needed), format!("{}: {what}", link.mtu))
            .mend(format!("sudo ip link set {name} mtu {least}, and the same at the other end"))
    };
    all.push(match link.mtu {
        mtu if mtu < ROCE_4096 => {
            longer(9_216, "RoCE with an MTU of 4096 takes 4156, cases with 9 kB frames 9004")
        }
        mtu if mtu < CATALOGUE => longer(9_216, "cases with 9 kB frames take 9004"),
        mtu => check("MTU", State::Ok, format!("{mtu}: RoCE with an MTU of 4096, and 9 kB frames")),
    });
    all.push(match &interface.port {
        Err(why) => check("port", missing(needed), why.clone()),
        Ok(port) if port.native || port.mode == "AF_PACKET" => {
            check("port", State::Ok, shown(port))
        }
        Ok(port) => {
            check("port", State::Note, format!("{}: behind the driver, slower", shown(port)))
        }
    });
    let packet = interface.port.as_ref().is_ok_and(|port| port.mode == "AF_PACKET");
    if let Some(queues) = link.queues.filter(|&queues| queues > 1 && !packet) {
        let says = format!("received frames are spread over {queues}: a socket for each");
        all.push(check("queues", State::Ok, says));
    }
    all.push(match link.timestamps {
        Some((true, true)) => {
            let clock = match &link.clock {
                Some(Ok(within)) => format!(", by a clock that is read to within {within}"),
                Some(Err(why)) => format!(", by a clock that is not read ({why})"),
                None => String::new(),
            };
            let says = format!("the hardware has them{clock}; the rig stamps in software");
            check("stamps", State::Ok, says)
        }
        _ => check("stamps", State::Note, "software only: times are as good as the lab's bound"),
    });
    all.push(if link.counts_pauses {
        check("pauses", State::Ok, "the driver counts them by priority")
    } else {
        check(
            "pauses",
            State::Note,
            "the driver does not count them by priority: what its MAC swallows is seen by nobody",
        )
    });
    all
}

/// Every figure follows from the speed.
fn at_speed(link: &LinkFacts, declared: Option<PortSpeed>, needed: bool) -> Option<Check> {
    let declared = declared?;
    if link.pair {
        return Some(check(
            "speed",
            State::Note,
            format!("a virtual interface has none; {declared} is declared"),
        ));
    }
    let mbps = link.speed?;
    let found = PortSpeed::from_bps(u64::from(mbps) * 1_000_000);
    let shown = found.map_or_else(|| format!("{mbps} Mb/s"), |speed| speed.to_string());
    Some(if found == Some(declared) {
        check("speed", State::Ok, shown)
    } else {
        check(
            "speed",
            missing(needed),
            format!("{shown}, and {declared} is declared of the port behind it"),
        )
        .mend("correct `declared.ports` of the profile, or give the lab `wire.speed`")
    })
}

/// Whether MAC Control passes.
/// What passes between two ports that are cabled to each other.
pub(super) fn cabled(cable: &Cable) -> Vec<Check> {
    let ways = match &cable.ways {
        Ok(ways) => ways,
        Err(why) => return vec![check("cable", State::Need, why.clone())],
    };
    let [one, other] = &cable.ends;
    let mut all = Vec::new();
    for (from, to, way) in [(one, other, &ways[0]), (other, one, &ways[1])] {
        let Way { ordinary, pfc, pause, counted } = way;
        let name = |kind: &str| format!("{kind} {from} -> {to}");
        if ordinary != "passes" {
            all.push(
                check(&name("frames"), State::Need, ordinary.clone())
                    .mend("a cable between the two"),
            );
            continue;
        }
        all.push(match (pfc.as_str(), counted) {
            ("passes", _) => check(&name("PFC"), State::Ok, "passes"),
            (other, Some((sent, received))) => check(
                &name("PFC"),
                State::Lack,
                format!(
                    "{other}: pauses are known from the drivers' counters only ({sent} sent and {received} received \
                     meanwhile)"
                ),
            ),
            (other, None) => check(
                &name("PFC"),
                State::Need,
                format!("{other}, and no counters by priority: pauses that arrive there are not seen"),
            )
            .mend(format!("PFC and 802.3x off in the MAC: sudo ethtool -A {to} rx off tx off; dcb pfc set dev {to} prio-pfc all:off")),
        });
        all.push(match pause.as_str() {
            "passes" => check(&name("802.3x"), State::Ok, "passes"),
            other => check(&name("802.3x"), State::Note, other),
        });
    }
    all
}

/// A port's mode in words.
pub(super) fn shown(port: &PortFacts) -> String {
    let copy = if port.zero_copy { "zero copy" } else { "copies" };
    let frames = if port.multi_buffer { "frames of any length" } else { "frames of up to 3.8 kB" };
    let mut said = if port.mode == "AF_PACKET" {
        port.mode.to_owned()
    } else {
        format!("{}, {copy}, {frames}", port.mode)
    };
    if !port.refused.is_empty() {
        said += &format!(" ({})", port.refused.join("; "));
    }
    said
}
