//! DCB netlink of a host: asked by the rig itself where it is that host, and by perl or python3 of the host where it is another one, which hand the
//! same messages to their kernel. Neither is a program whose output is read, as that of `dcb` would be: what it says of a rate depends on
//! its version (until 2025 it took the kernel's kb/s for bytes a second), and there is not one on each server. The rig's own program is
//! not brought there: it would have to be one for that server's processor and C library.

use super::dcb_value::DcbKnob;
use super::session::Session;
use crate::dcb::{self, Dcb};

/// What a shell of the host needs for it.
pub(super) const SCRIPT: &str = include_str!("netlink.sh");

/// Makes a part of what an interface is set to this, as far as that comes about: what it is then.
///
/// # Errors
/// The host cannot be asked; the kernel or the driver refuses.
pub(super) fn make(
    host: &mut Session,
    (knob, net): (DcbKnob, &str),
    value: &str,
) -> Result<String, String> {
    let now = get(host, net)?;
    if let Some(part) = knob.part(&now, value)? {
        tell(host, &dcb::set(net, &part))?;
    }
    // With its last entry a driver may change what it trusts: what is new comes first, and may have replaced what was.
    let now = get(host, net)?;
    let surplus = knob.surplus(&now, value)?;
    if surplus.is_empty() {
        return knob.text(&now).ok_or_else(|| knob.lacks());
    }
    tell(host, &dcb::delete(net, &surplus))?;
    is(host, (knob, net))
}

/// What a part is set to.
///
/// # Errors
/// The host cannot be asked, or its driver has none of it.
pub(super) fn is(host: &mut Session, (knob, net): (DcbKnob, &str)) -> Result<String, String> {
    knob.text(&get(host, net)?).ok_or_else(|| knob.lacks())
}

/// What was answered to a host that asked for all that DCB is set to, in hex.
///
/// # Errors
/// It is no such answer, or a refusal.
pub(super) fn heard(answer: &str) -> Result<Dcb, String> {
    dcb::read(&bytes(answer)?).map_err(|fault| fault.to_string())
}

/// The same of an interface of this machine, as it is kept.
///
/// # Errors
/// The kernel cannot be asked.
pub(super) fn own(net: &str) -> Result<String, String> {
    dcb::exchange(&dcb::get(net)).map(|answer| hex(&answer)).map_err(|why| why.to_string())
}

fn get(host: &mut Session, net: &str) -> Result<Dcb, String> {
    dcb::read(&ask(host, &dcb::get(net))?).map_err(|fault| fault.to_string())
}

fn tell(host: &mut Session, request: &[u8]) -> Result<(), String> {
    dcb::done(&ask(host, request)?).map_err(|fault| fault.to_string())
}

fn ask(host: &mut Session, request: &[u8]) -> Result<Vec<u8>, String> {
    if host.is_here() {
        return dcb::exchange(request).map_err(|why| why.to_string());
    }
    bytes(&host.ask(&format!("{SCRIPT}netlink {}", hex(request)))?)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &str) -> Result<Vec<u8>, String> {
    let odd = || {
        let begins: String = hex.trim().chars().take(60).collect();
        format!("no answer of netlink: `{}`", begins.escape_debug())
    };
    let (pairs, []) = hex.trim().as_bytes().as_chunks::<2>() else { return Err(odd()) };
    let byte = |pair: &[u8; 2]| {
        let text = str::from_utf8(pair).ok().filter(|text| !text.starts_with('+'))?;
        u8::from_str_radix(text, 16).ok()
    };
    pairs.iter().map(byte).collect::<Option<Vec<u8>>>().ok_or_else(odd)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::HostAccess;
    use core::time::Duration;

    #[test]
    fn a_shell_asks_for_what_the_rig_asks_for() {
        let mut shell =
            Session::open(&HostAccess::Here, Duration::from_secs(60), "rigctl of a test");
        let shell = shell.as_mut().expect("there is a sh");
        for net in ["a", "lo", "eth", "eth0", "ens1f", "ens1f0np0", "enp193s0f1np1.5"] {
            let script = format!("{SCRIPT}dcb_request {net}");
            let asked = shell.ask(&script).expect("it answers");
            assert_eq!(asked.trim(), hex(&dcb::get(net)), "{net}");
        }
    }

    #[test]
    fn what_hands_messages_on_brings_back_what_the_kernel_answers() {
        let mut shell =
            Session::open(&HostAccess::Here, Duration::from_secs(60), "rigctl of a test");
        let shell = shell.as_mut().expect("there is a sh");
        let own = dcb::read(&dcb::exchange(&dcb::get("lo")).expect("a socket"))
            .map_err(|fault| fault.to_string());
        // perl, and where it is none python.
        for without in ["", "command() { [ \"$2\" != perl ] && [ -e \"/usr/bin/$2\" ]; }\n"] {
            let script = format!("{without}{SCRIPT}netlink {}", hex(&dcb::get("lo")));
            let answer = shell.ask(&script).expect("it answers");
            assert_eq!(heard(&answer), own, "{without}");
        }
        for odd in ["", "4", "zz", "+1", "\u{e4}\u{e4}"] {
            assert!(heard(odd).is_err(), "{odd}");
        }
    }
}
